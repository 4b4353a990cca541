"""What goes wrong with logs of nccl-tests: cuts, failures, mixtures, odd figures. Nothing is lost or invented."""

import re

import pytest

from commbench.importing.foreign import Reading, Stated
from commbench.importing.lines import Lines
from commbench.importing.nccl_family import text as nccl_text
from tests.importing.nccl_family.printing import Printer, points
from tests.importing.nccl_family.test_wrapping import BODY, FOOT, HEAD, LOG, ROWS, split_at

NAMES = {row: number for number, row in enumerate(BODY, len(HEAD) + 1)}


def read(*lines: str, stated: Stated = Stated()) -> Reading:  # noqa: B008 - an immutable
    """What the reader of nccl-tests makes of lines."""
    return nccl_text.read(Lines("\n".join(lines).encode()), stated)


def reasons(found: Reading) -> str:
    """The reasons of all rejects."""
    return "; ".join(reject.reason for reject in found.rejects)


def test_a_log_cut_anywhere_gives_rows_of_the_whole_log_only() -> None:
    """After every number of characters: no time is invented, and what is cut is rejected with its line."""
    whole = {(r.message_bytes, r.placement, r.seconds) for run in read(LOG).runs for r in run.rows}
    start = len("\n".join(HEAD))
    for end in range(start, len(LOG) - len("\n".join(FOOT)), 3):
        found = read(LOG[:end])
        rows = [row for run in found.runs for row in run.rows]
        assert {(r.message_bytes, r.placement, r.seconds) for r in rows} <= whole
        assert all(run.complete is False for run in found.runs)
        last = LOG[:end].rsplit("\n", 1)[-1]
        if rows and 0 < len(last.split()) < 13:
            assert any(reject.matters for reject in found.rejects)


@pytest.mark.parametrize("words", [6, 8, 9, 11])
def test_a_cut_row_keeps_its_whole_half_only(words: int) -> None:
    """A half with all four figures stays; one with fewer is refused."""
    cut = " ".join(BODY[2].split()[:words])
    found = read(*HEAD, *BODY[:2], cut)
    rows = [row for row in found.runs[0].rows if row.line == NAMES[BODY[2]]]
    assert [row.placement for row in rows] == (["out"] if words >= 9 else [])
    assert NAMES[BODY[2]] in {reject.line for reject in found.rejects}


@pytest.mark.parametrize(
    "words",
    [
        "hostA: Test NCCL failure all_reduce.cu:42 'unhandled system error / '",
        " .. hostA pid 4242: Test failure common.cu:590",
        "hostA: Test timeout (300s) common.cu:700",
        "# error: remote process exited or there was a network error",
    ],
)
def test_a_failure_voids_the_row_in_progress(words: str) -> None:
    """The rows before stay; the run is not complete, and the failure is a reject."""
    preamble, _ = split_at(0, BODY[3])
    for joint in ("\n", ""):
        found = read(*HEAD, *BODY[:3], preamble + joint + words)
        assert len(found.runs[0].rows) == 6
        assert found.runs[0].complete is False
        assert any(reject.matters for reject in found.rejects)


def test_two_tests_in_one_file_are_two_runs() -> None:
    """Each with its own collective, rows and average."""
    found = read(LOG + Printer("broadcast").log(ROWS))
    assert [(run.collective, len(run.rows), run.complete) for run in found.runs] == [
        ("all_reduce", 12, True), ("broadcast", 12, True)
    ]  # fmt: skip


def test_a_second_header_begins_a_run() -> None:
    """A crash in the first table does not glue it to the second."""
    header = Printer(generation="C1").header()
    found = read(*header, *BODY[:3], *header, *BODY)
    assert [len(run.rows) for run in found.runs] == [6, 12]


def test_cycles_are_numbered() -> None:
    """-N 3 prints the table three times under one header."""
    found = read(*HEAD, *BODY, *BODY, *BODY, *FOOT)
    assert [row.cycle for row in found.runs[0].rows] == [cycle for cycle in range(3) for _ in range(12)]
    assert not found.rejects


@pytest.mark.parametrize("values", [("sum", "prod", "max", "min", "avg", "mulsum")])
def test_all_operators_are_told_apart(values: tuple[str, ...]) -> None:
    """-o all repeats every size; none is a repeat of another."""
    rows = [Printer(op=op).row(point) for op in values for point in ROWS]
    (run,) = read(*HEAD, *rows, *FOOT).runs
    assert {row.cycle for row in run.rows} == {0}
    assert [row.op for row in run.rows[::12]] == list(values)


def test_a_dtype_that_nobody_knows_is_no_other() -> None:
    """A fork's own type is null; the row stays."""
    (run,) = read(*HEAD, *(row.replace("float", "fp4e2") for row in BODY), *FOOT).runs
    assert {row.dtype for row in run.rows} == {None}
    assert len(run.rows) == 12


def test_roots_are_told_apart() -> None:
    """-r all; a root of -1 is none."""
    printer = Printer("broadcast")
    rows = [printer.row(p).replace("none       0", f"none  {root:6d}") for root in range(3) for p in ROWS]
    (run,) = read(*printer.banner(), *printer.header(), *rows, *printer.footer(ROWS)).runs
    assert [row.root for row in run.rows[::12]] == [0, 1, 2]
    assert {row.root for row in read(LOG).runs[0].rows} == {None}


def test_split_groups_have_the_ranks_of_one() -> None:
    """NCCL_TESTS_SPLIT: 8 ranks in two groups of 4; the factor is that of 4."""
    small, devices = Printer(ranks=4), Printer(ranks=8, extras=frozenset({"group"})).devices()
    rows = [small.row(point) for point in ROWS]
    (run,) = read(*small.banner(), *devices, *small.header(), *rows, *small.footer(ROWS)).runs
    assert run.world_size == 4
    assert run.groups == ((0, 2, 4, 6), (1, 3, 5, 7))
    assert not run.notes


def _copies(number: int) -> list[list[str]]:
    printer, logs = Printer(ranks=1), []
    for copy in range(number):
        rows = points([1 << k for k in range(10, 28, 3)], 5 + copy)
        devices = [line.replace("Pid   1000", f"Pid   {2000 + copy}") for line in printer.devices()]
        logs.append([*printer.banner(), *devices, *printer.header(), *map(printer.row, rows), *printer.footer(rows)])
    return logs


def test_a_binary_without_mpi_is_recognised() -> None:
    """Four processes of one rank each, line by line: four runs of one rank and the advice, never one of four."""
    for label in (True, False):
        lines = [
            f"{i}: {line}" if label else line for both in zip(*_copies(4), strict=True) for i, line in enumerate(both)
        ]
        found = read(*lines)
        assert [run.world_size for run in found.runs] == [1, 1, 1, 1]
        assert "MPI=1" in reasons(found)


def test_two_jobs_in_one_table_are_refused_where_nothing_tells_them_apart() -> None:
    """Equal sizes line by line: which job wrote a row cannot be told, and none is taken."""
    other = Printer("reduce_scatter").log(points([1 << k for k in range(10, 28, 3)], 33))
    found = read(*(line for both in zip(LOG.split("\n"), other.split("\n"), strict=True) for line in both))
    assert not found.runs
    assert len({reject.line for reject in found.rejects if "cannot be told" in reject.reason}) == 12


def test_two_jobs_of_different_sizes_are_split() -> None:
    """A second table that starts while the first goes on is told apart by its sizes."""
    late = [Printer().row(p) for p in points([8, 16, 32], 50)]
    early = [Printer().row(p) for p in points([1 << k for k in range(10, 20)])]
    found = read(
        *Printer(generation="C1").header(), *early[:6], late[0], *early[6:8], late[1], early[8], late[2], early[9]
    )
    assert [[row.message_bytes for row in run.rows if row.placement == "in"] for run in found.runs] == [
        [1 << k for k in range(10, 20)], [8, 16, 32]
    ]  # fmt: skip
    assert any(reject.matters for reject in found.rejects)


@pytest.mark.parametrize("figure", ["nan", "-nan", "inf", "-1.00"])
def test_a_time_that_is_none_is_left_out(figure: str) -> None:
    """The other placement stays."""
    row = BODY[2].split()
    row[5] = figure
    found = read(*HEAD, *BODY[:2], " ".join(row), *BODY[3:])
    assert [(s.line, s.message_bytes) for s in found.runs[0].left_out] == [(NAMES[BODY[2]], ROWS[2].size)]
    assert len(found.runs[0].rows) == 11


@pytest.mark.parametrize("bad", ["20,66", "2O.66", "20.66.1", "0x14", "１２.5"])  # noqa: RUF001 - digits of another script
def test_a_figure_that_is_no_number_is_rejected(bad: str) -> None:
    """A comma, a letter, another script: the row is rejected with its line, and nothing is guessed."""
    row = BODY[2].split()
    row[5] = bad
    found = read(*HEAD, *BODY[:2], " ".join(row), *BODY[3:])
    assert NAMES[BODY[2]] in {reject.line for reject in found.rejects}
    assert NAMES[BODY[2]] not in {row.line for row in found.runs[0].rows}


@pytest.mark.parametrize(
    ("printed", "wrong"), [("12", 12), ("12*", 12), ("1.04858e+06", 1048580), ("6.44245e+09", 6442450000)]
)
def test_wrong_values_are_counted(printed: str, wrong: int) -> None:
    """Counts in %g, with rccl-tests' asterisk."""
    found = read(*HEAD, BODY[0][:-1] + printed, *BODY[1:])
    assert [(row.correct, row.wrong) for row in found.runs[0].rows[:2]] == [(True, 0), (False, wrong)]


def test_figures_that_belong_to_no_row_are_rejected() -> None:
    """Half a row without its size; it matters unless the average proves that no row is missing."""
    orphan = " ".join(BODY[0].split()[5:])
    assert [r.matters for r in read(*HEAD, orphan, *BODY, *FOOT).rejects] == [False]
    assert read(*HEAD, orphan, *BODY).rejects[0].matters


@pytest.mark.parametrize("size", ["99999999999999999999", "9223372036854775808"])
def test_a_size_that_no_buffer_has_is_rejected(size: str) -> None:
    """It fits in no sweep file either."""
    found = read(*HEAD, f"{size} 4 float sum -1 1.00 2.00 3.00 0 1.00 2.00 3.00 0", *BODY)
    assert found.rejects[0].line == len(HEAD) + 1


def test_one_placement_alone_is_named_by_the_header() -> None:
    """-O of rccl-tests prints one group of figures, and the header says which."""
    names = "#       size         count      type   redop    root     time   algbw   busbw  #wrong"
    halves = [split_at(4, row)[0] for row in BODY]
    for side, placement in (("out-of-place", "out"), ("in-place", "in")):
        (run,) = read(f"#   {side}", names, *halves).runs
        assert {row.placement for row in run.rows} == {placement}
        assert len(run.rows) == 6


def test_a_blank_first_half_is_in_place() -> None:
    """Thirty-odd blanks stand for the out-of-place figures."""
    rows = [split_at(0, row)[0] + " " * 36 + split_at(4, row)[1] for row in BODY]
    (run,) = read(*HEAD, *rows).runs
    assert {row.placement for row in run.rows} == {"in"}
    assert [round(row.seconds * 1e6, 2) for row in run.rows] == [round(p.in_us, 2) for p in ROWS]


def test_a_forks_column_is_kept_and_shifts_nothing() -> None:
    """A word in the header that nobody knows is a column like the others."""
    head = [line.replace("#wrong", "#wrong  jitter").replace("count", "count  kind") for line in HEAD]
    rows = []
    for row in BODY:
        out, inside = split_at(4, row)
        rows.append(f"{out} 1.5 {inside} 2.5".replace("  float", " dev float"))
    (run,) = read(*head, *rows, *FOOT).runs
    assert [(row.reported["jitter"], row.reported["kind"]) for row in run.rows[:2]] == [(1.5, "dev"), (2.5, "dev")]
    assert [round(row.seconds * 1e6, 2) for row in run.rows[:2]] == [round(ROWS[0].out_us, 2), round(ROWS[0].in_us, 2)]


def test_a_column_that_no_header_names_is_not_read_as_another() -> None:
    """Behind rows that agree with themselves it is passed over with a note; else the row is rejected."""
    found = read(*HEAD, *(row + "   42" for row in BODY), *FOOT)
    assert len(found.runs[0].rows) == 12
    assert any("no header names" in note for note in found.runs[0].notes)
    shifted = read(*HEAD, *(re.sub(r"-1 ", "-1  7.77 ", row) for row in BODY))
    assert not shifted.runs
    assert len(shifted.rejects) == 6


def test_binary_bandwidths_are_converted() -> None:
    """GiB/s under the label GB/s is found by the times."""
    rows = []
    for row in BODY[2:]:
        words = row.split()
        for place in (6, 7, 10, 11):
            words[place] = f"{float(words[place]) / 1.073741824:.2f}"
        rows.append(" ".join(words))
    (run,) = read(*HEAD, *rows).runs
    assert any("GiB/s" in note for note in run.notes)
    assert run.rows[-1].reported["busbw"] == pytest.approx(float(BODY[-1].split()[11]), rel=1e-3)


def test_a_device_list_that_is_cut_is_not_counted() -> None:
    """One process lists 2048 characters; a list with ranks missing says only how many there are at least."""
    text = LOG.replace("#  Rank  7", "#  ...\n#  Xank  7")
    (run,) = read(text).runs
    assert (run.world_size, run.world_size_basis) == (8, "factor")
    gone = "\n".join(line for line in LOG.split("\n") if not re.search(r"Rank +[0-5] ", line))
    (run,) = read(gone).runs
    assert (run.world_size, run.world_size_basis) == (8, "factor")


def test_a_statement_that_the_rows_contradict_is_said() -> None:
    """The user's word is stored as the user's, and tested."""
    text = Printer(generation="C1").log(ROWS, devices=False)
    (run,) = read(text, stated=Stated(4, "reduce_scatter")).runs
    assert (run.world_size, run.world_size_basis) == (4, "stated by the user")
    assert (run.collective, run.collective_basis) == ("reduce_scatter", "stated by the user")
    assert any("do not fit" in note for note in run.notes)


@pytest.mark.parametrize(
    ("printer", "stated", "known", "words"),
    [
        (Printer(generation="C1"), 16, (8, "factor"), "the bus bandwidths fit 8 ranks"),
        (Printer("all_gather", generation="C1"), 16, (8, "count + factor"), "size / count says 8 ranks"),
        (Printer(ranks=1024, generation="C1"), 512, (None, None), "the bus bandwidths fit 10"),
    ],
)
def test_ranks_that_the_rows_know_better_are_not_the_stated_ones(
    printer: Printer, stated: int, known: tuple[int | None, str | None], words: str
) -> None:
    """--world-size fills what the log leaves open; it replaces nothing and rules out no collective."""
    rows = points([1 << k for k in range(14, 31, 2)])
    (run,) = read(printer.log(rows, devices=False), stated=Stated(stated)).runs
    assert (run.world_size, run.world_size_basis) == known
    assert run.collective == printer.collective
    assert any(note.startswith(f"--world-size {stated} is not used: {words}") for note in run.notes)


def test_ranks_that_the_rows_allow_are_the_stated_ones() -> None:
    """Two decimals of a bandwidth do not tell 1024 ranks from 1023."""
    text = Printer(ranks=1024, generation="C1").log(points([1 << k for k in range(14, 31, 2)]), devices=False)
    (run,) = read(text, stated=Stated(1024)).runs
    assert (run.world_size, run.world_size_basis, run.notes) == (1024, "stated by the user", ())


@pytest.mark.parametrize("lines", [HEAD, FOOT, [*HEAD, *FOOT], ["# Avg bus bandwidth    : 3"]])
def test_a_log_without_rows_is_a_reject(lines: list[str]) -> None:
    """Not an average of 0, not an empty run."""
    found = read(*lines)
    assert not found.runs
    assert found.rejects


def test_in_place_first_is_read_as_such() -> None:
    """mscclpp-test prints the in-place group first, and no type."""
    rows = [" ".join([*w[:2], *w[9:13], *w[5:9]]) for w in (row.split() for row in BODY)]
    names = "#       size         count     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong"
    (run,) = read("# mscclpp-test kernel num: 3", "#     in-place     out-of-place", names, *rows).runs
    assert run.tool == "mscclpp-test"
    assert [(row.placement, round(row.seconds * 1e6, 2)) for row in run.rows[:2]] == [
        ("in", round(ROWS[0].in_us, 2)), ("out", round(ROWS[0].out_us, 2))
    ]  # fmt: skip
    assert run.collective is None


def test_mscclpp_prints_one_side_only_where_the_other_is_not_run() -> None:
    """The blanks behind its rows are lost with the line end, and no row is cut."""
    names = "#       size         count     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong"
    rows = [" ".join([*w[:2], *w[9:13]]) for w in (row.split() for row in BODY)]
    head = ["# mscclpp-test kernel num: 3", "#     in-place     out-of-place", names]
    found = read(*head, *rows, "# Out of bounds values : 0 OK")
    assert not found.rejects
    assert found.runs[0].complete
    both = [" ".join([*w[:2], *w[9:13], *w[5:9]]) for w in (row.split() for row in BODY)]
    assert [reject.line for reject in read(*head, *both[:3], rows[3]).rejects] == [7]
