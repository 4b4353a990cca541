"""From the tables of a log to its runs: split what is printed into one another, prove, test, say what is missing."""

from collections import Counter
from collections.abc import Iterator, Sequence

from commbench.importing.foreign import Reading, Reject, Run, Stated
from commbench.importing.nccl_family.banner import Banner, Device, program_of
from commbench.importing.nccl_family.checks import (
    convert_units,
    mean_busbw,
    note_algbw,
    note_busbw,
)
from commbench.importing.nccl_family.devices import (
    distinct,
    groups,
    listed,
    model,
    processes_with_rank_0,
    ranks_per_host,
)
from commbench.importing.nccl_family.layout import Layout
from commbench.importing.nccl_family.proof import BY_COMMAND, Evidence, prove
from commbench.importing.nccl_family.rows import RowTable
from commbench.importing.nccl_family.series import Split, split
from commbench.importing.nccl_family.table import Table
from commbench.importing.nccl_family.unheaded import cut_head, pieces
from commbench.importing.nccl_family.verdict import completeness, footer_of, judge, mode_of, variant

_BACKENDS = {"nccl-tests": "nccl", "rccl-tests": "rccl", "mscclpp-test": "mscclpp"}
_MOST_RUNS = 256
ADVICE = (
    "each process ran alone with one rank: the binary was built without MPI (make MPI=1), so nothing was sent "
    "between them"
)


def reading_of(tables: Sequence[Table], stated: Stated) -> Reading:
    """All runs of a log with what was refused, in the order of their lines."""
    logged: dict[str, set[int]] = {}
    for table in tables:
        logged.setdefault(table.stream, set()).update(table.banner.ranks)
    runs: list[Run] = []
    rejects: list[Reject] = []
    alone: set[str] = set()
    for table in [piece for whole in tables for piece in pieces(whole)]:
        if table.rows and table.layout is not None:
            if refusal := cut_head(table):
                rejects.append(refusal)
            made, refused = _runs_of(table, table.layout, stated, logged[table.stream])
            runs += made
            alone.update(table.stream for run in made if run.world_size == 1)
            rejects += refused
        else:
            rejects += _empty(table)
    if len(alone) > 1:
        rejects.append(Reject(None, f"{len(alone)} runs of one rank in one log: {ADVICE}"))
    runs.sort(key=lambda run: run.lines)
    rejects.sort(key=lambda reject: reject.line or 0)
    return Reading(tuple(runs), tuple(rejects))


def _empty(table: Table) -> Iterator[Reject]:
    """What a table without rows leaves behind."""
    yield from table.rejects
    yield from table.orphans
    banner = table.banner
    for skipped in table.left_out[:1]:
        yield Reject(skipped.line, f"a table without any row that can be used: {skipped.reason}")
    yield from _failures(banner)
    if banner.failures or table.rejects or table.left_out:
        return
    if banner.footed:
        average = f", average {banner.averages[0]:g}" if banner.averages and banner.averages[0] is not None else ""
        yield Reject(None, f"a footer that belongs to no row of this file{average}")
    elif table.headed or banner.program or banner.copies:
        what = f" of {banner.program}" if banner.program else ""
        yield Reject(None, f"a run{what} without any row")


def _failures(banner: Banner) -> Iterator[Reject]:
    for line, words in banner.failures[:20]:
        yield Reject(line or None, f"the program failed: {words}")


def _runs_of(table: Table, layout: Layout, stated: Stated, logged: set[int]) -> tuple[list[Run], list[Reject]]:
    rows, banner = table.rows, table.banner
    copies = max(banner.copies, processes_with_rank_0(banner.devices))
    found = _series(rows, banner, copies)
    parts = [rows]
    whole: tuple[int, int] | None = (table.first or rows.lines[0], table.last or rows.lines[len(rows) - 1])
    notes: list[str] = []
    rejects = list(table.rejects)
    if found is not None and found.ambiguous and copies < 2:
        return [], [*rejects, *_refused(rows)]
    if found is not None and len(found.series) <= _MOST_RUNS:
        whole = None
        parts = [_part(rows, series.rows) for series in found.series]
        if copies < 2:
            words = f"{len(parts)} runs printed into one another; they were told apart by their sizes"
            rejects.append(Reject(table.first, f"lines {table.first} to {table.last}: {words}"))
            notes.append(words)
        else:
            notes.append(f"one of {len(parts)} processes that printed into one log, told apart by the order of rows")
    elif found is not None:
        rejects.append(Reject(table.first, f"rows of more than {_MOST_RUNS} runs printed into one another: refused"))
        return [], rejects
    runs = [_run(table, layout, part, stated, logged, copies, tuple(notes), whole) for part in parts]
    if found is not None and found.ambiguous and any(run.world_size != 1 for run in runs):
        return [], [*table.rejects, *_refused(rows)]
    if copies > 1 and all(run.world_size == 1 for run in runs):
        rejects.append(Reject(table.first, f"{len(runs)} runs of one rank in one table: {ADVICE}"))
    proved = all(run.footer.get("average_is_of_these_rows") for run in runs)
    rejects += [Reject(line, reason, matters=not proved) for line, reason, _ in table.orphans]
    for run in runs:
        if run.footer.get("average_is_of_these_rows") is False:
            mean = mean_busbw(run.rows) if isinstance(run.rows, RowTable) else None
            beside = f" ({mean:.6g})" if mean is not None else ""
            printed = run.footer["average"]
            words = f"the average below, {printed:g}, is not that of the rows{beside}"
            rejects.append(Reject(run.lines[1], f"{words}: rows are missing or it is another's"))
        elif run.complete is False and not rejects:
            rejects.append(Reject(run.lines[1], f"the log ends here without the tool's footer: {run.reason}"))
    if copies < 2 and (more := max(len(banner.averages), len(banner.out_of_bounds)) - 1) > 0:
        rejects.append(Reject(runs[-1].lines[1], f"{more} more footers stand below one table: rows are missing"))
    rejects += _failures(banner)
    return runs, rejects


def _refused(rows: RowTable) -> Iterator[Reject]:
    for line in sorted(set(rows.lines)):
        yield Reject(line, "rows of several runs printed into one another, which run wrote it cannot be told: refused")


def _series(rows: RowTable, banner: Banner, copies: int) -> Split | None:
    """The series of a table where they overlap, by printed row; None where one program printed it."""
    if banner.reporter:  # a file of its own that one process writes, each placement on its line
        return None
    lines, sizes, kinds = rows.lines, rows.sizes, rows.kind_numbers
    firsts: list[int] = []
    for place, line in enumerate(lines):  # a string of a JSON document has one line for all its rows
        if not place or line != lines[place - 1] or sizes[place] != sizes[place - 1] or place - firsts[-1] == 2:
            firsts.append(place)
    found = split([sizes[place] for place in firsts], [kinds[place] for place in firsts], _step(banner))
    if not found.overlapping and not (copies > 1 and len(found.series) == copies):
        return None
    ends = [*firsts[1:], len(rows)]
    for series in found.series:
        series.rows[:] = [place for row in series.rows for place in range(firsts[row], ends[row])]
    return found


def _step(banner: Banner) -> tuple[str, int] | None:
    for how in ("factor", "bytes"):
        amount = banner.settings.get(f"step_{how}")
        if isinstance(amount, int) and amount > (how == "factor"):
            return how, amount
    return None


def _part(rows: RowTable, places: Sequence[int]) -> RowTable:
    seen: Counter[tuple[int, int, int]] = Counter()
    cycles = []
    sizes, kinds, placements = rows.sizes, rows.kind_numbers, rows.placements
    for place in places:
        key = (sizes[place], kinds[place], placements[place])
        cycles.append(seen[key])
        seen[key] += 1
    return rows.chosen(places, cycles)


def _run(
    table: Table,
    layout: Layout,
    rows: RowTable,
    stated: Stated,
    logged: set[int],
    copies: int,
    notes: tuple[str, ...],
    lines: tuple[int, int] | None,
) -> Run:
    banner = table.banner
    footer = footer_of(table, rows, copies)
    rows.times_are_wall = "cputime" not in layout.columns
    unit_notes = convert_units(rows, layout)
    devices = distinct(banner)
    proof = prove(rows, _evidence(banner, layout, devices, stated, logged))
    said = [
        *notes,
        *banner.notes,
        *proof.notes,
        *unit_notes,
        *note_algbw(rows, layout, proof),
        *note_busbw(rows, proof),
    ]
    if proof.world_size == 1:
        said.append("one rank: nothing crossed a link, so these times say nothing about one")
    if "cputime" in layout.columns and not rows.statistic.startswith("CPU"):
        rows.statistic = "CPU time, mean over ranks"
    rows.with_op = proof.collective in (None, "all_reduce", "reduce", "reduce_scatter")
    if banner.unnamed:
        said.append(
            f"behind {len(banner.unnamed)} rows stand columns that no header names, not read: {banner.unnamed[0]!r}"
        )
    said += judge(rows, layout, footer)
    complete, reason = completeness(table, footer)
    settings = dict(banner.settings)
    return Run(
        tool=banner.tool,
        variant=variant(banner, layout),
        version=banner.version,
        collective=proof.collective,
        candidates=proof.candidates,
        collective_basis=proof.collective_basis,
        world_size=proof.world_size,
        world_size_basis=proof.world_size_basis,
        world_size_range=proof.world_size_range,
        ranks_per_host=ranks_per_host(devices) if listed(banner, devices) == proof.world_size else None,
        groups=groups(devices),
        mode=mode_of(settings),
        backend=_BACKENDS.get(banner.tool, "nccl"),
        device=model(banner.devices),
        rows=rows,
        left_out=tuple(table.left_out),
        lines=lines or (rows.lines[0], rows.lines[len(rows) - 1]),
        complete=complete,
        reason=reason,
        footer=footer,
        settings=settings,
        environment={
            **({"hosts": hosts} if (hosts := list(dict.fromkeys(device.host for device in devices))) else {}),
            **({"libraries": dict(banner.libraries)} if banner.libraries else {}),
        },
        notes=tuple(said),
    )


def _evidence(banner: Banner, layout: Layout, devices: list[Device], stated: Stated, logged: set[int]) -> Evidence:
    name = banner.names
    command = banner.command
    named = program_of(name) if name else program_of(command.program) if command else None
    largest = max((device.rank for device in devices), default=-1) + 1
    return Evidence(
        banner=banner,
        layout=layout,
        named=named,
        counted=banner.counted,
        named_basis="named" if name else BY_COMMAND,
        listed=listed(banner, devices),
        at_least=max(1, 1 if groups(devices) else largest),
        logged=tuple(sorted(banner.ranks or logged)),
        launched=command.ranks if command and banner.copies < 2 else None,
        stated_ranks=stated.world_size,
        stated_collective=stated.collective,
    )
