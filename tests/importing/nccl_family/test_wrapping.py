"""A log of nccl-tests gives the same rows through every launcher and log shipper, and with lines inside rows."""

import json
import re
from collections.abc import Callable

import pytest

from commbench.importing.foreign import Reading, Row, Stated
from commbench.importing.lines import Lines
from commbench.importing.nccl_family import text as nccl_text
from tests.importing.nccl_family.printing import Printer, points

ROWS = points([1 << k for k in range(10, 28, 3)])
PRINTER = Printer()
LOG = PRINTER.log(ROWS)
HEAD = [*PRINTER.banner(), *PRINTER.devices(), *PRINTER.header()]
BODY = [PRINTER.row(point) for point in ROWS]
FOOT = PRINTER.footer(ROWS)
INFO = "NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC/read"


def read(text: str | bytes) -> Reading:
    """What the reader of nccl-tests makes of a log."""
    lines = Lines(text.encode() if isinstance(text, str) else text)
    assert nccl_text.recognises(lines)
    return nccl_text.read(lines, Stated())


def rows(found: Reading) -> list[tuple[object, ...]]:
    """The rows of the only run, without their lines."""
    (run,) = found.runs
    return [_facts(row) for row in run.rows]


def _facts(row: Row) -> tuple[object, ...]:
    return row.message_bytes, row.seconds, row.placement, row.correct, row.dtype, row.op, tuple(row.reported.items())


EXPECTED = rows(read(LOG))

PREFIXES = [
    "[1,0]<stdout>:", "[1,0]<stdout>: ", "[prterun-host-4711@1,0]<stdout>: ", "Tue Mar  3 10:11:12 2026[1,0]<stdout>:",
    "[0] ", "0: ", " 0: ", "00: ", "0:", "[default0]:", "[rank0]: ", "node1:0: ", "[1,0]<stdout>:[default0]:",
    "(head, rank=0, pid=3808) [1,0]<stdout>:", "(RayWorker pid=123, ip=10.0.0.1) ", "[pod/perf/worker] ",
    "worker-0  | ", "host-a: ", "hosta.cluster.local: ", "[hostA]: ", "[hostA] ",
    "2026-03-03T10:11:12.123456Z ", "2026-03-03T10:11:12.123456789Z stdout F ", "2026-03-03 10:11:12,123 INFO ",
    "[2026-03-03 10:11:12] ", "2026-03-03 10:11:12,123 - INFO - ", "10:11:12 ", "[10:11:12] ",
    "Mar  3 10:11:12 hostA slurm[123]: ",
    "INFO:root:", "2026-03-03 10:11:12,123 - nccl - INFO - ",
    "2026-03-03 10:11:12.123 | INFO     | __main__:run:12 - ",
    "I0303 10:11:12.123456 4711 runner.py:88] ", "Mar 03 10:11:12 ", "1772532672.123 ", "[proxy:0:0@node1] ",
    "[1,0][gpu-node:4711]<stdout>: ", "10.0.0.4: ", "10.0.0.4:0: ", "nccl-launcher-x7k2p launcher ", "node-1\t",
    "2026-03-03T10:11:12.123456Z 01O ", "2026-03-03T10:11:12.123456Z 01O+",
    "node[0]: ", "node-1.example.com 0: ", "> ", ">> ", "    ", "\x1b[32m", "\x1b[0;1m0: ",
]  # fmt: skip


@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_prefix_changes_nothing(prefix: str) -> None:
    """Banner, device list, header, rows and footer are found behind it."""
    found = read("\n".join(prefix + line for line in LOG.split("\n")))
    assert rows(found) == EXPECTED
    assert not found.rejects
    assert found.runs[0].complete


WRAPPINGS: dict[str, Callable[[str], str | bytes]] = {
    "windows line ends": lambda log: log.replace("\n", "\r\n"),
    "old line ends": lambda log: log.replace("\n", "\r"),
    "byte-order mark": lambda log: "\ufeff" + log,
    "UTF-16": lambda log: log.encode("utf-16"),
    "tabs": lambda log: log.replace("  ", "\t"),
    "single blanks": lambda log: re.sub(" +", " ", log),
    "trailing blanks": lambda log: log.replace("\n", "   \n"),
    "blank lines": lambda log: log.replace("\n", "\n\n"),
    "no # signs": lambda log: log.replace("#", ""),
    "no line end": lambda log: log.rstrip("\n"),
    "progress bar before rows": lambda log: log.replace("\n        1024", "\n 50% |###   |\r        1024"),
    "docker": lambda log: "\n".join(json.dumps({"log": line + "\n", "stream": "stdout"}) for line in log.split("\n")),
    "cloud": lambda log: "\n".join(json.dumps({"textPayload": line, "severity": "INFO"}) for line in log.split("\n")),
    "ansible": lambda log: "lines: [\n" + ",\n".join(f"    {json.dumps(line)}" for line in log.split("\n")) + "\n]",
    "colours within": lambda log: log.replace("float", "\x1b[31mfloat\x1b[0m"),
}


@pytest.mark.parametrize("name", WRAPPINGS)
def test_a_wrapping_changes_nothing(name: str) -> None:
    """Line ends, encodings, blanks and envelopes."""
    found = read(WRAPPINGS[name](LOG))
    assert rows(found) == EXPECTED
    assert not found.rejects


def split_at(figures: int, row: str) -> tuple[str, str]:
    """A row before and behind its preamble and a number of figures."""
    match = re.match(rf"(?:\s*\S+){{{5 + figures}}}", row)
    assert match
    return match[0], row[match.end() :]


INTRUSIONS: dict[str, Callable[[str], str]] = {
    f"{what}, after {figures} figures": (
        lambda row, what=what, figures=figures, joint=joint: joint.join(split_at(figures, row))  # type: ignore[misc]
    )
    for what, joint in {
        "NCCL INFO glued": f"hostA:812:901 [3] {INFO}\n",
        "host that begins with a digit": f"0host:812:901 [3] {INFO}\n",
        "host of digits": f"10-0-0-1:812:901 [3] {INFO}\n",
        "NCCL INFO with a blank": f" hostA:812:901 [3] {INFO}\n",
        "two lines": "\nhostA:812:901 [3] NCCL WARN Call to connect returned 1 2 3 4\nhostB:1:2 [0] NCCL INFO x\n",
        "version": "NCCL version 2.29.4+cuda13.0\n",
        "verbs": "libibverbs: Warning: couldn't open config directory\n",
        "unknown words": "Loaded plugin libfoo.so in 3 ms\n",
        "line end": "\n",
        "an empty line": "\n\n",
        "alltoallv summary": "# NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY: mode=x ranks=8\n#   rank=0 send_bytes=12\n",
    }.items()
    for figures in (0, 4)
    if not (what.startswith("host") and figures == 4)
}


@pytest.mark.parametrize("name", INTRUSIONS)
def test_a_row_with_a_line_inside_is_put_together(name: str) -> None:
    """A library prints between the preamble and the figures, or between the placements."""
    found = read("\n".join([*HEAD, *map(INTRUSIONS[name], BODY), *FOOT]))
    assert rows(found) == EXPECTED
    assert not found.rejects


def test_prefixed_rows_are_put_together_within_their_rank() -> None:
    """Rank 0's row is cut by rank 0's own log and by rank 1's lines."""
    body = []
    for row in BODY:
        preamble, figures = split_at(0, row)
        body += [f"[0] {preamble}[0] hostA:1:2 [0] {INFO}", f"[1] hostB:1:2 [1] {INFO}", f"[0] {figures}"]
    found = read("\n".join([*(f"[0] {line}" for line in HEAD), *body, *(f"[0] {line}" for line in FOOT)]))
    assert rows(found) == EXPECTED


def test_streams_are_never_glued() -> None:
    """Two jobs line by line behind prefixes are two runs, each whole."""
    other = Printer("all_gather")
    both = zip(LOG.split("\n"), other.log(points([1 << k for k in range(10, 28, 3)], 33)).split("\n"), strict=True)
    found = read("\n".join(line for a, b in both for line in (f"[0] {a}", f"[1] {b}")))
    assert [run.collective for run in found.runs] == ["all_reduce", "all_gather"]
    assert all(run.complete for run in found.runs)
    assert not found.rejects


@pytest.mark.parametrize("before", ["{}:", "run.log:{}:", "{:6d}\t"])
def test_numbers_of_lines_are_no_ranks(before: str) -> None:
    """`grep -n` and `cat -n` put another number before every line, and none comes twice."""
    numbered = "\n".join(before.format(number) + line for number, line in enumerate(LOG.split("\n"), 1))
    assert rows(read(numbered)) == EXPECTED


def test_utf16_without_a_mark_is_read() -> None:
    """Some editors leave the mark away."""
    assert rows(read(LOG.encode("utf-16-le"))) == EXPECTED


@pytest.mark.parametrize("figures", [1, 2, 3, 5, 6])
def test_a_library_may_cut_a_row_anywhere(figures: int) -> None:
    """Also right behind a figure with decimals, without a blank between it and the name of the host."""
    row = BODY[2]
    at = [found.end() for found in re.finditer(r"\S+", row)][4 + figures]
    lines = [*HEAD, *BODY[:2], row[:at] + "hostA:812:901 [3] " + INFO, row[at:], *BODY[3:], *FOOT]
    assert rows(read("\n".join(lines))) == EXPECTED


def test_a_long_line_takes_no_square_of_its_length() -> None:
    """A row with half a million letters behind it: a pattern that begins anew at each of them would take hours."""
    assert rows(read("\n".join([*HEAD, BODY[0] + "#" + "9" * 500_000, *BODY[1:], *FOOT]))) == EXPECTED
