"""The sweep of the README, smaller, on 1, 2, 3 and 4 ranks: everything is right and says what it is."""

import json
import socket
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from commbench.collectives import COLLECTIVES, DEFAULT_COLLECTIVES
from commbench.showing.rows import rows
from commbench.sweepfile.reader import Sweep

from .launching import Result, side_by_side, sweep

pytestmark = pytest.mark.gloo

WORLDS = (1, 2, 3, 4)
SIZES = (8, 128, 2048, 32768, 524288)
SECRET = "hunter2-xyzzy"


def launch(ranks: int, file: str) -> Result:
    """The sweep on so many ranks. 3 of them print JSON; 3 and 4 save the memory that rotating buffers take."""
    options = ["-b", "8", "-e", "1M", "-f", "16", "--limit", "0.02", "-J", file]
    options += ["--json"] if ranks == 3 else []
    options += ["--buffers", "same"] if ranks >= 3 else []
    return sweep(ranks, *options, env={"SECRET_TOKEN": SECRET, "NCCL_SECRET_TOKEN": SECRET, "NCCL_ALGO": "Ring"})


@pytest.fixture(scope="module")
def launched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[int], Result]]:
    folder = tmp_path_factory.mktemp("worlds")
    with side_by_side({ranks: partial(launch, ranks, str(folder / f"{ranks}.jsonl")) for ranks in WORLDS}) as results:
        yield results


@pytest.fixture(scope="module", params=WORLDS)
def ranks(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(scope="module")
def result(launched: Callable[[int], Result], ranks: int) -> Result:
    return launched(ranks)


@pytest.fixture(scope="module")
def one(result: Result) -> Sweep:
    """The one sweep of the file."""
    (stored,) = result.sweeps
    return stored


def test_it_exits_with_0(result: Result) -> None:
    """Nothing was wrong and everything was measured."""
    assert result.returncode == 0, result.stderr


def test_every_row_is_correct(one: Sweep) -> None:
    """True, not null: every element of every rank was compared."""
    assert {(row.correct, row.wrong) for row in one.measurements} == {(True, 0)}


def test_all_default_collectives_are_there_in_every_placement(one: Sweep) -> None:
    """Four collectives; torch has both placements of reduce_scatter and all_gather."""
    assert {(row.collective, row.placement) for row in one.measurements} == {
        ("all_reduce", "in"), ("reduce", "in"),
        ("reduce_scatter", "in"), ("reduce_scatter", "out"),
        ("all_gather", "in"), ("all_gather", "out"),
    }  # fmt: skip


@pytest.mark.parametrize("name", DEFAULT_COLLECTIVES)
def test_sizes_are_the_ones_that_were_moved(name: str, one: Sweep, ranks: int) -> None:
    """Rounded up to equal shards, where there are shards."""
    moved = {COLLECTIVES[name].elements(size, 4, ranks) * 4 for size in SIZES}
    assert {row.message_bytes for row in one.measurements if row.collective == name} == moved


def test_every_row_has_the_samples_that_an_interval_needs(one: Sweep) -> None:
    """A point's limit never cuts below six."""
    assert min(len(row.seconds) for row in one.measurements) >= 6


def test_the_slowest_rank_is_never_faster_than_the_fastest(one: Sweep) -> None:
    """Sample by sample."""
    assert all(
        slow >= fast > 0
        for row in one.measurements
        for slow, fast in zip(row.seconds, row.fastest_seconds or (), strict=True)
    )


def test_the_sweep_is_complete(one: Sweep) -> None:
    """It ends with an end record that gives no reason."""
    assert one.end is not None
    assert (one.end.status, one.end.reason) == ("complete", None)


def test_the_header_names_the_world(one: Sweep, ranks: int) -> None:
    """Ranks, hosts and backend, as they are and not as they were asked for."""
    header = one.header
    assert (header.world_size, header.ranks_per_host, header.backend) == (ranks, (ranks,), "gloo")
    assert header.environment["hosts"] == [socket.gethostname()]


def test_the_world_is_shown_before_measuring(result: Result, ranks: int) -> None:
    """On standard error, once for all ranks."""
    assert result.stderr.count(f"world: {ranks} rank{'s' * (ranks > 1)} on 1 host") == 1


def test_an_emulated_collective_is_named_on_each_of_its_rows(one: Sweep) -> None:
    """gloo's reduce_scatter is an all_reduce."""
    noted = {row.collective for row in one.measurements if any("emulated" in note for note in row.notes)}
    assert noted == {"reduce_scatter"}
    assert all(row.notes for row in one.measurements if row.collective == "reduce_scatter")


def test_an_emulated_collective_is_named_with_the_result(result: Result) -> None:
    """Under the table, or in the JSON document."""
    assert "emulated: gloo runs reduce_scatter as an all_reduce" in result.stdout


def test_busbw_is_0_on_one_rank_only(one: Sweep, ranks: int) -> None:
    """Nothing crosses a link there."""
    assert {row.busbw == 0.0 for row in rows(one)} == {ranks == 1}


def test_one_rank_is_warned_about(result: Result, ranks: int) -> None:
    """A line with the result says that one rank measures no link."""
    assert ("one rank: busbw is 0" in result.stdout) == (ranks == 1)


def test_a_secret_reaches_neither_file_nor_screen(result: Result, one: Sweep) -> None:
    """Not even one whose name stands on the allow-list of prefixes; harmless neighbours are kept."""
    shown = result.stdout + result.stderr
    assert SECRET not in shown
    assert SECRET not in str(one)
    assert one.header.environment["variables"]["NCCL_ALGO"] == "Ring"


def test_json_is_one_document_and_all_that_is_printed(launched: Callable[[int], Result]) -> None:
    """It holds every row of the file."""
    result = launched(3)
    assert len(json.loads(result.stdout)["sweeps"][0]["measurements"]) == len(result.rows)


def test_the_table_has_a_line_for_each_row(result: Result, one: Sweep, ranks: int) -> None:
    """Every measurement is shown, as bytes and time."""
    if ranks != 3:
        lines = [line for line in result.stdout.splitlines() if line.split(" ")[0] in DEFAULT_COLLECTIVES]
        assert len(lines) == len(one.measurements)
