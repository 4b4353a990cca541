"""The view for tools that read nccl-tests: parsed back token by token, and by column, against real output."""

import json
import re
from pathlib import Path

import pytest

from commbench.showing.nccl_table import to_nccl_tests
from commbench.sweepfile.records import Measurement

from .sweeps import KIB, MIB, point, sweep

DATA = Path(__file__).parents[1] / "data"
REAL = ("all_reduce", "reduce")


def is_row(line: str) -> bool:
    return re.match(r"\s*\d", line) is not None


def log_of(collective: str) -> list[str]:
    return (DATA / f"nccl-tests-{collective}-h200x2.log").read_text().splitlines()


def ours(collective: str) -> list[str]:
    """What we print for the sweep of a real log, whose unrounded times stand in its JSON file."""
    times = json.loads((DATA / f"nccl-tests-{collective}-h200x2-times.json").read_text())["rows"]
    root = 0 if collective == "reduce" else None
    points = [
        point(size, (microseconds * 1e-6,), collective=collective, root=root, placement=placement, mode=None)
        for size, *placed in times
        for placement, microseconds in zip(("out", "in"), placed, strict=True)
    ]
    return to_nccl_tests([sweep(*points, world_size=2)]).splitlines()


@pytest.mark.parametrize("collective", REAL)
def test_real_rows_come_back_token_by_token(collective: str) -> None:
    expected = [line.split() for line in log_of(collective) if is_row(line)]
    assert expected == [line.split() for line in ours(collective) if is_row(line)]


@pytest.mark.parametrize("collective", REAL)
def test_real_lines_come_back_column_by_column(collective: str) -> None:
    lines = log_of(collective)
    start = next(i for i, line in enumerate(lines) if "out-of-place" in line)
    expected = [line for line in lines[start:] if is_row(line) or line.startswith("#  ")]
    assert expected == [line for line in ours(collective) if is_row(line) or line.startswith("#  ")]


@pytest.mark.parametrize("collective", REAL)
@pytest.mark.parametrize("beginning", ["# Avg bus bandwidth", "# Out of bounds", "# Collective test"])
def test_real_lines_around_the_table_come_back(collective: str, beginning: str) -> None:
    expected = [line for line in log_of(collective) if line.startswith(beginning)]
    assert expected == [line for line in ours(collective) if line.startswith(beginning)]


def rows(*points: Measurement) -> list[list[str]]:
    return [line.split() for line in to_nccl_tests([sweep(*points)]).splitlines() if is_row(line)]


def text(*points: Measurement) -> str:
    return to_nccl_tests([sweep(*points)])


def test_every_row_has_13_tokens() -> None:
    points = [point(8 << i, 1e-6 * 3**i, placement=place) for i in range(30) for place in ("in", "out")]
    assert {13} == {len(row) for row in rows(*points)}


def test_a_missing_placement_repeats_the_other() -> None:
    ((*_, a, b, c, d, e, f, g, h),) = rows(point())
    assert [a, b, c, d] == [e, f, g, h]


def test_a_repeated_group_is_announced_above_the_header() -> None:
    before, _, _ = text(point()).partition("out-of-place    ")
    assert "# 1 of 1 rows were measured in-place only: those figures stand in both groups" in before


def test_two_placements_share_a_row() -> None:
    (row,) = rows(point(seconds=1e-4, placement="in"), point(seconds=2e-4, placement="out"))
    assert (row[5], row[9]) == ("200.00", "100.00")


def test_no_operator_is_none_and_no_root_is_minus_one() -> None:
    (row,) = rows(point(collective="all_gather", op=None))
    assert row[3:5] == ["none", "-1"]


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("float", "float32"),
        ("half", "float16"),
        ("bfloat16", "bfloat16"),
        ("double", "float64"),
        ("int8", "int8"),
        ("f8e4m3", "float8_e4m3"),
    ],
)
def test_dtypes_have_nccl_tests_names(theirs: str, ours: str) -> None:
    assert theirs == rows(point(dtype=ours))[0][2]


def test_rows_nobody_checked_are_not_available() -> None:
    (row,) = rows(point(correct=None, wrong=None))
    assert (row[8], row[12]) == ("N/A", "N/A")


def test_the_footer_of_rows_nobody_checked_is_explained() -> None:
    _, _, footer = text(point(correct=None, wrong=None)).partition("# not checked (-c 0)")
    assert footer.splitlines()[1] == "# Out of bounds values : 0 OK"


def test_wrong_elements_fail() -> None:
    assert "# Out of bounds values : 512 FAILED\n" in text(point(correct=False, wrong=512))


def test_a_wrong_row_without_a_count_fails_too() -> None:
    assert "# Out of bounds values : 1 FAILED\n" in text(point(correct=False, wrong=None))


def test_the_average_is_marked_as_not_for_acceptance() -> None:
    lines = text(point()).splitlines()
    average = next(i for i, line in enumerate(lines) if line.startswith("# Avg bus bandwidth"))
    assert "not for acceptance" in lines[average - 1]


def test_each_mode_has_its_own_table() -> None:
    found = text(point(mode="isolated"), point(mode="graph"))
    assert found.count("# Avg bus bandwidth") == found.count("# Collective test starting: all_reduce_perf") == 2


def test_programs_have_nccl_tests_names() -> None:
    assert "# Collective test starting: alltoall_perf\n" in text(point(collective="all_to_all", op=None))


def test_cycles_are_rows_of_their_own() -> None:
    assert len(rows(point(cycle=0), point(cycle=1))) == 2


def test_sizes_ascend_within_a_table() -> None:
    assert [row[0] for row in rows(point(2 * KIB), point(MIB), point(KIB))] == ["1024", "2048", str(MIB)]


def test_a_barrier_is_counted_as_left_out() -> None:
    found = text(point(0, collective="barrier", dtype=None, op=None, placement=None), point())
    assert "# left out: 1 rows that nccl-tests' columns cannot express" in found


def test_every_line_is_a_row_or_a_comment() -> None:
    assert all(is_row(line) or line.startswith("#") for line in text(point(notes=("7 notes",)), point()).splitlines())
