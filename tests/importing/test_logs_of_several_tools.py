"""Logs that hold the tables of several tools, writers or jobs, and tables inside other things."""

import json

import pytest

from commbench.importing.foreign import Reading, Stated
from commbench.importing.imported import Imported
from commbench.importing.reading import read_content
from tests.importing.logs import FOLDER, points, refused

OSU = (
    "# OSU MPI Allreduce Latency Test v7.4\n# Size       Avg Latency(us)\n"
    "4                       7.91\n8                       8.02\n"
)
OTHER = OSU.replace("7.91", "17.91").replace("8.02", "18.02")
POINTS, OTHERS = [(4, 7.91), (8, 8.02)], [(4, 17.91), (8, 18.02)]
INVENTED = sorted(path.name for path in (FOLDER / "invented").iterdir() if path.suffix == ".log")


def _read(text: str) -> Reading:
    return read_content("log", text.encode(), Stated()).reading


def _behind(prefix: str, text: str) -> str:
    return "".join(f"{prefix}{line}\n" for line in text.splitlines())


def _alternating(*texts: str) -> str:
    return "".join(f"{line}\n" for lines in zip(*(text.splitlines() for text in texts), strict=True) for line in lines)


@pytest.mark.parametrize(
    "prefix",
    [
        *("[1,0]<stdout>:", "[prterun-hostA-4711@1,0]<stdout>: ", "[0] ", "0: ", " 12: ", "[default0]:", "node1:0: "),
        *("[pod/x-0/y] ", "2026-03-03T10:11:12.123456Z ", "(head, rank=0, pid=3808) [1,0]<stdout>:", "\x1b[32m"),
        *(
            "hostA: ",
            "hostA:0: ",
            "[hostA] ",
            "node[0]: ",
            "10.0.0.4: ",
            "nccl-launcher-x7k2p launcher ",
            "hostA\t",
            "> ",
        ),
        *("2026-03-03T10:11:12.123456Z 01O ", "[1,0][hostA:4711]<stdout>: ", "INFO: "),
    ],
)
@pytest.mark.parametrize(
    "log",
    [
        *("osu-7.4-tails.log", "omb-py-7.4.log", "imb-2021.7.log", "ds_bench.log", "param.log", "torchcomms.log"),
        *("deepspeed-logger-two-summaries.log", "nccom-sizes-and-average.log", "stas00.log"),
    ],
)
def test_a_launchers_prefix_changes_nothing(prefix: str, log: str) -> None:
    """The same runs, from the same lines, with the same rejects."""
    text = (FOLDER / "invented" / log).read_text()
    plain, wrapped = _read(text), _read(_behind(prefix, text))
    assert plain.runs
    assert [(run.collective, run.world_size, points(run), run.lines) for run in wrapped.runs] == [
        (run.collective, run.world_size, points(run), run.lines) for run in plain.runs
    ]
    assert [reject.line for reject in wrapped.rejects] == [reject.line for reject in plain.rejects]


def test_tables_of_two_streams_are_never_glued() -> None:
    """Prefixes say whose line it is."""
    found = _read(_alternating(_behind("[1,0]<stdout>:", OSU), _behind("[2,0]<stdout>:", OTHER)))
    assert [points(run) for run in found.runs] == [POINTS, OTHERS]
    assert refused(found) == []


def test_two_jobs_in_one_terminal_are_refused() -> None:
    """Without prefixes nothing tells whose row it is: sizes repeat and fall inside the table."""
    found = _read(_alternating(OSU, OTHER))
    assert found.runs == ()
    assert set(refused(found)) == {1, 5, 6, 7, 8}


def test_a_table_that_starts_again_is_repeated() -> None:
    """Without a header between them, two passes are cycles of the same points."""
    (run,) = _read(OSU + "".join(OTHER.splitlines(keepends=True)[2:])).runs
    assert [(row.message_bytes, row.cycle) for row in run.rows] == [(4, 0), (8, 0), (4, 1), (8, 1)]


def test_every_tool_of_a_log_reads_its_own_table() -> None:
    """Tables have no end: one tool must not go on into the next one's rows."""
    parts = [(FOLDER / "invented" / name).read_text() for name in INVENTED]
    alone = [(run.tool, run.collective, points(run)) for part in parts for run in _read(part).runs]
    together = [(run.tool, run.collective, points(run)) for run in _read("\n".join(parts)).runs]
    assert len(alone) > 30
    assert sorted(map(repr, together)) == sorted(map(repr, alone))


def test_tables_in_strings_of_json_are_read() -> None:
    """A CI system keeps the output of a program in a field; each line of JSON may be a document of its own."""
    for name in ("imb-2021.7.log", "nccom-two-tables-gib.log", "ds_bench.log", "stas00.log"):
        text = (FOLDER / "invented" / name).read_text()
        expected = [points(run) for run in _read(text).runs]
        for document in (json.dumps({"rc": 0, "stdout": text}), json.dumps([{"x": 1, "out": text}], indent=1)):
            assert [points(run) for run in _read(document).runs] == expected
    gather = OSU.replace("Allreduce", "Allgather")
    lines = "".join(json.dumps({"np": ranks, "stdout": gather}) + "\n" for ranks in (4,))
    (run,) = _read(lines).runs
    assert (run.world_size, points(run)) == (4, [(16, 7.91), (32, 8.02)])


def test_ranks_beside_several_logs_are_those_of_each() -> None:
    """The innermost object around a string counts."""
    gather = OSU.replace("Allreduce", "Allgather")
    document = [{"ranks": 4, "stdout": gather}, {"ranks": 8, "stdout": gather.replace("7.91", "9.99")}]
    runs = _read(json.dumps(document)).runs
    assert [(run.world_size, points(run)[0]) for run in runs] == [(4, (16, 7.91)), (8, (32, 7.91))] or [
        (run.world_size, points(run)[0]) for run in runs
    ] == [(4, (16, 7.91)), (8, (32, 9.99))]


def test_a_table_without_its_header_is_refused_line_by_line() -> None:
    """Somebody's grep removed the lines with a sign."""
    assert refused(_read(OSU.replace("# Size       Avg Latency(us)\n", ""))) == [2, 3]


def test_an_intruder_inside_a_row_costs_that_row() -> None:
    """Both parts are refused; the rows around them are read."""
    found = _read(f"{OSU}16                      host01:812:901 [3] NCCL INFO Channel 00\n 11.84\n32      9.01\n")
    assert points(found.runs[0]) == [*POINTS, (32, 9.01)]
    assert refused(found) == [5, 6]


def test_a_crash_below_the_rows_is_said() -> None:
    """What was printed stands; the run is not complete."""
    (run,) = _read(OSU + "[host:1] Signal: Segmentation fault (11)\n").runs
    assert (points(run), run.complete) == (POINTS, False)


def test_reduce_of_another_library_is_another_operation() -> None:
    """OpenSHMEM's reduce reaches every rank."""
    found = _read(OSU.replace("MPI Allreduce", "OpenSHMEM Reduce"))
    assert (found.runs, refused(found)) == ((), [])
    assert len(found.rejects) == 2


def test_line_ends_marks_and_blanks_do_not_matter() -> None:
    """CRLF, a byte-order mark, tabs."""
    for text in ("\ufeff" + OSU.replace("\n", "\r\n"), OSU.replace("       ", "\t"), OSU.replace("#", " #")):
        assert points(_read(text).runs[0]) == POINTS


def test_a_table_without_title_needs_the_users_word() -> None:
    """The head of a ds_bench log is cut: rows are refused unless operation and ranks are stated."""
    text = "\n".join((FOLDER / "invented" / "ds_bench.log").read_text().splitlines()[2:6])
    assert refused(_read(text)) == [3, 4]
    (run,) = read_content("log", text.encode(), Stated(8, "all_reduce")).reading.runs
    assert (run.collective_basis, run.world_size_basis) == ("stated by the user", "stated by the user")
    assert points(run) == [(1 << 26, 410.0), (1 << 27, 12345.0)]


def test_a_table_of_nccl_tests_ends_the_table_above_it() -> None:
    """Its rows begin with a size too: they are no cut rows of the other tool."""
    nccl = (
        "# nThread 1 nGpus 2 minBytes 1048576 maxBytes 1048576 step: 2(factor) iters: 20 validation: 1\n"
        "#     size    count   type  redop  root    time  algbw  busbw #wrong    time  algbw  busbw #wrong\n"
        "   1048576   262144  float    sum    -1   20.00  52.43  52.43      0   20.00  52.43  52.43      0\n"
    )
    for text in (OSU + nccl, nccl + OSU):
        found = _read(text)
        assert {run.tool: run.complete for run in found.runs}["osu"] is None
        assert sum(len(run.rows) for run in found.runs) == 4
        assert all("footer" in reject.reason for reject in found.rejects)  # the nccl-tests table is cut there


def test_nvbandwidth_is_refused_with_its_reason() -> None:
    """It times copies over links, which no collective is made of."""
    for text in (
        "nvbandwidth Version: v0.7\nBuilt from Git version:\n\nmemcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)\n",
        json.dumps({"nvbandwidth": {"version": "v0.7", "testcases": []}}, indent=1),
    ):
        found = _read(text)
        assert found.runs == ()
        assert ["no collective" in reject.reason for reject in found.rejects] == [True]


@pytest.mark.parametrize(("label", "warned"), [(None, True), ("nvlink", False)])
def test_two_logs_that_nothing_tells_apart_are_named(label: str | None, warned: bool) -> None:
    """A fit would take UCC on and UCC off for one setting, unless they have labels."""
    stated = Stated(label=label)
    logs = [read_content(name, text.encode(), stated) for name, text in (("on.log", OSU), ("off.log", OTHER))]
    found = [words for words in Imported.of(logs, stated, None).warnings() if words.startswith("on.log and off.log")]
    assert bool(found) is warned


def test_a_field_of_more_ranks_than_there_are_is_no_number_of_ranks() -> None:
    """A sweep file could not hold it."""
    found = _read(json.dumps({"num_procs": 10**40, "stdout": OSU}))
    assert [run.world_size for run in found.runs] == [None]


def _nccl_json(results: int) -> str:
    rows = [
        {"size": 4 << k, "count": 1 << k, "type": "float", "redop": "sum", "root": "-1",
         "out_of_place": {"time": 20.0, "alg_bw": (4 << k) / 2e4, "bus_bw": (4 << k) / 2e4, "nwrong": 0.0}}
        for k in range(results)
    ]  # fmt: skip
    whole = {"version": 3, "args": ["all_reduce_perf"], "nccl_version": 22904, "config": {}, "results": rows}
    end = {"out_of_bounds": {"count": 0, "okay": "true"}, "end_time": "2026-07-10 09:00:03"}
    return json.dumps({**whole, **end}) + "\n"


def test_a_json_beside_text_is_read_and_takes_no_lines_from_it() -> None:
    """Its rows are numbered by their place in it, which is no line of the file."""
    for text in (OSU + _nccl_json(9), _nccl_json(9) + OSU, "started\n" + OSU + "[a, b]\n" + _nccl_json(9) + "done\n"):
        found = _read(text)
        assert sorted((run.tool, len(run.rows)) for run in found.runs) == [("nccl-tests", 9), ("osu", 2)]
        assert found.rejects == ()


def test_hosts_before_every_line_part_two_tables() -> None:
    """pdsh puts the host before each line, in the order in which they come."""
    found = _read(_alternating(_behind("hostA: ", OSU), _behind("hostB: ", OTHER)))
    assert [points(run) for run in found.runs] == [POINTS, OTHERS]


def test_levels_of_a_logger_part_no_table() -> None:
    """A warning between the rows is written by the same process."""
    title, head, *rows = OSU.splitlines()
    log = [f"INFO: {title}", f"INFO: {head}", f"INFO: {rows[0]}", f"WARNING: {rows[1]}"]
    assert [points(run) for run in _read("\n".join(log) + "\n").runs] == [POINTS]


def test_two_lists_of_the_rccl_reporter_behind_a_text_log_are_read_whole() -> None:
    """`cat run.log a.json b.json | commbench import -`."""
    records = [
        {"numCycle": 0, "name": "AllReduce", "nodes": 1, "ranks": 8, "ranksPerNode": 8, "gpusPerRank": 1,
         "size": size, "type": "float", "redop": "sum", "inPlace": 0, "time": 20.0, "algBw": size / 2e4,
         "busBw": size / 2e4 * 1.75, "wrong": "0"} for size in (1024, 2048)
    ]  # fmt: skip
    for indent in (None, 1):
        text = json.dumps(records, indent=indent) + "\n"
        found = _read(OSU + text + text)
        assert sorted((run.tool, len(run.rows)) for run in found.runs) == [("osu", 2), ("rccl-tests", 4)]
        assert found.rejects == ()


def test_a_log_that_is_given_twice_is_said() -> None:
    """A pattern of the shell and a name beside it."""
    log = read_content("run.log", OSU.encode(), Stated())
    warnings = [list(Imported.of([log] * times, Stated(), None).warnings()) for times in (1, 2)]
    assert ["given 2 times" in " ".join(words) for words in warnings] == [False, True]


@pytest.mark.parametrize(
    "log", ["013-ag-h200-16-double-launcher-prefix.log", "031-sendrecv-a100-8-all-wrong-patched-rows.log"]
)
def test_prefixes_inside_a_string_of_json_or_behind_blanks_change_nothing(log: str) -> None:
    """A CI system keeps what mpirun printed; a person pastes it into a block of code."""
    text = (FOLDER / log).read_text()
    (plain,) = _read(text).runs
    for wrapped in (json.dumps({"job": 7, "stdout": text}), _behind("    ", text)):
        (run,) = _read(wrapped).runs
        assert (run.collective, run.world_size, points(run)) == (plain.collective, plain.world_size, points(plain))


def test_two_jobs_inside_a_string_of_json_are_told_apart() -> None:
    """All its rows have one line, and each is a row of its own still."""
    text = (FOLDER / "041-ar-two-jobs-interleaved.log").read_text()
    plain, opened = _read(text), _read(json.dumps({"stdout": text}))
    assert [points(run) for run in opened.runs] == [points(run) for run in plain.runs]


@pytest.mark.parametrize(
    "prefix",
    [
        *('2026-03-03T10:11:{:02d}Z {{app="nccl"}} ', "2026-03-03T10:11:{:02d}+0000 node-1 nccl[123]: "),
        *("<13>1 2026-03-03T10:11:{:02d}.1Z node-1 nccl 123 - - ", "17725326{:02d}123\t", "INFO     nccl:run.py:12 "),
        *("2026-03-03T10:11:{:02d}.123000+00:00 stream/abc/1 ", "[Rank 0] ", "rank0 | ", "[  123.4567{:02d}] "),
        *("[node01:0] ", "MPI rank 0: "),
    ],
)
@pytest.mark.parametrize("log", ["osu-7.4-tails.log", "imb-2021.7.log", "../055-ar-gb10-2-newformat-cut.log"])
def test_what_nobody_foresaw_before_every_line_is_taken_off(prefix: str, log: str) -> None:
    """The comments of a tool begin a line; what stands before them, and looks alike before all others, is wrapping."""
    text = (FOLDER / "invented" / log).read_text()
    wrapped = "".join(prefix.format(number % 60) + line + "\n" for number, line in enumerate(text.splitlines()))
    assert [(run.collective, points(run), run.lines) for run in _read(wrapped).runs] == [
        (run.collective, points(run), run.lines) for run in _read(text).runs
    ]


@pytest.mark.parametrize("pair", [("[Rank 0] ", "[Rank 1] "), ("10.0.0.4: ", "10.0.0.123: "), ("rank0 | ", "rank1 | ")])
def test_writers_that_only_a_number_tells_apart_are_told_apart(pair: tuple[str, str]) -> None:
    """A number before a line is the writer's unless it is a time."""
    found = _read(_alternating(_behind(pair[0], OSU), _behind(pair[1], OTHER)))
    assert [points(run) for run in found.runs] == [POINTS, OTHERS]
