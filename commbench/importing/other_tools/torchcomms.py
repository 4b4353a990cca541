"""Tables and CSV files of the performance tests of torchcomms: the old seven columns, and the new with the set-up.

The size is what a rank sends: one rank's block of all_gather and gather, and of scatter, the whole message elsewhere.
The time is rank 0's mean over calls. BusBw of all_gather, gather and scatter counts one block only, and old builds
print GiB/s: both follow from size and time.
"""

from collections.abc import Mapping, Sequence

from commbench.collectives import COLLECTIVES
from commbench.importing.figures import whole
from commbench.importing.foreign import Line, Reading, Reject, Run, Stated
from commbench.importing.other_tools.collecting import Collector, gathered
from commbench.importing.other_tools.foreign_names import our_collective, our_dtype
from commbench.importing.other_tools.printed import Printed, figure, is_rate, reported, seconds
from commbench.importing.other_tools.torchcomms_tables import RANKS, RATE, SIZE, TIMES, TITLE, Table, header_of, tables
from commbench.importing.stating import collective, ranks
from commbench.sweepfile.records import Mode
from commbench.units import GIB, GIGABYTE_PER_SECOND, MICROSECOND

NAME = "torchcomms"
MARKS = ("SendMsgSize(B)",)  # one of them stands in any such log
_FIGURES = ("(B)", "(us)", "(GB/s)", "Iters", "Ranks", "SyncInterval")
_BLOCKS = {"all_gather", "gather", "scatter"}
_DECIMAL, _BINARY = GIGABYTE_PER_SECOND * MICROSECOND, GIB * MICROSECOND


def opens(text: str) -> bool:
    """Whether a line begins what this reader reads: a title or the header of a table."""
    return TITLE.search(text) is not None or header_of(text) is not None


def recognises(lines: Sequence[Line]) -> bool:
    """The header of a table, in columns or with commas."""
    return any(header_of(line.text) is not None for line in lines)


def read(lines: Sequence[Line], stated: Stated) -> Reading:
    """Each operation under each header as a run."""
    return gathered(_run(table, stated) for table in tables(lines))


def _run(table: Table, stated: Stated) -> tuple[Run | None, list[Reject]]:
    found = our_collective(table.operation) if table.operation else None
    if table.operation is not None and (found is None or found == "send_recv"):
        reason = f"{table.operation} is a ping-pong or no collective of ours: it is not imported"
        return None, [Reject(line, reason, matters=False) for line, _ in table.body]
    name = collective(stated, found, "named")
    counts = {whole(cells[RANKS]) for _, cells in table.body if not isinstance(cells, str)}
    told = counts.pop() if len(counts) == 1 else None
    world = ranks(stated, told or None, "column")
    block = name.collective in _BLOCKS
    collected = Collector(world.number, block)
    readings: list[tuple[float, Printed, Printed]] = []
    if not table.body:
        collected.reject(table.line, "no row stands under the header")
    for line, cells in table.body:
        if isinstance(cells, str):
            collected.reject(line, cells)
        elif name.collective is None:
            collected.reject(line, "which operation it is stands in a title that is not in the log: state --collective")
        elif told is None:
            collected.reject(line, "the rows of one table have several numbers of ranks")
        else:
            _take(line, cells, name.collective, collected, readings)
    collected.unmix()
    notes = ["rank 0's mean over calls; nothing is checked"]
    if block:
        notes.append("the printed size is one rank's block; the message is that times the ranks")
    if name.collective and world.number and (unit := _unit_note(name.collective, world.number, readings)):
        notes.append(unit)
    cut = bool(table.body) and isinstance(table.body[-1][1], str)
    settings: dict[str, object] = {"operation": table.operation, "buffers": "same"}
    if table.asynchronous is not None:
        settings["asynchronous"] = table.asynchronous
    run = Run(
        tool=NAME,
        variant="torchcomms CSV" if table.separated else "torchcomms table",
        collective=name.collective,
        collective_basis=name.basis,
        world_size=world.number,
        world_size_basis=world.basis,
        mode=_mode(table),
        rows=collected.rows,
        left_out=tuple(collected.left_out),
        lines=collected.lines,
        complete=False if cut else None,
        reason="the log is cut" if cut else None,
        settings=settings,
        notes=(*notes, *world.notes, *name.notes),
    )
    return (run if collected.rows or collected.left_out else None), collected.rejects


def _mode(table: Table) -> Mode | None:
    """Isolated where every call is waited for, pipelined where none is; old tables do not say."""
    intervals = {cells.get("SyncInterval") for _, cells in table.body if not isinstance(cells, str)}
    return {"1": "isolated", "0": "pipelined"}.get(intervals.pop() or "") if len(intervals) == 1 else None  # type: ignore[return-value]


def _take(
    line: int,
    cells: Mapping[str, str],
    name: str,
    collected: Collector,
    readings: list[tuple[float, Printed, Printed]],
) -> None:
    size = whole(cells[SIZE])
    column = next(column for column in TIMES if column in cells)
    time, bus = figure(cells[column]), figure(cells[RATE])
    if size is None or time is None or bus is None:
        collected.reject(line, "a figure is no number")
        return
    readings.append((float(size), time, bus))
    dtype, op = cells.get("DType"), cells.get("ReduceOp")
    collected.row(
        line,
        size,
        seconds(time.value),
        dtype=our_dtype(dtype) if dtype else None,
        op={"product": "prod"}.get(op, op) if op and op != "n/a" else None,
        moves=COLLECTIVES[name].moves,
        statistic="rank 0",
        reported={column: reported(word) if column.endswith(_FIGURES) else word for column, word in cells.items()},
    )


def _unit_note(name: str, world: int, readings: Sequence[tuple[float, Printed, Printed]]) -> str | None:
    """What BusBw means: 10^9 or 2^30 bytes per second, by the factors that the tool itself uses."""
    # its reduce has the factor of sharding collectives, where nccl-tests has 1
    factor = COLLECTIVES["all_gather" if name == "reduce" else name].bus_factor(world)
    rows = [(size * factor, time, bus) for size, time, bus in readings if size]
    if not rows or not factor:
        return None
    decimal, binary = (
        all(is_rate(bus.times(unit), size, time) for size, time, bus in rows) for unit in (_DECIMAL, _BINARY)
    )
    if binary and not decimal:
        return "BusBw is GiB/s though labelled GB/s"
    if not binary and not decimal:
        return "BusBw does not follow from size and time"
    return "BusBw counts one rank's block only" if name in _BLOCKS else None
