"""Output of nccom-test, the benchmark of AWS Neuron: its tables, with the sizes that failed, and its JSON report.

The header says which time it is (`time(us)`: the median of the calls). Bandwidths are labelled GB/s and were GiB/s in
older versions: which of the two follows from size and time. Operation and ranks stand on the command line only, so
without one the figures tell what fits.
"""

import re
from collections.abc import Sequence

from commbench.collectives import collective_named
from commbench.dtypes import ELEMENT_BYTES
from commbench.importing.figures import whole
from commbench.importing.foreign import Line, Reading, Reject, Run, Stated
from commbench.importing.other_tools.collecting import Collector, gathered
from commbench.importing.other_tools.factors import SHARDING, fitting, sole
from commbench.importing.other_tools.foreign_names import our_dtype
from commbench.importing.other_tools.nccom_figures import average_note, unit_note
from commbench.importing.other_tools.nccom_tables import COMMAND, HEADER, Table, report, results, tables
from commbench.importing.other_tools.printed import Printed, figure, reported, seconds
from commbench.importing.stating import Name, Ranks, collective, ranks

NAME = "nccom-test"
MARKS = ("count(elems)",)  # one of them stands in any such log
_RANKS = re.compile(r"(?:^|\s)(?:-r|--nworkers)[\s=]{1,3}(\d{1,7})(?=\s|$)")
_OPERATIONS = frozenset(
    {*("all_reduce", "allr", "all_gather", "allg", "reduce_scatter", "redsct", "alltoall", "sendrecv")}
)
_PERMUTE = "permute"
_STATISTICS = {
    "time(us)": "median over calls",
    "time:p50(us)": "median over calls",
    "time:avg(us)": "mean over calls",
    "time:min(us)": "fastest call",
    "time:max(us)": "slowest call",
}
_POSSIBLE = ("all_reduce", *SHARDING, "send_recv")


def opens(text: str) -> bool:
    """Whether a line begins what this reader reads: the header of a table, or the command above it."""
    return HEADER.search(text) is not None or COMMAND.search(text) is not None


def recognises(lines: Sequence[Line]) -> bool:
    """The header of a table, or a JSON report."""
    return any(HEADER.search(line.text) is not None for line in lines) or bool(results(lines))


def read(lines: Sequence[Line], stated: Stated) -> Reading:
    """Each table as a run, or the report as one."""
    return gathered(_run(table, stated) for table in list(tables(lines)) or list(report(lines)))


def _run(table: Table, stated: Stated) -> tuple[Run | None, list[Reject]]:
    if _PERMUTE in (table.command or "").split():
        reason = "permute sends along pairs of its own: it is no collective of ours and not imported"
        return None, [Reject(line.number, reason, matters=False) for line in table.body]
    collected = Collector()
    figures: list[tuple[Printed, Printed]] = []
    for line in table.body:
        pair = _take(line, table, collected)
        if pair is not None:
            figures.append(pair)
    collected.unmix()
    world, name, span = _identity(table, figures, stated)
    footer: dict[str, object] = {}
    notes: list[str] = [*world.notes, *name.notes]
    unit = unit_note(collected.rows)
    notes += [unit] if unit else []
    if table.average is not None:
        average, problem = average_note(table.average, [bus for _, bus in figures])
        footer = {"average": average, "average_is_of_these_rows": problem is None}
        notes += [problem] if problem else []
    if not table.body:
        collected.reject(table.line, "no row stands under the header")
    run = Run(
        tool=NAME,
        variant="nccom-test",
        collective=name.collective,
        candidates=name.candidates,
        collective_basis=name.basis,
        world_size=world.number,
        world_size_basis=world.basis,
        world_size_range=span if world.number is None else None,
        backend="neuron",
        rows=collected.rows,
        left_out=tuple(collected.left_out),
        lines=collected.lines,
        complete=True if table.average is not None else None,
        footer=footer,
        notes=tuple(notes),
    )
    return (run if collected.rows else None), collected.rejects


def _identity(
    table: Table, figures: list[tuple[Printed, Printed]], stated: Stated
) -> tuple[Ranks, Name, tuple[int, int] | None]:
    """Ranks, collective and the span of ranks: from the command, the user, or what the bandwidths allow."""
    words = (table.command or "").split()
    operation = next((word for word in words if word in _OPERATIONS), None)
    counted = _RANKS.search(table.command or "")
    named = collective_named(operation).name if operation else None
    told = int(counted[1]) if counted else stated.world_size
    fits = fitting(_POSSIBLE, figures, told).collectives if figures else ()
    name = collective(stated, named or sole(fits), "command line" if named else "factor", fits)
    span = fitting((name.collective,) if name.collective else fits, figures).ranks if figures else None
    world = ranks(stated, int(counted[1]) if counted else None, "command line", span)
    return world, name, span


def _take(line: Line, table: Table, collected: Collector) -> tuple[Printed, Printed] | None:
    """Take one row; its two bandwidths, None where the row is none."""
    words = line.text.split()
    size = whole(words[0])
    if size is None:
        collected.reject(line.number, "the size is no whole number")
        return None
    if len(words) > 1 and figure(words[1]) is None:
        collected.leave_out(line.number, size, " ".join(words[1:]))
        collected.reject(line.number, line.text.strip())
        return None
    if len(words) != len(table.columns):
        collected.reject(line.number, f"{len(words)} of {len(table.columns)} columns: the row is cut or mixed")
        return None
    values = dict(zip(table.columns, words, strict=True))
    column = next((name for name in table.columns if name.startswith("time") and name.endswith("(us)")), "")
    time, rate, bus = (figure(values.get(name, "")) for name in (column, "algbw(GB/s)", "busbw(GB/s)"))
    if time is None or rate is None or bus is None:
        collected.reject(line.number, "a figure is no number")
        return None
    collected.row(
        line.number,
        size,
        seconds(time.value),
        dtype=our_dtype(values.get("type", "")),
        statistic=_STATISTICS.get(column, column),
        reported={name: reported(word) for name, word in values.items()},
        notes=_count_note(size, values),
    )
    return rate, bus


def _count_note(size: int, values: dict[str, str]) -> tuple[str, ...]:
    """Whether the count is that of the whole message."""
    count, element = whole(values.get("count(elems)", "")), ELEMENT_BYTES.get(our_dtype(values.get("type", "")) or "")
    if count is None or element is None or count * element == size:
        return ()
    return (f"the count of {count} elements is not that of the printed size",)
