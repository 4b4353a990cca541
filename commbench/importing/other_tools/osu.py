"""Logs of the OSU micro-benchmarks: the C programs (5.x to 7.x), OMB-Py, and the demos of mpi4py that follow them.

A title starts a run; under it stand one header per datatype and its rows. The printed time is the mean over ranks of
the time of a call (mpi4py: rank 0's). A size is the whole vector of reductions and broadcasts, and one rank's block of
the others, whose message is that times the ranks: the ranks are not in the log unless a launch line stands above.
"""

import re
from collections.abc import Iterator, Sequence

from commbench.importing.foreign import Line, Reading, Reject, Run, Stated
from commbench.importing.json_strings import opened, ranks_beside
from commbench.importing.launch_lines import only, ranks_launched
from commbench.importing.other_tools.collecting import Collector, gathered
from commbench.importing.other_tools.mpi_names import mpi_datatype
from commbench.importing.other_tools.osu_columns import Columns, Values, header, looks_like_data, row
from commbench.importing.other_tools.osu_tables import PROGRAM, Table, plain, tables, title_of
from commbench.importing.other_tools.printed import decimals, seconds
from commbench.importing.stating import Ranks, collective, ranks
from commbench.sweepfile.records import Mode

NAME = "osu"
MARKS = ("Latency Test", "Bandwidth Test", "Rate Test", "OMB Python MPI")  # one of them stands in any such log
_DATATYPE = re.compile(r"#?\s*Datatype: (\w+)")
_STATISTICS = {"osu": "mean over ranks", "omb-py": "mean over ranks", "mpi4py": "rank 0"}
_VARIANTS = {"osu": "OSU C", "omb-py": "OMB-Py", "mpi4py": "mpi4py demo"}
_MODES: dict[str, Mode] = {"osu": "isolated", "omb-py": "pipelined", "mpi4py": "pipelined"}
_DECIMALS = 2  # every build prints two, so that a last row with fewer is cut
_FLOAT = 4  # bytes of MPI_FLOAT


def opens(text: str) -> bool:
    """Whether a line begins what this reader reads: a title, or the launch of a program above it."""
    bare = plain(text)
    return title_of(bare) is not None or ranks_launched(bare, PROGRAM) is not None


def recognises(lines: Sequence[Line]) -> bool:
    """A title of the OSU benchmarks or of their Python relatives, alone or inside a JSON string."""
    return any(title_of(plain(line.text)) is not None for line in opened(lines))


def read(lines: Sequence[Line], stated: Stated) -> Reading:
    """Each table as a run; tables of what is no collective are rejected row by row, which does not matter."""
    return gathered(_run(table, lines, stated) for table in tables(lines))


def _world(table: Table, lines: Sequence[Line], stated: Stated) -> Ranks:
    document = getattr(lines, "text", "")
    if document.lstrip()[:1] in ("{", "["):
        rows = [line.text for line in table.body if line.text[:1].isdigit()]
        beside = ranks_beside(document, table.title, *rows[:1])
        if beside is not None:
            return ranks(stated, beside, "json field")
    return ranks(stated, only(table.launched), "launch line")


def _values(table: Table) -> Iterator[tuple[int, str | None, Values | str]]:
    """Line, MPI datatype, and the values of each line that looks like data, or why it cannot be read."""
    columns: Columns | None = None
    datatype: str | None = None
    for line in table.body:
        if not line.text[:1].isdigit():
            named = _DATATYPE.match(line.text)
            datatype = named[1] if named else datatype
            columns = header(line.text) or columns
        elif looks_like_data(line.text):
            yield line.number, datatype, row(line.text, columns) if columns else "no header names the columns"


def _run(table: Table, lines: Sequence[Line], stated: Stated) -> tuple[Run | None, list[Reject]]:
    operation, found = table.operation, list(_values(table))
    if operation.collective is None:
        reason = f"{table.name} times no collective: it is not imported"
        return None, [Reject(line, reason, matters=False) for line, _, _ in found]
    world, name = _world(table, lines, stated), collective(stated, operation.collective, "named")
    collected = Collector(world.number, operation.block)
    if not found:
        collected.reject(table.line, f"no row stands under the title {table.title!r}")
    scale = _bytes_of_size(table, found)
    cut = False
    for place, (line, datatype, values) in enumerate(found):
        if isinstance(values, str):
            collected.reject(line, values)
            cut = place == len(found) - 1
        elif values.time is None:
            collected.reject(line, "a table of bandwidths without a time")
        elif place == len(found) - 1 and decimals(values.time_text) < _usual_decimals(found[:-1]):
            collected.reject(line, f"the row is cut: {values.time_text} has fewer decimals than the tool prints")
            cut = True
        else:
            collected.row(
                line,
                values.size * scale,
                seconds(values.time.value),
                dtype=mpi_datatype(datatype) if datatype else None,
                op=operation.operator,
                moves=operation.moves,
                correct=values.correct,
                statistic=_STATISTICS[table.family],
                reported=values.reported | ({"Datatype": datatype} if datatype else {}),
            )
    collected.unmix()
    failed = any(row.correct is False for row in collected.rows)
    run = Run(
        tool=table.family,
        variant=_VARIANTS[table.family],
        version=table.version,
        collective=name.collective,
        collective_basis=name.basis,
        world_size=world.number,
        world_size_basis=world.basis,
        mode=None if operation.nonblocking else _MODES[table.family],
        rows=collected.rows,
        left_out=tuple(collected.left_out),
        lines=collected.lines,
        complete=False if cut or failed or table.aborted else None,
        reason="a check failed, and the program ends then" if failed else "the log is cut" if cut else None,
        settings=_settings(table),
        notes=_notes(table, scale) + world.notes + name.notes,
    )
    return (run if collected.rows or collected.left_out else None), collected.rejects


def _usual_decimals(before: Sequence[tuple[int, str | None, Values | str]]) -> int:
    texts = [values.time_text for _, _, values in before if isinstance(values, Values)]
    return decimals(texts[-1]) if texts else _DECIMALS


def _bytes_of_size(table: Table, found: Sequence[tuple[int, str | None, Values | str]]) -> int:
    """Bytes of one unit of the size column: old reduce_scatter programs print elements of MPI_FLOAT."""
    sizes = [values.size for _, _, values in found if isinstance(values, Values)]
    old = (table.version or "9").split(".")[0] in ("3", "4", "5", "6")
    in_elements = table.operation.collective == "reduce_scatter" and table.family == "osu" and old
    return _FLOAT if in_elements and sizes and 0 < min(sizes) < _FLOAT else 1


def _settings(table: Table) -> dict[str, object]:
    settings: dict[str, object] = {"operation": table.operation.name, "buffers": "same"}
    if table.operation.persistent:
        settings["persistent"] = True
    if table.device:
        settings["memory"] = table.device.lower()
    return settings


def _notes(table: Table, scale: int) -> tuple[str, ...]:
    operation, notes = table.operation, [table.operation.note] if table.operation.note else []
    if operation.nonblocking:
        notes.append("the time is Pure Comm., the call and its wait with nothing beside; Overall is in `reported`")
    if operation.block:
        notes.append("the printed size is one rank's block; the message is that times the ranks")
    if scale != 1:
        notes.append("old reduce_scatter programs print elements of MPI_FLOAT: sizes are times 4 bytes")
    if table.family != "osu":
        notes.append("calls are timed back to back, without a barrier between them; nothing is checked")
    return tuple(notes)
