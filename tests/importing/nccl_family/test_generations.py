"""Every generation and layout of nccl-tests' text is read whole: all rows, all times, and the collective it proves."""

from typing import Any

import pytest

from commbench.importing.foreign import Run, Stated
from commbench.importing.nccl_family import text as nccl_text
from tests.importing.logs import reading
from tests.importing.nccl_family.printing import FACTORS, Point, Printer, points

ROWS = points([1 << k for k in range(10, 28, 3)])
OURS = {"alltoall": "all_to_all", "sendrecv": "send_recv"}
_NOT_IN = {"A": {"alltoall", "gather", "scatter", "hypercube", "sendrecv"}, "C0": {"gather", "scatter"}}
PRINTED = [(c, g) for c in FACTORS for g in ("A", "B", "C0", "C1", "C3") if c not in _NOT_IN.get(g, ())]


def only_run(text: str, stated: Stated = Stated()) -> Run:  # noqa: B008 - an immutable
    """The run of a log that holds one."""
    found = reading(nccl_text, text, stated.world_size, stated.collective)
    assert not found.rejects
    (run,) = found.runs
    return run


def times(run: Run, placement: str) -> list[tuple[int, Any]]:
    """Size and time (us) of the rows of a placement."""
    return [(row.message_bytes, round(row.seconds * 1e6, 3)) for row in run.rows if row.placement == placement]


@pytest.mark.parametrize(("collective", "generation"), PRINTED)
def test_every_layout_is_read_whole(collective: str, generation: str) -> None:
    """Out of place and in place, microseconds and milliseconds, with and without operator, root and type."""
    run = only_run(Printer(collective, 8, generation).log(ROWS))
    digits = 0 if generation == "A" else 2
    assert times(run, "out") == [(p.size, pytest.approx(p.out_us, abs=0.6 * 10**-digits)) for p in ROWS]
    if (generation, collective) != ("A", "broadcast"):
        assert times(run, "in") == [(p.size, pytest.approx(p.in_us, abs=0.6 * 10**-digits)) for p in ROWS]
    assert run.world_size == 8
    assert run.complete
    assert run.footer["average_is_of_these_rows"]


@pytest.mark.parametrize(("collective", "generation"), PRINTED)
def test_a_collective_is_named_only_where_the_log_proves_it(collective: str, generation: str) -> None:
    """Columns, count, factor and the checked half decide; twins (gather and scatter) stay candidates."""
    run = only_run(Printer(collective, 8, generation).log(ROWS, devices=False))
    ours = OURS.get(collective, collective)
    assert run.collective == ours or (run.collective is None and ours in run.candidates)
    if collective in ("all_reduce", "reduce_scatter", "broadcast", "reduce"):
        assert run.collective == ours


@pytest.mark.parametrize("ranks", [2, 3, 4, 7, 16, 24, 64, 512])
def test_the_factor_tells_the_ranks_of_an_all_reduce(ranks: int) -> None:
    """Without a device list: one number, or a range that holds the right one."""
    run = only_run(Printer("all_reduce", ranks, "C1").log(points([1 << k for k in range(10, 33)]), devices=False))
    if run.world_size is None:
        assert run.world_size_range is not None
        assert run.world_size_range[0] <= ranks <= run.world_size_range[1]
    else:
        assert (run.world_size, run.world_size_basis) == (ranks, "factor")


@pytest.mark.parametrize("ranks", [2, 3, 8, 1024])
def test_size_over_count_tells_the_ranks_of_a_sharded_collective(ranks: int) -> None:
    """An all-gather's count is one rank's."""
    rows = points([ranks * 1024 << k for k in range(0, 12, 2)])
    run = only_run(Printer("all_gather", ranks, "C1").log(rows, devices=False))
    assert run.world_size == ranks
    assert str(run.world_size_basis).startswith("count")


@pytest.mark.parametrize(
    ("generation", "extras", "column"),
    [
        ("C3", {"timestamp"}, "timestamp"),
        ("C4", set(), "i_p99"),
        ("C4", {"timestamp"}, "i_cv%"),
        ("C3", {"hipevt"}, "hipevt"),
        ("C3", {"algo"}, "algo"),
        ("X", set(), "copybw"),
    ],
)
def test_columns_beyond_the_usual_are_kept(generation: str, extras: set[str], column: str) -> None:
    """-S, -I, HIP events, -A and copybw add columns; the usual ones stay where they are."""
    run = only_run(Printer(generation=generation, extras=frozenset(extras)).log(ROWS))
    assert times(run, "in") == [(p.size, pytest.approx(p.in_us, abs=0.006)) for p in ROWS]
    assert all(column in row.reported for row in run.rows)


def test_cpu_time_is_labelled_as_such() -> None:
    """With -C the bandwidths come from a time that is not printed."""
    run = only_run(Printer(extras=frozenset({"cputime"})).log(ROWS))
    assert {row.statistic for row in run.rows} == {"CPU time, mean over ranks"}


def test_a_graph_is_a_mode_of_its_own() -> None:
    """-G replays a captured graph; its times are never mixed with others."""
    assert only_run(Printer(extras=frozenset({"graph"})).log(ROWS)).mode == "graph"
    assert only_run(Printer().log(ROWS)).mode == "pipelined"


def test_unchecked_data_are_never_correct() -> None:
    """-c 0 prints N/A, and its footer of 0 proves nothing."""
    run = only_run(Printer(extras=frozenset({"unchecked"})).log(ROWS))
    assert {row.correct for row in run.rows} == {None}
    assert {row.wrong for row in run.rows} == {None}


def test_an_in_place_all_to_all_is_not_checked() -> None:
    """N/A in one half only."""
    run = only_run(Printer("alltoall").log(ROWS))
    assert {(row.placement, row.correct) for row in run.rows} == {("out", True), ("in", None)}


def test_a_magnitude_of_error_is_judged_by_the_footer() -> None:
    """2e-07 is rounding and no count: right below `0 OK`, unknown without a footer."""
    printer = Printer(generation="B")
    assert {row.correct for row in only_run(printer.log(ROWS)).rows} == {True}
    (run,) = reading(nccl_text, "\n".join([*printer.header(), *map(printer.row, ROWS)])).runs
    assert {(row.correct, row.wrong, row.reported["error"]) for row in run.rows} == {(None, None, 2e-07)}


def test_milliseconds_without_a_word_are_found_by_the_bandwidths() -> None:
    """The consistency of a row is what tells a wrong unit."""
    text = Printer().log(ROWS)
    for point in ROWS:
        for us in (point.out_us, point.in_us):
            text = text.replace(f"{us:7.2f}", f"{us / 1e3:7.5f}")
    run = only_run(text)
    assert times(run, "out") == [(p.size, pytest.approx(p.out_us, abs=0.006)) for p in ROWS]
    assert any("converted" in note for note in run.notes)


def test_the_plain_way_and_the_careful_way_read_the_same() -> None:
    """Whole plain rows are read by one pattern; with a word behind them they are not."""
    printer = Printer()
    plain = only_run(printer.log(ROWS))
    careful = only_run("\n".join(line + "  x" if "float" in line else line for line in printer.log(ROWS).split("\n")))
    assert [r.reported for r in plain.rows] == [r.reported for r in careful.rows]
    assert [(r.seconds, r.correct, r.dtype, r.op, r.root) for r in plain.rows] == [
        (r.seconds, r.correct, r.dtype, r.op, r.root) for r in careful.rows
    ]


def test_rows_that_need_care_stand_in_order_among_thousands_of_plain_ones() -> None:
    """Plain rows are read many at once; a library's line into one of them cuts neither those before it nor behind."""
    printer = Printer()
    cycles = [ROWS] * 500
    lines = [printer.row(point) for cycle in cycles for point in cycle]
    for place in (0, 1000, 1001, 1717, len(lines) - 1):
        lines[place] = lines[place][:70] + "hostA:1:2 [0] NCCL INFO x\n" + lines[place][70:]
    run = only_run("\n".join([*printer.header(), *lines, *printer.footer(ROWS * 500), ""]))
    assert times(run, "out") == [(p.size, pytest.approx(p.out_us, abs=0.6)) for p in ROWS * 500]
    assert [row.cycle for row in run.rows] == [number for number in range(500) for _ in range(2 * len(ROWS))]
    assert [row.line for row in run.rows] == sorted(row.line for row in run.rows)
    assert run.complete is True


def test_a_size_of_zero_is_left_out_with_a_notice() -> None:
    """It counts in the tool's average and in nothing of ours."""
    zero = "  0  0  float  sum  -1  0.36  0.00  0.00  0  0.33  0.00  0.00  0"
    printer = Printer()
    values = [Point(1024, 21.0, 21.0)]
    text = "\n".join([*printer.banner(), *printer.devices(), *printer.header(), zero, *map(printer.row, values),
                      *printer.footer(values)])  # fmt: skip
    run = only_run(text)
    assert [row.message_bytes for row in run.rows] == [1024, 1024]
    assert [skipped.message_bytes for skipped in run.left_out] == [0]
