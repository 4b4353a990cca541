"""Sub-worlds and groups of one launch, and everything that a backend can and cannot run."""

from collections.abc import Callable, Iterator
from functools import partial

import pytest

from commbench.collectives import COLLECTIVES
from commbench.sweepfile.records import LeftOut, Measurement

from .launching import Result, side_by_side, sweep

pytestmark = pytest.mark.gloo

QUICK = ("-n", "6", "-w", "1", "--buffers", "same")
DTYPES = ("float32", "float16", "bfloat16", "int8", "uint8", "float8_e4m3")
OPERATORS = ("sum", "avg", "min", "max", "prod")


def measure_worlds(file: str) -> Result:
    """1, 2 and 3 of 3 ranks."""
    return sweep(3, "all_reduce,all_gather", "--world-sizes", "1,2,3", "-b", "4K", "-e", "4K", *QUICK, "-J", file)


def measure_groups(file: str) -> Result:
    """Two groups of two, in which rank 1 is slow (see faulty.py)."""
    options = ["all_reduce", "-o", "min", "--groups", "2", "-b", "4K", "-e", "64K", "-f", "16", *QUICK, "-J", file]
    return sweep(4, *options, program="tests.launched.faulty")


def measure_everything(file: str) -> Result:
    """Every collective, with many dtypes and every operator, on 3 ranks: a size that no shard divides."""
    options = ["all", "-d", "float,half,bf16,int8,uint8,fp8", "-o", ",".join(OPERATORS), "-b", "1000", "-e", "1000"]
    return sweep(3, *options, *QUICK, "-J", file)


@pytest.fixture(scope="module")
def launched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Result]]:
    launches = {"everything": measure_everything, "groups": measure_groups, "worlds": measure_worlds}
    folder = tmp_path_factory.mktemp("parts")
    with side_by_side({name: partial(it, str(folder / f"{name}.jsonl")) for name, it in launches.items()}) as results:
        yield results


@pytest.fixture(scope="module")
def worlds(launched: Callable[[str], Result]) -> Result:
    return launched("worlds")


@pytest.fixture(scope="module")
def groups(launched: Callable[[str], Result]) -> Result:
    return launched("groups")


@pytest.fixture(scope="module")
def everything(launched: Callable[[str], Result]) -> Result:
    return launched("everything")


def test_every_world_size_has_a_sweep_of_its_own(worlds: Result) -> None:
    """With its ranks in the header."""
    assert worlds.returncode == 0, worlds.stderr
    assert [stored.header.world_size for stored in worlds.sweeps] == [1, 2, 3]
    assert [stored.header.ranks_per_host for stored in worlds.sweeps] == [(1,), (2,), (3,)]


def test_every_world_size_is_measured_in_full(worlds: Result) -> None:
    """Each sweep is complete, with the same number of points."""
    assert {(stored.status, len(stored.measurements)) for stored in worlds.sweeps} == {("complete", 3)}


def test_ranks_outside_a_sub_world_do_not_appear_in_it(worlds: Result) -> None:
    """No rank above its size is ever the slowest or the fastest."""
    for stored in worlds.sweeps:
        named = {rank for row in stored.measurements for rank in (row.slowest_rank, row.fastest_rank)} - {None}
        assert named <= set(range(stored.header.world_size or 0))


def test_shards_are_those_of_the_sub_world(worlds: Result) -> None:
    """4 KiB is cut into 3 equal shards only after rounding up."""
    gathered = [row.message_bytes for row in worlds.rows if row.collective == "all_gather" and row.placement == "in"]
    assert gathered == [4096, 4096, 4104]


def test_groups_are_in_the_header(groups: Result) -> None:
    """Neighbours together; the world size is a group's."""
    assert groups.returncode == 0, groups.stderr
    header = groups.sweeps[0].header
    assert (header.groups, header.world_size) == (((0, 1), (2, 3)), 2)


def test_the_time_of_each_group_is_kept(groups: Result) -> None:
    """A row's time is that of its slowest group, sample by sample."""
    for row in groups.rows:
        assert row.group_seconds is not None
        assert [max(sample) for sample in zip(*row.group_seconds, strict=True)] == list(row.seconds)


def test_the_slowest_group_is_named_on_its_rows(groups: Result) -> None:
    """The one with the slow rank."""
    assert all("slowest group: 0 (ranks 0 to 1)" in " ".join(row.notes) for row in groups.rows)


def test_the_slowest_group_is_named_under_the_table(groups: Result) -> None:
    """With how much slower it is."""
    assert "group 0 (ranks 0, 1)" in " ".join(groups.stdout.split())


def test_nothing_that_can_run_is_wrong(everything: Result) -> None:
    """Every collective, dtype and operator is checked and right."""
    assert everything.returncode == 0, everything.stderr
    assert {row.correct for row in everything.rows if row.collective != "barrier"} == {True}


def test_every_collective_runs(everything: Result) -> None:
    """All ten on gloo."""
    assert {row.collective for row in everything.rows} == set(COLLECTIVES)


def test_every_dtype_is_moved(everything: Result) -> None:
    """fp8 too, as bytes."""
    assert {row.dtype for row in everything.rows if row.collective == "all_gather"} == set(DTYPES)


def test_sum_runs_in_every_dtype_but_fp8(everything: Result) -> None:
    """fp8 has no sum."""
    assert {row.dtype for row in everything.rows if row.op == "sum"} == set(DTYPES) - {"float8_e4m3"}


def test_what_cannot_run_is_left_out_with_its_reason(everything: Result) -> None:
    """gloo has no average, and nobody sums fp8; both say so, and nothing else is left out."""
    reasons = {
        (point.op == "avg", point.dtype == "float8_e4m3"): point.reason for point in everything.sweeps[0].left_out
    }
    assert reasons.pop((False, True)).startswith("fp8 is moved, not reduced")
    assert reasons.pop((True, True)).startswith("fp8 is moved, not reduced")
    assert "gloo cannot run it" in reasons.pop((True, False))
    assert reasons == {}


def test_every_point_is_measured_or_left_out(everything: Result) -> None:
    """Four placements of reducing collectives, seven of moving ones, and barrier."""
    points: list[Measurement | LeftOut] = [*everything.rows, *everything.sweeps[0].left_out]
    assert len(points) == 4 * len(DTYPES) * len(OPERATORS) + 7 * len(DTYPES) + 1
