"""Tables of DeepSpeed's ds_bench and of the EleutherAI cookbook: `---- Performance of all_reduce on 8 devices ----`.

The description `16777216x4` (elements x bytes of one) gives the exact size, the unit of a time stands in its row. The
throughput of all_reduce counts the message twice; the size of all_gather is one rank's input. Rank 0, nothing checked.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from commbench.collectives import COLLECTIVES
from commbench.importing.figures import whole
from commbench.importing.foreign import Line, Reading, Reject, Run, Stated
from commbench.importing.other_tools.collecting import Collector, gathered
from commbench.importing.other_tools.foreign_names import our_collective
from commbench.importing.other_tools.printed import LONGEST_ROW, Printed, figure, is_rate, reported, seconds, size
from commbench.importing.stating import collective, ranks
from commbench.units import GIGABYTE_PER_SECOND, MICROSECOND

NAME = "ds_bench"
MARKS = ("Performance of ", "Throughput (G")  # one of them stands in any such log
_TITLE = re.compile(r"---- ?Performance of (?P<operation>\w[\w ]{0,30}?) on (?P<ranks>\d{1,7}) devices ?-*")
_HEADER = re.compile(
    r"Size \(Bytes\)\s+Description\s+Duration(?P<raw> ?\(us\))?\s+Throughput \((?P<unit>G[Bb]ps)\)\s+BusBW \(\w+\)"
)
_ROW = re.compile(
    r"(?:^|\s)(?P<size>\d[\d.]*(?: ?[KMGT]?B)?)\s+(?P<description>\S.*?)\s+(?P<time>\d[\d.]*)(?: ?(?P<unit>us|ms|s))?"
    r"\s+(?P<throughput>\d[\d.]*)\s+(?P<bus>\d[\d.]*)\s*$"
)
_EXACT = re.compile(r"(\d{1,19})x(\d{1,3})")
_CUT = re.compile(r"(?:^|\s)\d[\d.]*(?: [KMGT]?B)?\s+\d+x\d+\b")
_TIMES = {"us": 1.0, "ms": 1e3, "s": 1e6}  # in microseconds
_PER_UNIT = {"Gbps": GIGABYTE_PER_SECOND * MICROSECOND / 8, "GBps": GIGABYTE_PER_SECOND * MICROSECOND}  # bytes per us
_POINT_TO_POINT = "pt2pt"
_UNNAMED = "the title of this table is not in the log, and with it the operation: state --collective and --world-size"
_WARNING = re.compile(r"Ran out of GPU memory|Duration is 0|out of memory|Traceback|RuntimeError", re.IGNORECASE)


@dataclass
class _Table:
    """One block: an operation on a number of devices."""

    line: int
    operation: str | None = None
    ranks: int | None = None
    unit: str | None = None
    raw: bool = False
    body: list[Line] = field(default_factory=list)
    warnings: list[Line] = field(default_factory=list)


def opens(text: str) -> bool:
    """Whether a line begins what this reader reads: the title of a block, or the header of its table."""
    return _TITLE.search(text) is not None or _HEADER.search(text) is not None


def recognises(lines: Sequence[Line]) -> bool:
    """The title of a block, or the header of its table."""
    return any(opens(line.text) for line in lines)


def read(lines: Sequence[Line], stated: Stated) -> Reading:
    """Each block as a run."""
    return gathered(_run(table, stated) for table in _tables(lines))


def _tables(lines: Sequence[Line]) -> Iterator[_Table]:
    table: _Table | None = None
    for line in lines:
        if title := _TITLE.search(line.text):
            if table is not None:
                yield table
            table = _Table(line.number, title["operation"], int(title["ranks"]))
        elif header := _HEADER.search(line.text):
            if table is not None and table.unit is not None:
                yield table
                table = None
            table = table or _Table(line.number)
            table.unit, table.raw = header["unit"], header["raw"] is not None
        elif table is None:
            continue
        elif _WARNING.search(line.text):
            table.warnings.append(line)
        elif len(line.text) > LONGEST_ROW:
            continue
        elif table.unit and (_ROW.search(line.text) or _CUT.search(line.text)):
            table.body.append(line)
    if table is not None:
        yield table


def _named(operation: str) -> str | None:
    return our_collective(operation.replace(" ", "_").removesuffix("v"))


def _run(table: _Table, stated: Stated) -> tuple[Run | None, list[Reject]]:
    found = _named(table.operation) if table.operation else stated.collective
    if table.operation is None and found is None:
        return None, [Reject(line.number, _UNNAMED) for line in table.body]
    if found is None or table.operation == _POINT_TO_POINT:
        reason = f"{table.operation} is no collective of ours: it is not imported"
        return None, [Reject(line.number, reason, matters=False) for line in table.body]
    world, name = ranks(stated, table.ranks, "header"), collective(stated, _named(table.operation or ""), "named")
    block = found == "all_gather"
    collected = Collector(world.number, block)
    for line in table.body:
        problem = _take(line, table, found, collected)
        if problem:
            collected.reject(line.number, problem)
    collected.unmix()
    if not table.body:
        collected.reject(table.line, "no row stands in this block" + _why(table))
    notes = ["rank 0's mean of calls back to back; nothing is checked"]
    if block:
        notes.append("the printed size is one rank's input; the message is that times the ranks")
    if found == "all_reduce":
        notes.append("the printed throughput counts the message twice")
    if table.operation and table.operation.endswith("v"):
        notes.append(f"measured with {table.operation}")
    cut = bool(table.body) and any(reject.line == table.body[-1].number for reject in collected.rejects)
    run = Run(
        tool=NAME,
        variant=f"ds_bench {table.unit}{' raw' if table.raw else ''}",
        collective=name.collective,
        collective_basis=name.basis,
        world_size=world.number,
        world_size_basis=world.basis,
        mode="pipelined",
        rows=collected.rows,
        left_out=tuple(collected.left_out),
        lines=collected.lines,
        complete=False if cut or table.warnings else None,
        reason=table.warnings[0].text.strip() if table.warnings else "the log is cut" if cut else None,
        settings={"operation": table.operation or found, "buffers": "same"},
        notes=(*notes, *world.notes, *name.notes),
    )
    return (run if collected.rows or collected.left_out else None), collected.rejects


def _why(table: _Table) -> str:
    return f": {table.warnings[0].text.strip()}" if table.warnings else ""


def _take(line: Line, table: _Table, found: str, collected: Collector) -> str | None:
    """Take one row; return why it cannot be read."""
    row = _ROW.search(line.text)
    if row is None:
        return "the row is cut"
    time, throughput, bus = figure(row["time"]), figure(row["throughput"]), figure(row["bus"])
    unit = row["unit"] or ("us" if table.raw else None)
    exact, shown = _EXACT.fullmatch(row["description"]), size(row["size"])
    plain = whole(row["size"])
    if time is None or throughput is None or bus is None:
        return "a figure is no number"
    if unit is None:
        return "the time has no unit, neither in its row nor in the header"
    notes: list[str] = []
    element: int | None = None
    if exact:
        printed, element = int(exact[1]) * int(exact[2]), int(exact[2])
        if (plain is not None and plain != printed) or (shown and abs(shown.value - printed) > shown.half * 1.001 + 1):
            return f"size {row['size']} and description {row['description']} differ"
    elif plain is not None:
        printed = plain
    elif shown is not None:
        printed = round(shown.value)
        if shown.half:
            notes.append(f"the size is known as {row['size']} only, to within {round(shown.half)} bytes")
    else:
        return "the size cannot be read"
    if not _agrees(printed, time.times(_TIMES[unit]), throughput, found, table):
        notes.append("the throughput does not follow from size and time")
    collected.row(
        line.number,
        printed,
        seconds(time.value * _TIMES[unit]),
        op="sum" if COLLECTIVES[found].reduces else None,
        statistic="rank 0",
        reported={
            "Size (Bytes)": row["size"],
            "Description": row["description"],
            f"Duration ({unit})": reported(row["time"]),
            f"Throughput ({table.unit})": throughput.value,
            f"BusBW ({table.unit})": bus.value,
        }
        | ({"element_bytes": element} if element else {}),
        notes=tuple(notes),
    )
    return None


def _agrees(printed: int, time: Printed, throughput: Printed, found: str, table: _Table) -> bool:
    """Whether the throughput is size / time: twice that for all_reduce, and of n times the size for all_gather."""
    if found == "all_gather" and table.ranks is None:
        return True
    times = 2 if found == "all_reduce" else table.ranks or 1 if found == "all_gather" else 1
    return is_rate(throughput.times(_PER_UNIT[table.unit or "Gbps"]), float(printed * times), time)
