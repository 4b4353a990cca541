"""Every option of ours reaches us through torchrun without `--`, by its short and by its long name."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from commbench.measuring.command_line import parser
from commbench.sweepfile.reader import Sweep

from .launching import Result, side_by_side, sweep

pytestmark = pytest.mark.gloo

SHORT = ("all_reduce", "reduce", "-b", "8", "-e", "4K", "-f", "8", "-i", "64", "-d", "half", "-o", "max", "-r", "1",
         "-n", "6", "-m", "2", "-w", "1", "-G", "2", "-N", "2", "-c", "0", "-T", "60s")  # fmt: skip
LONG = ("reduce", "all_gather", "--minbytes", "8", "--maxbytes", "4K", "--stepfactor", "8", "--stepbytes", "64",
        "--datatype", "half", "--op", "max", "--root", "0", "--placement", "in", "--mode", "pipelined",
        "--world-sizes", "1,2", "--groups", "1", "--iters", "6", "--target", "5", "--limit", "50ms",
        "--agg-iters", "3", "--warmup-iters", "1", "--cudagraph", "1", "--run-cycles", "2", "--shuffle", "7",
        "--buffers", "same", "--check", "1", "--timeout", "60s", "--backend", "gloo", "--label", "mine",
        "--shared-device", "--json")  # fmt: skip
PLAN = ("--plan", "--resume")
SIZES = (8, 64, 512, 4096)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("options")


@pytest.fixture(scope="module")
def launched(folder: Path) -> Iterator[Callable[[str], Result]]:
    launches = {
        "short": partial(sweep, 2, *SHORT, "-J", str(folder / "short.jsonl")),
        "long": partial(sweep, 2, *LONG, "--output-file", str(folder / "long.jsonl")),
    }
    with side_by_side(launches) as results:
        yield results


@pytest.fixture(scope="module")
def short(launched: Callable[[str], Result]) -> Result:
    return launched("short")


@pytest.fixture(scope="module")
def long(launched: Callable[[str], Result]) -> Result:
    return launched("long")


@pytest.fixture(scope="module")
def plan(short: Result, folder: Path) -> tuple[Result, bool]:
    """The plan of the short launch's file, and whether that is still what it was."""
    file = folder / "short.jsonl"
    before = file.read_bytes()
    return sweep(2, *PLAN, str(file)), file.read_bytes() == before


def cycles(stored: Sweep) -> list[list[tuple[str | None, int]]]:
    """The points of each cycle, in the order in which they were measured."""
    return [[(row.collective, row.message_bytes) for row in stored.measurements if row.cycle == c] for c in (0, 1)]


def test_these_launches_use_every_option() -> None:
    """So a new option must be added here, and torchrun's opinion of it is known."""
    ours = {name for action in parser("sweep")._actions for name in action.option_strings}
    hidden = {"-g", "-t", "-h", "--help"}  # nccl-tests' and argparse's
    hidden.add("--with-compute")  # gloo has no GPU for it: tests/gpu has
    assert ours - hidden - {"-J", "--output-file"} == {word for word in (*SHORT, *LONG, *PLAN) if word[0] == "-"}


def test_the_short_ones_are_understood(short: Result) -> None:
    """Neither torchrun nor our parser objects."""
    assert short.returncode == 0, short.stderr


def test_the_long_ones_are_understood(long: Result) -> None:
    """Neither torchrun nor our parser objects."""
    assert long.returncode == 0, long.stderr


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("sizes", list(SIZES)), ("dtypes", ["float16"]), ("operators", ["max"]), ("root", 1), ("samples", 6),
        ("calls", 2), ("warm_up", 1), ("replays", 2), ("cycles", 2), ("check", False), ("time_limit", 60.0),
        ("modes", ["isolated", "graph"]), ("calls_in_graph", 2), ("collectives", ["all_reduce", "reduce"]),
    ],
)  # fmt: skip
def test_short_options_are_in_the_header(short: Result, setting: str, value: Any) -> None:
    """What was asked for is stored."""
    assert short.sweeps[0].header.settings[setting] == value


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("placements", ["in"]), ("modes", ["pipelined", "graph"]), ("target", 0.05), ("limit", 0.05), ("shuffle", 7),
        ("buffers", "same"), ("calls", 3), ("shared_device", True), ("check", True),
    ],
)  # fmt: skip
def test_long_options_are_in_the_header(long: Result, setting: str, value: Any) -> None:
    """What was asked for is stored."""
    assert long.sweeps[0].header.settings[setting] == value


def test_a_label_and_a_backend_are_in_the_header(long: Result) -> None:
    """The label is also the name of the transport setting."""
    header = long.sweeps[0].header
    assert (header.label, header.backend, header.transport["setting"]) == ("mine", "gloo", "mine")


def test_a_graph_without_a_gpu_is_left_out_with_its_reason(short: Result) -> None:
    """Nothing is measured in a mode that does not exist, and nothing stops."""
    assert {point.reason for point in short.sweeps[0].left_out} == {"graph mode replays CUDA graphs and needs a GPU"}
    points = 2 * len(SIZES) * 2
    assert (len(short.rows), len(short.sweeps[0].left_out)) == (points, points)


def test_world_sizes_are_a_sweep_each(long: Result) -> None:
    """With its own world size."""
    assert [stored.header.world_size for stored in long.sweeps] == [1, 2]


def test_cycles_repeat_every_point(long: Result) -> None:
    """The same points, once a cycle."""
    first, second = cycles(long.sweeps[-1])
    assert sorted(first) == sorted(second) == sorted((n, s) for n in ("reduce", "all_gather") for s in SIZES)


def test_shuffling_gives_each_cycle_an_order_of_its_own(long: Result) -> None:
    """Neither is the order of the plan."""
    first, second = cycles(long.sweeps[-1])
    assert first != second
    assert first != sorted(first, reverse=True)


def test_n_samples_are_exactly_n(long: Result) -> None:
    """Whatever --target and --limit say."""
    assert {len(row.seconds) for row in long.rows} == {6}


def test_json_is_all_that_is_printed(long: Result) -> None:
    """One strict document with both sweeps."""
    assert [each["header"]["world_size"] for each in json.loads(long.stdout)["sweeps"]] == [1, 2]


def test_a_plan_prints_points_memory_and_time(plan: tuple[Result, bool]) -> None:
    """Of the file that is to be resumed: nothing but its name is needed."""
    result, _ = plan
    assert result.returncode == 0, result.stderr
    assert "2 ranks: 32 points" in result.stdout
    assert "buffers per rank:" in result.stdout
    assert "expected time:" in result.stdout
    assert "all_reduce (float16, max, in, graph): 4 sizes, 8 … 4096 bytes" in result.stdout


def test_a_plan_touches_no_file(plan: tuple[Result, bool]) -> None:
    """Not even the one that it is about."""
    _, unchanged = plan
    assert unchanged
