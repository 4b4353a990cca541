"""What `commbench import` tells a person: one line a run, then what was not read and why."""

from commbench.importing.imported import Imported, ImportedRun
from commbench.importing.nccl_family.rows import RowTable
from commbench.units import format_size

_MOST = 30  # rejects that are listed one by one


def summary(imported: Imported, written: str | None) -> str:
    """The runs, and where they went."""
    lines = [line for one in imported.runs for line in _run(one)]
    if not imported.runs:
        lines.append("nothing that can be used was found")
    elif written is not None:
        lines.append(f"{_many(len(imported.runs), 'sweep')} written to {written}")
    else:
        lines.append(f"{_many(len(imported.runs), 'sweep')} read; -J FILE keeps them")
    return "\n".join(lines) + "\n"


def warnings(imported: Imported) -> str:
    """What must be known about the runs, and the rejects with their lines."""
    lines = [f"note: {words}" for words in imported.warnings()]
    rejects = [(log.name, reject) for log in imported.logs for reject in log.reading.rejects]
    for name, reject in rejects[:_MOST]:
        place = f"{name}:{reject.line}" if reject.line is not None else name
        lines.append(f"{'rejected' if reject.matters else 'skipped'}: {place}: {reject.reason}")
    if len(rejects) > _MOST:
        lines.append(f"rejected: {len(rejects) - _MOST} more, --json lists them all")
    return "".join(f"{line}\n" for line in lines)


def _run(one: ImportedRun) -> list[str]:
    run = one.run
    rows = len(set(run.rows.keys())) if isinstance(run.rows, RowTable) else len({row.line for row in run.rows})
    name = run.collective or (" or ".join(run.candidates) + "?" if run.candidates else "unknown collective")
    if run.world_size is not None:
        ranks = f"{_many(run.world_size, 'rank')} ({run.world_size_basis})"
    elif run.world_size_range is not None:
        ranks = "{} to {} ranks fit".format(*run.world_size_range)
    else:
        ranks = "ranks not stated"
    sizes = run.rows.sizes if isinstance(run.rows, RowTable) else [row.message_bytes for row in run.rows]
    span = f", {format_size(min(sizes))} to {format_size(max(sizes))}" if sizes else ""
    state = {True: "complete", False: f"incomplete: {run.reason}", None: "no end is printed by this tool"}[run.complete]
    lines = [f"{one.file}:{run.lines[0]}-{run.lines[1]}  {run.variant}  {name}, {ranks}"]
    lines.append(f"    {_many(rows, 'row')}{span}; {state}")
    if run.left_out:
        lines.append(f"    {len(run.left_out)} left out: {run.left_out[0].reason}")
    if one.paths:
        lines.append(f"    path proved by NCCL's log: {'+'.join(sorted({path.kind for path in one.paths}))}")
    return lines


def _many(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
