"""What is known about one strategy on one interconnect: time, memory, overlap, or why there is no time."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from commbench.errors import RefusedModelError
from commbench.training.call import Schedule
from commbench.training.memory import Memory, memory
from commbench.training.overlap import Overlap, overlap
from commbench.training.pricing import PricedStep, price
from commbench.training.sources import Source


@dataclass(frozen=True)
class StepPrediction:
    """One optimizer step.

    Attributes:
        source: the interconnect's name, None where no sweep was given.
        priced: its calls with their times; None where no sweep was given, or it does not answer.
        refused: why it does not answer.
        overlap: with computation, where its time is known.
    """

    schedule: Schedule
    source: str | None
    memory: Memory
    priced: PricedStep | None = None
    refused: RefusedModelError | None = None
    overlap: Overlap | None = None


def volume(schedule: Schedule) -> float:
    """Elements that each rank sends in units of the model's parameters (Psi), counted as the ZeRO paper does.

    An all_reduce counts twice (a reduce_scatter and an all_gather), anything else once.
    """
    elements = sum(call.elements * (2 if call.collective == "all_reduce" else 1) for call in schedule.calls)
    return elements / schedule.parameters


def predict_steps(
    steps: Iterable[tuple[Schedule, Source | None]],
    *,
    compute_seconds: float | None = None,
    modes: Sequence[str | None] | None = None,
    assume_ring: bool = False,
) -> tuple[StepPrediction, ...]:
    """Predict steps, each on its interconnect; one that has no answer says why and leaves the others theirs."""
    predictions = []
    for schedule, source in steps:
        kept = memory(schedule)
        if source is None:
            predictions.append(StepPrediction(schedule, None, kept))
            continue
        try:
            priced = price(schedule, source, modes=modes, assume_ring=assume_ring)
        except RefusedModelError as refusal:
            predictions.append(StepPrediction(schedule, source.name, kept, refused=refusal))
            continue
        hidden = overlap(priced, compute_seconds) if compute_seconds is not None else None
        predictions.append(StepPrediction(schedule, source.name, kept, priced, overlap=hidden))
    return tuple(predictions)
