"""A replayed step: the time that each call took, beside the time that was predicted for it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from commbench.training.call import Call, Phase, Schedule
from commbench.training.pricing import PricedStep

Floats = npt.NDArray[np.float64]


class Row(NamedTuple):
    """Calls of one collective in one phase. `error` is measured time that was not predicted, over the measured."""

    phase: Phase
    collective: str
    calls: int
    message_bytes: int
    predicted_seconds: float | None
    measured_seconds: float

    @property
    def error(self) -> float | None:
        """(predicted - measured) / measured; None where nothing was predicted, or no time passed."""
        if self.predicted_seconds is None or self.measured_seconds <= 0.0:
            return None
        return self.predicted_seconds / self.measured_seconds - 1.0


@dataclass(frozen=True)
class Replay:
    """A schedule that was issued for real.

    Attributes:
        schedule: the calls as they were issued.
        backend: which library issued them.
        mode: pipelined (back to back) or isolated (aligned before each call).
        times: seconds of each call, shape (runs, ranks, calls).
        predicted: seconds of each call; None where the interconnect gives no prediction.
        predicted_from: what predicted them, in words.
        notes: which calls were issued otherwise than the framework does.
        wrong: wrong elements over all checked calls, None when not checked.
    """

    schedule: Schedule
    backend: str
    mode: str
    times: Floats
    predicted: tuple[float, ...] | None
    predicted_from: str
    notes: tuple[str, ...] = ()
    wrong: int | None = None
    priced: PricedStep | None = None

    @property
    def rows(self) -> tuple[Row, ...]:
        """Totals by phase and collective, in the order of the step."""
        members: dict[tuple[Phase, str], list[int]] = {}
        for number, call in enumerate(self.schedule.calls):
            members.setdefault((call.phase, call.collective), []).append(number)
        return tuple(self._row(phase, collective, numbers) for (phase, collective), numbers in members.items())

    @property
    def total(self) -> Row:
        """The whole step."""
        return self._row("step", "all", range(len(self.schedule.calls)))

    @property
    def measured(self) -> tuple[float, ...]:
        """Seconds of each call: the median over runs, on the slowest rank of each run."""
        return tuple(np.median(self._slowest, axis=0).tolist()) if self.schedule.calls else ()

    @property
    def total_seconds(self) -> tuple[float, ...]:
        """Seconds of each run on its slowest rank."""
        return tuple(self._slowest.sum(axis=1).tolist())

    @property
    def _slowest(self) -> Floats:
        """Shape (runs, calls): each run on the rank that took longest for all of it, so that its parts sum up."""
        slowest = self.times.sum(axis=2).argmax(axis=1)
        rows: Floats = self.times[np.arange(len(self.times)), slowest]
        return rows

    def _row(self, phase: Phase, collective: str, numbers: Sequence[int]) -> Row:
        calls: Iterable[Call] = [self.schedule.calls[number] for number in numbers]
        own = list(numbers)
        return Row(
            phase, collective, len(own), sum(call.message_bytes for call in calls),
            None if self.predicted is None else float(sum(self.predicted[number] for number in own)),
            float(np.median(self._slowest[:, own].sum(axis=1))),
        )  # fmt: skip
