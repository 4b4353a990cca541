"""A trace against a schedule, for a person and for programs."""

from typing import Any

from commbench.showing.training import filled, page
from commbench.training.agreement import Agreement
from commbench.training.call import Call, Schedule
from commbench.training.profiled import TracedCall

MOST_ROWS = 40


def agreement_document(agreement: Agreement) -> dict[str, Any]:
    """The comparison, as JSON types."""
    profile = agreement.profile
    return {
        "agrees": agreement.agrees,
        "events": profile.events,
        "step": profile.step,
        "traced_calls": len(profile.calls),
        "matched": agreement.matched,
        "missing": [_planned(call) for call in agreement.missing],
        "extra": [call._asdict() for call in agreement.extra],
        "different": [
            {"scheduled": _planned(call), "traced": traced._asdict()} for call, traced in agreement.different
        ],
    }


def draw_agreement(schedule: Schedule, agreement: Agreement) -> str:
    """The comparison as a table of what differs."""
    profile = agreement.profile
    where = f"step {profile.step} of the trace" if profile.step is not None else "the trace, which marks no steps"
    verdict = "agrees with" if agreement.agrees else "differs from"
    traced = f"{len(profile.calls)} traced ({profile.events})"
    lines = [
        f"{where} {verdict} {schedule.strategy} {schedule.variant} ({schedule.framework} {schedule.version})",
        f"{agreement.matched} of {len(schedule.calls)} scheduled calls are in it, of {traced}",
    ]
    rows = [("missing", *_cells(call), "") for call in agreement.missing]
    rows += [("extra", *_cells(call), "") for call in agreement.extra]
    rows += [("different", *_cells(call), " ".join(_cells(traced)[1:])) for call, traced in agreement.different]
    if rows:
        head = ("what", "collective", "elements", "type", "in the trace")
        lines += ["", page(filled(head, rows[:MOST_ROWS], right={2}))]
    if len(rows) > MOST_ROWS:
        lines.append(f"and {len(rows) - MOST_ROWS} more: --json has all")
    return "\n".join(lines) + "\n"


def _planned(call: Call) -> dict[str, Any]:
    return {"phase": call.phase, "collective": call.collective, "elements": call.elements, "dtype": call.dtype,
            "carries": call.carries}  # fmt: skip


def _cells(call: Call | TracedCall) -> tuple[str, str, str]:
    return call.collective, str(call.elements), call.dtype or ""
