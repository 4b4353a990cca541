"""Logs of PARAM's comms.py: lines of `COMMS-RES-<operation>-<dtype><tag>` under headers that name the columns.

The time is the median over ranks (p50), the percentiles beside it are over ranks too. The size is the whole message;
nElementsPerRank is a rank's share of it for the operations that shard, so that the two tell the ranks.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from commbench.collectives import COLLECTIVES
from commbench.dtypes import ELEMENT_BYTES
from commbench.importing.figures import whole
from commbench.importing.foreign import Line, Reading, Reject, Run, Stated
from commbench.importing.other_tools.collecting import Collector, gathered
from commbench.importing.other_tools.foreign_names import our_collective
from commbench.importing.other_tools.printed import (
    LONGEST_ROW,
    Printed,
    figure,
    is_rate,
    ranks_that_fit,
    reported,
    seconds,
)
from commbench.importing.stating import collective, ranks
from commbench.units import GIGABYTE_PER_SECOND, MICROSECOND

NAME = "param"
MARKS = ("COMMS-RES",)  # one of them stands in any such log
_HEADER = re.compile(r"COMMS-RES(?:-QUANT)?\s+(?P<names>(?:total-)?size \(B\).*)$")
_ROW = re.compile(
    r"COMMS-RES-(?P<quantised>QUANT-)?(?P<operation>[a-z]\w*)-(?P<dtype>[A-Za-z]\w*)(?P<tag>\S*)\s+(?P<values>\d.*)$"
)
_NAMES = re.compile(r"(?:total-)?size \(B\)|P95 Latency\(us\): Quant|\S+")
_USUAL = (
    *("total-size (B)", "nElementsPerRank", "Time(us):p50", "p75", "p95", "Min", "Max"),
    *("AlgBW(GB/s)", "BusBW(GB/s)", "TotalTime(us):p50"),
)
_PER_GB = GIGABYTE_PER_SECOND * MICROSECOND  # bytes in a microsecond at 1 GB/s
_POINT_TO_POINT = ("pt2pt", "send", "recv")
_SUFFIXES = ("_base", "_single", "_v", "v")


@dataclass
class _Point:
    """One row of one operation."""

    line: int
    size: int
    values: dict[str, str]
    dtype: str | None
    tag: str
    elements: int | None = None
    time: Printed | None = None
    algorithm: Printed | None = None
    bus: Printed | None = None


@dataclass
class _Table:
    """The rows under one header."""

    operation: str
    points: list[_Point] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    backend: str | None = None


def opens(text: str) -> bool:
    """Whether a line begins what this reader reads: all its lines have one word."""
    return "COMMS-RES" in text


def recognises(lines: Sequence[Line]) -> bool:
    """A line of results."""
    return any("COMMS-RES" in line.text for line in lines)


def read(lines: Sequence[Line], stated: Stated) -> Reading:
    """The rows of each operation under each header as a run."""
    return gathered(_run(table, stated) for table in _tables(lines))


def _tables(lines: Sequence[Line]) -> Iterator[_Table]:
    names: tuple[str, ...] | None = None
    table: _Table | None = None
    for line in lines:
        if "COMMS-RES" not in line.text:
            continue
        if len(line.text) > LONGEST_ROW:
            table = table or _Table("")
            table.rejects.append(Reject(line.number, "a line of results that is too long to be one"))
        elif header := _HEADER.search(line.text):
            names = tuple(_NAMES.findall(header["names"]))
            if table is not None:
                yield table
            table = None
        elif row := _ROW.search(line.text):
            if table is None or table.operation != row["operation"]:
                if table is not None:
                    yield table
                table = _Table(row["operation"])
            point = _point(line, row, names)
            if isinstance(point, str):
                matters = row["quantised"] is None and row["operation"] not in _POINT_TO_POINT
                table.rejects.append(Reject(line.number, point, matters))
            else:
                table.points.append(point)
        else:
            table = table or _Table("")
            table.rejects.append(Reject(line.number, "a line of results that cannot be read"))
    if table is not None:
        yield table


def _point(line: Line, row: re.Match[str], names: tuple[str, ...] | None) -> _Point | str:
    """The figures of a row, or why it is none."""
    if row["quantised"]:
        return "a quantised run: what crosses the wire is not the printed size"
    if row["operation"] in _POINT_TO_POINT:
        return "point-to-point is no collective: it is not imported"
    words = row["values"].split()
    if names is None or len(words) not in (len(names), len(names) + 1):
        if names is not None or len(words) not in (9, 10):
            return f"{len(words)} values where {len(names) if names else '9 or 10'} are expected"
        names = _USUAL
    values = dict(zip(names, words, strict=False))
    size = whole(words[0])
    time = next((figure(word) for name, word in values.items() if name.endswith("(us):p50")), None)
    if size is None or time is None:
        return "no size, or no time at p50"
    dtype, tag = _dtype(row["dtype"], row["tag"])
    algorithm, bus = (figure(values.get(name, "")) for name in ("AlgBW(GB/s)", "BusBW(GB/s)"))
    elements = whole(values.get("nElementsPerRank", ""))
    return _Point(line.number, size, values, dtype, tag, elements, time, algorithm, bus)


def _dtype(word: str, tag: str) -> tuple[str | None, str]:
    """Our dtype and the tag, which may follow it with nothing between."""
    for name in sorted(ELEMENT_BYTES, key=len, reverse=True):
        if word.startswith(name):
            return name, word[len(name) :] + tag
    return None, word + tag


def _operation(name: str) -> str | None:
    return next((found for suffix in ("", *_SUFFIXES) if (found := our_collective(name.removesuffix(suffix)))), None)


def _run(table: _Table, stated: Stated) -> tuple[Run | None, list[Reject]]:
    found = _operation(table.operation)
    if found is None or not table.points:
        reason = f"{table.operation} is no collective of ours: it is not imported"
        return None, table.rejects + [Reject(point.line, reason, matters=False) for point in table.points]
    counted, basis = _ranks_counted(table, found)
    figures = [(point.algorithm, point.bus) for point in table.points if point.algorithm and point.bus]
    vector = table.operation.endswith("v")
    allowed = None if vector or not figures else ranks_that_fit(found, figures)
    world = ranks(stated, counted, basis, allowed)
    name = collective(stated, found, "named")
    collected = Collector()
    for point in table.points:
        if point.time is None:
            continue
        rate = point.algorithm.times(_PER_GB) if point.algorithm else None
        wrong = rate is not None and point.size and not is_rate(rate, point.size, point.time)
        collected.row(
            point.line,
            point.size,
            seconds(point.time.value),
            dtype=point.dtype,
            moves=COLLECTIVES[found].moves,
            statistic="median over ranks",
            reported={column: reported(word) for column, word in point.values.items()},
            notes=("AlgBW is not the size over the time at p50",) if wrong else (),
        )
    collected.unmix()
    notes = ["p50, p75, p95, Min and Max are over ranks, not over calls"]
    if vector:
        notes.append(f"measured with {table.operation}; its BusBW is printed with a factor of 1")
    cut = any(reject.matters and (reject.line or 0) > table.points[-1].line for reject in table.rejects)
    tags = sorted({point.tag for point in table.points if point.tag})
    run = Run(
        tool=NAME,
        variant="PARAM",
        collective=name.collective,
        collective_basis=name.basis,
        world_size=world.number,
        world_size_basis=world.basis,
        world_size_range=allowed if world.number is None and found in _FACTORED else None,
        rows=collected.rows,
        left_out=tuple(collected.left_out),
        lines=collected.lines,
        settings={"operation": table.operation} | ({"tag": ", ".join(tags)} if tags else {}),
        complete=False if cut else None,
        reason="the log is cut" if cut else None,
        notes=(*notes, *world.notes, *name.notes),
    )
    return (run if collected.rows or collected.left_out else None), table.rejects + collected.rejects


_FACTORED = tuple(name for name, one in COLLECTIVES.items() if one.bus_factor(2) != one.bus_factor(3))


def _ranks_counted(table: _Table, found: str) -> tuple[int | None, str | None]:
    """Ranks by size over (elements of a rank x bytes of an element), where all rows agree."""
    if not COLLECTIVES[found].sharded or found in ("gather", "scatter"):
        return None, None
    counts = set()
    for point in table.points:
        share = (point.elements or 0) * ELEMENT_BYTES.get(point.dtype or "", 0)
        if share and point.size and point.size % share == 0:
            counts.add(point.size // share)
    return (counts.pop(), "count") if len(counts) == 1 and counts != {1} else (None, None)
