"""A foreign run as the records of one sweep: what it printed, what it proved, and what the user stated about it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from commbench.importing.foreign import Row, Run, Stated
from commbench.importing.nccl_family.rows import RowTable
from commbench.measuring.nccl_log import Link
from commbench.sweepfile.records import (
    End,
    Header,
    LeftOut,
    Measurement,
    Placement,
    Record,
    Source,
    Transport,
)

_NOT_STATED = ""  # a log without times; the time of the import would be taken for that of the run
_ROTATES = frozenset({"nccl-tests", "rccl-tests"})  # they move through their largest buffer from call to call


def records(
    run: Run, *, sweep: str, file: str, stated: Stated, imported_at: str, paths: Sequence[Link] = ()
) -> Iterator[Record]:
    """The records of a run, in order, made one by one.

    Args:
        sweep: the id of the new sweep.
        file: the log's name.
        imported_at: now, for the end record of a log that tells no time.
        paths: what a log of NCCL proves about the pairs of ranks.
    """
    head = header(run, sweep=sweep, file=file, stated=stated)
    yield head
    calls = calls_per_sample(run)
    for row in run.rows:
        yield measurement(row, run, sweep, calls)
    for skipped in run.left_out:
        yield LeftOut(
            sweep=sweep, collective=run.collective, message_bytes=skipped.message_bytes, reason=skipped.reason,
            mode=run.mode,
        )  # fmt: skip
    if paths:
        yield Transport(
            sweep=sweep, setting=stated.label, proved=tuple(sorted({path.kind for path in paths})),
            pairs=tuple({"from": path.source, "to": path.target, "path": path.path} for path in paths),
        )  # fmt: skip
    complete = run.complete is not False
    yield End(
        sweep=sweep,
        finished_at=run.finished_at or imported_at,
        status="complete" if complete else "aborted",
        reason=None if complete else run.reason,
    )


def header(run: Run, *, sweep: str, file: str, stated: Stated) -> Header:
    """The first record: settings hold what the tool said it did, how each fact is known, and the user's words."""
    said = {name: value for name, value in stated._asdict().items() if value is not None}
    known = {
        "variant": run.variant,
        "collective_basis": run.collective_basis,
        "candidates": list(run.candidates) or None,
        "world_size_basis": run.world_size_basis,
        "world_size_range": list(run.world_size_range) if run.world_size_range else None,
        "stated_by_user": said or None,
        "footer": dict(run.footer) or None,
        "notes": list(run.notes) or None,
    }
    return Header(
        sweep=sweep,
        started_at=run.started_at or _NOT_STATED,
        world_size=run.world_size or None,  # a damaged log may say 0
        source=Source(tool=run.tool, version=run.version, file=file),
        label=stated.label,
        backend=run.backend,
        ranks_per_host=run.ranks_per_host,
        groups=run.groups,
        settings={
            **({"buffers": "rotate"} if run.tool in _ROTATES else {}),
            **run.settings,
            **{name: value for name, value in known.items() if value is not None},
        },
        environment={**run.environment, **({"device": run.device} if run.device else {})},
        transport={"setting": stated.label, "proved": None, **run.transport},
    )


def measurement(row: Row, run: Run, sweep: str, calls: int | None) -> Measurement:
    """One printed time. It holds one value, and says which statistic that is."""
    return Measurement(
        sweep=sweep,
        collective=run.collective,
        message_bytes=row.message_bytes,
        seconds=(row.seconds,),
        dtype=row.dtype,
        op=row.op,
        root=row.root,
        placement=row.placement,
        mode=run.mode,
        clock="host" if run.tool in _ROTATES else None,
        calls_per_sample=calls,
        correct=row.correct,
        wrong=row.wrong,
        cycle=row.cycle,
        notes=row.notes,
        statistic=row.statistic or None,
        reported=(row.reported if type(row.reported) is dict else dict(row.reported)) or None,
    )


def calls_per_sample(run: Run) -> int | None:
    """Calls that one printed time is taken over, where the tool says so."""
    total = 1
    for name in ("iterations", "aggregated_iterations", "replays"):
        count = run.settings.get(name, 1)
        if not isinstance(count, int) or not 0 <= count < 1 << 31:
            return None
        total *= max(1, count)
    return total if "iterations" in run.settings and run.tool in _ROTATES else None


def summary(run: Run) -> dict[str, Any]:
    """What a sweep of `import --json` says beside its header: how much was read, how it is known, what was printed."""
    facts = _facts(run.rows)
    return {
        "tool": run.tool,
        "version": run.version,
        "variant": run.variant,
        "collective": run.collective,
        "collectives": [run.collective] if run.collective else [],
        "collective_basis": run.collective_basis,
        "candidates": list(run.candidates),
        "world_size": run.world_size or None,
        "world_size_basis": run.world_size_basis,
        "world_size_range": list(run.world_size_range) if run.world_size_range else None,
        **facts,
        "zero_rows": sum(skipped.message_bytes == 0 for skipped in run.left_out),
        "left_out": [skipped._asdict() for skipped in run.left_out],
        "lines": list(run.lines),
        "complete": run.complete,
        "reason": run.reason,
        "average": run.footer.get("average") if run.footer.get("average_is_of_these_rows") else None,
        "average_printed": run.footer.get("average"),
        "average_is_of_these_rows": run.footer.get("average_is_of_these_rows"),
        "out_of_bounds": run.footer.get("out_of_bounds"),
        "out_of_bounds_verdict": run.footer.get("out_of_bounds_verdict"),
        "notes": list(run.notes),
    }


def _facts(rows: Sequence[Row]) -> dict[str, Any]:
    """What can be counted in the rows: of a large table by its columns."""
    if isinstance(rows, RowTable):
        codes = set(rows.placements)
        known: dict[Placement, int] = {"out": 1, "in": 2}
        places: list[Placement] = [name for name, code in known.items() if code in codes]
        checked = {name: rows.checked(name) for name in places} | (
            {"unknown": rows.checked(None)} if 0 in codes else {}
        )
        dtypes = [kind.our_dtype for kind in rows.used_kinds if kind.our_dtype]
        keys, wrong = Counter(rows.keys()), rows.wrong_rows
        told = not rows.has_magnitudes
    else:
        places = [name for name in ("out", "in") if any(row.placement == name for row in rows)]
        checked = {}
        for row in rows:
            name = row.placement or "unknown"
            checked[name] = checked.get(name, False) or row.correct is not None
        dtypes = [row.dtype for row in rows if row.dtype]
        kinds: dict[tuple[str | None, str | None, int | None], int] = {}
        keys = Counter(  # not by line: a log that is a string of a JSON document has one line for all its rows
            (row.message_bytes, kinds.setdefault((row.dtype, row.op, row.root), len(kinds)), row.cycle) for row in rows
        )
        wrong = sum(row.correct is False for row in rows)
        told = False  # without a verdict in any row, such a table has no column for one
    return {
        "rows": len(keys),
        "half_rows": sum(count == 1 for count in keys.values()) if places else 0,
        "measured": len(rows),
        "placements": places,
        "dtypes": list(dict.fromkeys(dtypes)),
        "wrong_rows": wrong,
        "checked": any(checked.values()) or (False if told else None),
        "checked_by_placement": checked,
    }
