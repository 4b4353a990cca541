"""Which tool wrote a log, by its content, and the runs of every tool that did.

A file may hold runs of several tools. Each reader takes its own lines; what one of them could not read and another
did is no reject, and rows that two readers claim belong to the first of them in READERS.
"""

import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from types import ModuleType

from commbench.importing.foreign import Line, Reading, Reject, Run, Stated
from commbench.importing.json_strings import OpenedLines
from commbench.importing.streams import apart
from commbench.importing.territories import shares

# In the order of precedence. A reader may have MARKS, words of which one stands in any log of its tool: a log of many
# megabytes is then not read line by line for tools that never wrote it. One with `opens`, which says whether a line
# begins what it reads, gets the lines of one writer at a time, and none of those that other tools' tables begin above.
READERS = (
    "nccl_family.json_schemas", "nccl_family.rccl_reporter", "other_tools.ubx_bench", "nccl_family.text",
    *(f"other_tools.{name}" for name in (
        "osu", "imb", "param", "ds_bench", "deepspeed_log", "deepspeed_calls", "nccom", "stas00", "torchcomms",
        "torch_bench", "nvbandwidth",
    )),
)  # fmt: skip

# A plain row of nccl-tests, which holds no mark of anybody; nearly all of a large log is such rows.
_ROW = re.compile(r"^ *\d+ +\d+ +[a-z]\w* [-\w .]*\n", re.MULTILINE | re.ASCII)

UNKNOWN = "no line of any format that can be read (docs/importing.md lists them)"


def readers() -> Iterator[ModuleType]:
    """The reader modules."""
    for name in READERS:
        yield import_module(f"commbench.importing.{name}")


def read(lines: Sequence[Line], text: str, stated: Stated) -> Reading:
    """All runs of a log.

    Args:
        text: the log as it stands, for the words that readers mark their tools with.
    """
    found = _readings(lines, text, stated)
    if text.lstrip()[:1] in ("{", "[") and "\\n" in text:
        inside = OpenedLines(lines, text)
        again = _readings(inside, "\n".join(line.text for line in inside), stated)
        found = max(found, again, key=_count)
    if not found:
        return Reading(rejects=(Reject(None, UNKNOWN),))
    reading = found[0] if len(found) == 1 else _together(found)
    if not reading.runs and not reading.rejects:
        return Reading(rejects=(Reject(None, UNKNOWN),), warnings=reading.warnings)
    return reading


def _readings(lines: Sequence[Line], text: str, stated: Stated) -> list[Reading]:
    """What each reader that knows its tool in the log makes of it."""
    knowing = []
    telling = _ROW.sub("", text)
    for reader in readers():
        marks: tuple[str, ...] = getattr(reader, "MARKS", ())
        if (not marks or any(mark in telling for mark in marks)) and reader.recognises(lines):
            knowing.append(reader)
    parted = {reader.NAME: reader.opens for reader in knowing if hasattr(reader, "opens")}
    share = shares(lines, parted) if parted and len(knowing) > 1 else {}
    found: list[Reading] = []
    for reader in knowing:
        mine = share.get(reader.NAME, lines)
        parts = apart(mine, reader.recognises) if hasattr(reader, "opens") else [mine]
        found += [reader.read(part, stated) for part in parts]
    return found


def _count(readings: Sequence[Reading]) -> int:
    return sum(len(run.rows) for reading in readings for run in reading.runs)


def _together(readings: Sequence[Reading]) -> Reading:
    runs: list[Run] = []
    rejects: dict[tuple[int | None, str], Reject] = {}
    claimed: set[int] = set()
    taken: list[tuple[int, int]] = []
    for reading in readings:
        if not reading.by_line:
            runs += reading.runs
            continue
        mine = {line for run in reading.runs for line in _row_lines(run)}
        if mine & claimed:
            mine = set()
            kept = [run for run in reading.runs if not _row_lines(run) & claimed]
        else:
            kept = list(reading.runs)
        claimed |= mine or {line for run in kept for line in _row_lines(run)}
        runs += kept
        taken += [run.lines for run in kept]
    for reading in readings:
        own = {run.lines for run in reading.runs}
        others = [span for span in taken if span not in own]
        for reject in reading.rejects:
            within = (
                reading.by_line
                and reject.line is not None
                and any(first <= reject.line <= last for first, last in others)
            )
            if not within:
                rejects.setdefault((reject.line, reject.reason), reject)
    runs.sort(key=lambda run: run.lines)
    warnings = tuple(dict.fromkeys(words for reading in readings for words in reading.warnings))
    return Reading(tuple(runs), tuple(sorted(rejects.values(), key=lambda reject: reject.line or 0)), warnings)


def _row_lines(run: Run) -> set[int]:
    return {row.line for row in run.rows}
