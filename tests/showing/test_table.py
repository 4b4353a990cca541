"""The table for people."""

import io

from rich.console import Console

from commbench.showing.table import draw, table
from commbench.sweepfile.records import LeftOut, Source

from .sweeps import KIB, MIB, doublings, point, sweep

MODES = ("isolated", "graph")
PLACES = ("in", "out")


def full(*, notes: tuple[str, ...] = (), collectives: tuple[str, ...] = ("all_reduce",)) -> str:
    points = [
        point(size, 1e-5 + size / 3e11, mode=mode, placement=place, collective=name, notes=notes)
        for name in collectives
        for size in doublings(8, 24)
        for mode in MODES
        for place in PLACES
    ]
    return draw(sweep(*points, label="nvlink", transport={"proved": ["P2P"]}, environment={"device": "NVIDIA H200"}))


def test_the_heading_says_where_it_ran() -> None:
    assert "sweep     nvlink: nccl, 8 ranks, NVIDIA H200, 2026-08-01" in full()


def test_the_heading_says_the_proved_path() -> None:
    assert "path      P2P (proved)" in full()


def test_a_path_that_nothing_proves_is_not_proved() -> None:
    assert "not proved" in draw(sweep(point(), transport={"setting": "nvlink", "proved": None}))


def test_what_is_constant_stands_in_the_heading() -> None:
    assert "measured  all_reduce, float32 sum, in place, isolated" in draw(sweep(point()))


def test_what_is_constant_is_no_column() -> None:
    assert "redop" not in full()


def test_what_differs_is_a_column() -> None:
    assert "redop" in draw(sweep(point(), point(op="max")))


def test_each_mode_is_defined() -> None:
    assert "graph     calls captured in a CUDA graph and replayed" in full()


def test_the_largest_table_fits_into_110_columns() -> None:
    rows = [line for line in full(collectives=("all_reduce", "reduce_scatter")).splitlines() if "iB  " in line]
    assert max(map(len, rows)) <= 110


def test_a_row_holds_size_time_bandwidths_and_check() -> None:
    (row,) = [line.split() for line in draw(sweep(point(MIB, 1e-4))).splitlines() if line.lstrip().startswith("1 MiB")]
    assert row == ["1", "MiB", "262144", "100.00", "0.0", "0.0", "10.49", "18.35", "0"]


def test_a_row_nobody_checked_says_so() -> None:
    assert "N/A" in draw(sweep(point(correct=None, wrong=None)), judged=False)


def test_a_wrong_row_without_a_count_says_wrong() -> None:
    assert "WRONG" in draw(sweep(point(correct=False, wrong=None)), judged=False)


def test_a_narrow_page_loses_columns_and_says_which() -> None:
    assert "no room for count" in draw(sweep(*[point(size) for size in doublings(KIB, 3)]), 60)


def test_no_digit_is_cut_on_a_page_that_is_too_narrow() -> None:
    assert "18.35" in draw(sweep(point(MIB, 1e-4)), 20)


def test_columns_that_nothing_fills_are_not_drawn() -> None:
    imported = point(seconds=(1e-4,), statistic="mean over ranks")
    assert "±%" not in draw(sweep(imported, source=Source(tool="nccl-tests")), judged=False)


def test_a_foreign_statistic_is_named() -> None:
    imported = point(seconds=(1e-4,), statistic="mean over ranks")
    assert "as printed by the tool: mean over ranks" in draw(sweep(imported, source=Source(tool="nccl-tests")))


def test_a_note_is_marked_on_its_row_and_told_below() -> None:
    lines = draw(sweep(point(notes=("gloo runs it as an all_reduce",)), point(2 * MIB))).splitlines()
    marked = [line for line in lines if line.lstrip().startswith("1 MiB") and line.endswith(" a")]
    assert (len(marked), "a  gloo runs it as an all_reduce" in lines) == (1, True)


def test_points_left_out_are_told_once_a_reason() -> None:
    missing = [
        LeftOut(sweep="s", collective="all_reduce", message_bytes=1 << e, dtype="float32", reason="no room")
        for e in (33, 34)
    ]
    assert "-  all_reduce float32 8 GiB, 16 GiB: no room" in draw(sweep(point(), left_out=missing))


def test_warnings_can_be_left_to_another_place() -> None:
    assert "warning" not in draw(sweep(point(correct=None, wrong=None)), judged=False)


def test_a_sweep_without_measurements_says_so() -> None:
    assert "no measurements" in draw(sweep())


def test_labels_are_no_markup_and_no_terminal_codes() -> None:
    assert "[red]x?[2J: nccl" in draw(sweep(point(), label="[red]x\x1b[2J"))


def test_a_terminal_gets_colours() -> None:
    page = io.StringIO()
    console = Console(file=page, width=120, force_terminal=True, color_system="standard")
    console.print(table(sweep(point(correct=False, wrong=3)), 120))
    assert "\x1b[1;31m" in page.getvalue()
