"""A replayed step for a person and for programs: predicted against measured, per collective and in total."""

from collections.abc import Sequence
from typing import Any

from commbench.showing.heading import clean
from commbench.showing.training import filled, page
from commbench.showing.training_document import call_fields
from commbench.training.replayed import Replay, Row
from commbench.units import format_seconds, format_size_short

MODES = {
    "pipelined": "calls back to back in the order of the step, predicted from calls back to back",
    "isolated": "all ranks aligned before each call, predicted from such calls",
}


def replay_document(replay: Replay) -> dict[str, Any]:
    """`{"replay": {...}}`. Units stand in the names; errors have 1 = 100 %."""
    schedule, total = replay.schedule, replay.total
    measured = replay.measured
    predicted = replay.predicted or [None] * len(measured)
    return {
        "replay": {
            "strategy": schedule.strategy,
            "variant": schedule.variant,
            "framework": f"{schedule.framework} {schedule.version}",
            "model": schedule.model,
            "world_size": schedule.world_size,
            "parameters": schedule.parameters,
            "backend": replay.backend,
            "mode": replay.mode,
            "runs": len(replay.times),
            "calls": len(schedule.calls),
            "message_bytes": schedule.message_bytes,
            "predicted_from": replay.predicted_from,
            "predicted_seconds": total.predicted_seconds,
            "measured_seconds": total.measured_seconds,
            "run_seconds": replay.total_seconds,
            "error": total.error,
            "correct": None if replay.wrong is None else replay.wrong == 0,
            "wrong": replay.wrong,
            "notes": list(replay.notes),
            "stands_in": sorted(replay.priced.stands_in) if replay.priced else [],
            "extrapolated_calls": len(replay.priced.extrapolated) if replay.priced else 0,
            "collectives": [{**row._asdict(), "error": row.error} for row in replay.rows],
            "schedule": [
                call_fields(call) | {"predicted_seconds": guess, "measured_seconds": seconds}
                for call, guess, seconds in zip(schedule.calls, predicted, measured, strict=True)
            ],
        }
    }


def draw_replay(replay: Replay, *, with_schedule: bool = False) -> str:
    """The table, with what was issued otherwise than the framework does below it."""
    schedule = replay.schedule
    issued = f"{len(schedule.calls)} calls, {schedule.message_bytes} bytes issued"
    lines = [
        f"{schedule.strategy} {schedule.variant} of {clean(schedule.model)}, {schedule.world_size} ranks: {issued}",
        f"backend    {replay.backend}",
        f"mode       {replay.mode}: {MODES[replay.mode]}",
        f"measured   median of {len(replay.times)} replays, slowest rank",
        f"predicted  from {clean(replay.predicted_from)}",
        "",
    ]
    if with_schedule:
        lines.append(page(_calls(replay)))
    rows = [_cells(row, row.phase, row.collective) for row in replay.rows]
    rows.append(_cells(replay.total, "total", ""))
    head = ("phase", "collective", "calls", "messages", "predicted", "measured", "error\n%")
    lines.append(page(filled(head, rows, right=range(2, 7))))
    if replay.wrong is None:
        lines.append("results were not checked (-c 0)")
    elif replay.wrong:
        lines.append(f"WRONG: {replay.wrong} elements")
    lines += [f"  - {clean(note)}" for note in _notes(replay)]
    return "\n".join(lines) + "\n"


def _notes(replay: Replay) -> Sequence[str]:
    if replay.priced is None:
        return replay.notes
    beyond = len(replay.priced.extrapolated)
    return [
        *replay.notes,
        *(f"priced by bytes: {words}" for words in replay.priced.stands_in),
        *([f"{beyond} calls lie outside the measured sizes"] if beyond else []),
    ]


def _cells(row: Row, phase: str, collective: str) -> tuple[str, ...]:
    predicted = "" if row.predicted_seconds is None else format_seconds(row.predicted_seconds)
    error = "" if row.error is None else f"{100 * row.error:+.1f}"
    measured = format_seconds(row.measured_seconds)
    return phase, collective, str(row.calls), format_size_short(row.message_bytes), predicted, measured, error


def _calls(replay: Replay) -> Any:
    measured = replay.measured
    predicted = replay.predicted or [None] * len(measured)
    rows = [
        (
            str(number), call.phase, call.collective, call.op or "", call.dtype, str(call.elements),
            str(call.message_bytes), f"{call.group.name} {call.group.size}",
            "" if guess is None else format_seconds(guess), format_seconds(seconds),
        )
        for number, (call, guess, seconds) in enumerate(zip(replay.schedule.calls, predicted, measured, strict=True))
    ]  # fmt: skip
    head = ("#", "phase", "collective", "redop", "type", "elements", "bytes", "group", "predicted", "measured")
    return filled(head, rows, right={0, 5, 6, 8, 9})
