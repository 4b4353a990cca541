"""Read the CSV and JSON of rccl-tests' reporter, the old one (until mid 2025) and the new.

Each record is one placement of one size. The old CSV names one column less than its rows have, so the columns are
taken by the header only where both have the same length, and else by their known order from both ends.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import isfinite

from commbench.importing.figures import NOT_CHECKED, half_digit, number, whole
from commbench.importing.foreign import Line, Reading, Reject, Skipped, Stated
from commbench.importing.json_pieces import documents
from commbench.importing.nccl_family.banner import program_of
from commbench.importing.nccl_family.kinds import Figures, Kind
from commbench.importing.nccl_family.layout import Layout
from commbench.importing.nccl_family.runs import reading_of
from commbench.importing.nccl_family.table import Table
from commbench.sweepfile.records import Placement

NAME = "rccl-tests reporter"
_COLLECTIVES = (
    "AllReduce", "AllGather", "ReduceScatter", "Reduce", "Broadcast", "AlltoAll", "AllToAll", "AlltoAllv", "SendRecv",
    "Gather", "Scatter", "HyperCube",
)  # fmt: skip
MARKS = ("umCycle", "umcycle", *(f'"{name}"' for name in _COLLECTIVES), *(f",{name}," for name in _COLLECTIVES))

_LAYOUT = Layout(("size", "type", "redop"), ("time", "algbw", "busbw", "#wrong"), ("out", "in"))
_LAST = ("size", "type", "redop", "inplace", "time", "algbw", "busbw", "wrong")
_MIDDLE = {4: ("nodes", "ranks", "rankspernode", "gpusperrank"), 1: ("gpus",)}
_OBJECT = 40  # lines within which the first object of a JSON ends
_ROW = re.compile(rf'\s*\d+\s*,\s*"?(?:{"|".join(_COLLECTIVES)})"?\s*,', re.IGNORECASE)
_NAMES = {"name": "collective", "#wrong": "wrong", "in_place": "inplace", "errors": "wrong", "cycle": "numcycle"}

_Record = Mapping[str, str]


def recognises(lines: Sequence[Line]) -> bool:
    """A header or record of the CSV, or an object of the JSON."""
    return _json_start(lines) is not None or any(_ROW.match(line.text) or _is_header(line.text) for line in lines)


def read(lines: Sequence[Line], stated: Stated) -> Reading:
    """All runs: records that follow each other with the same collective and ranks."""
    start = _json_start(lines)
    runs = _Runs()
    record: _Record | str = {}
    for line, record in _from_csv(lines) if start is None else _from_json(islice(lines, start, None)):
        if isinstance(record, str):
            runs.refuse(line, record)
        else:
            runs.take(line, record)
    if isinstance(record, str) and runs.tables:  # the last one is cut, so the program did not write the end
        runs.tables[-1].banner.ended = False
        runs.tables[-1].rejects.append(runs.rejects.pop())
    reading = reading_of(runs.tables, stated)
    rejects = tuple(sorted((*reading.rejects, *runs.rejects), key=lambda r: r.line or 0))
    return Reading(reading.runs, rejects, by_line=start is None)


def _json_start(lines: Sequence[Line]) -> int | None:
    """The place of the line where the first object of the JSON begins, alone or below other text."""
    for place, line in enumerate(lines):
        if line.text.lstrip()[:1] in ("{", "["):
            start = "\n".join(line.text for line in islice(lines, place, place + _OBJECT))
            if _is_object(start):
                return place
    return None


def _is_header(text: str) -> bool:
    low = text.lower()
    return "numcycle" in low and "busbw" in low and "," in low and "{" not in low


def _is_object(text: str) -> bool:
    low = text.lower()
    return '"busbw"' in low and ('"inplace"' in low or '"numcycle"' in low)


def _from_csv(lines: Iterable[Line]) -> Iterator[tuple[int, _Record | str]]:
    names: list[str] | None = None
    for line in lines:
        if _is_header(line.text):
            names = [_name(cell) for cell in _cells(line.text)]
        elif _ROW.match(line.text) or (names and re.match(r"\s*\d+\s*,", line.text)):
            yield line.number, _by_place(_cells(line.text), names)


def _cells(text: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([text], skipinitialspace=True), [])]
    except csv.Error:
        return []


def _by_place(cells: list[str], names: list[str] | None) -> _Record | str:
    """The cells of a row under their names, or why they have none."""
    if names is not None and len(cells) == len(names):
        return dict(zip(names, cells, strict=True))
    middle = _MIDDLE.get(len(cells) - 2 - len(_LAST))
    if middle is None:
        wanted = f"the {len(names)} that the header names" if names else "11 or 14"
        return f"a record of {len(cells)} cells where {wanted} are expected"
    return dict(zip(("numcycle", "collective", *middle, *_LAST), cells, strict=True))


def _from_json(lines: Iterable[Line]) -> Iterator[tuple[int, _Record | str]]:
    text = "\n".join(line.text for line in lines).strip()
    if text.startswith("["):
        text = text[1:].removesuffix("]")
    count = 0
    for document in documents(text, "results"):
        if document.cut:
            yield count + 1, f"the JSON is cut or broken after {count} records"
        elif isinstance(document.value, dict):
            count += 1
            yield count, {_name(str(key)): _word(value) for key, value in document.value.items()}


def _name(key: str) -> str:
    low = key.strip().lower()
    return _NAMES.get(low, low)


def _word(value: object) -> str:
    return ("0", "1")[value] if isinstance(value, bool) else "" if value is None else str(value)[:80]


@dataclass
class _Runs:
    """The tables while records come in."""

    tables: list[Table] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    _identity: tuple[str | None, ...] = ()

    def refuse(self, line: int, reason: str) -> None:
        self.rejects.append(Reject(line, reason))

    def take(self, line: int, record: _Record) -> None:
        """One record; what identifies a run and changes begins a new one."""
        identity = tuple(record.get(name) for name in ("collective", "nodes", "ranks", "gpusperrank", "gpus"))
        if identity != self._identity or not self.tables:
            self._identity = identity
            self.tables.append(_table(record))
        table = self.tables[-1]
        size, side = whole(record.get("size", "")), _placement(record.get("inplace", ""))
        if size is None or side is None:
            self.refuse(line, "a record whose size or placement cannot be read")
            return
        table.first, table.last = table.first or line, line
        figures = _figures(record)
        if isinstance(figures, str):
            self.refuse(line, f"the record of {size} B: {figures}")
        elif size == 0:
            table.left_out.append(Skipped(line, 0, "a row of size 0: nothing was sent"))
        else:
            kind = table.rows.kind_number(Kind(record.get("type") or None, record.get("redop") or None, None))
            cycle = whole(record.get("numcycle", "0")) or 0
            table.rows.add(line, size, -1, kind, cycle, side, figures)


def _table(record: _Record) -> Table:
    table = Table(layout=_LAYOUT, headed=True)
    banner = table.banner
    banner.tool, banner.reporter = "rccl-tests", True
    banner.program = program_of(record.get("collective", ""))
    ranks = whole(record.get("ranks", "")) or 1
    each = whole(record.get("gpusperrank", "")) or whole(record.get("gpus", "")) or 1
    known = any(name in record for name in ("ranks", "gpus"))
    if known and 0 < ranks * each < 1 << 22:
        banner.counted = (ranks * each, ranks)
        nodes = whole(record.get("nodes", ""))
        if nodes is not None and 0 < nodes < 1 << 20:
            banner.settings["nodes"] = nodes
    return table


def _placement(word: str) -> Placement | None:
    return {"0": "out", "1": "in", "false": "out", "true": "in", "out": "out", "in": "in"}.get(word.lower())  # type: ignore[return-value]


def _figures(record: _Record) -> Figures | str:
    try:
        time = number(record["time"])
        algbw, busbw = number(record["algbw"]), number(record["busbw"])
        wrong = None if record.get("wrong", "N/A") in NOT_CHECKED or not record["wrong"] else number(record["wrong"])
    except (KeyError, ValueError):
        return "a figure is missing or no number"
    if not all(map(isfinite, (time, algbw, busbw))) or not 0 <= time <= 1e15:
        return "a figure is no number"
    return Figures(
        float(f"{record['time']}e-6") if re.fullmatch(r"[\d.]+", record["time"]) else time / 1e6,
        algbw, busbw, half_digit(record["time"]) * 1e-6, half_digit(record["algbw"]), half_digit(record["busbw"]),
        None if wrong is None or not isfinite(wrong) else max(0, round(min(wrong, 9e18))),
        None if wrong is None or not isfinite(wrong) else wrong == 0, None,
    )  # fmt: skip
