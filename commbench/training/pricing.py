"""What a schedule costs on a measured interconnect: each call priced from a model, nothing overlapped.

The interval of a sum is the sum of the intervals' ends: errors of calls that the same curve prices go the same way, so
they do not average out.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from commbench.collectives import COLLECTIVES
from commbench.modelling.model import Interval
from commbench.training.answers import Answer, answer, beside_compute
from commbench.training.call import PHASES, Call, Phase, Schedule
from commbench.training.sources import Kind, Source


class PricedCall(NamedTuple):
    """One call with its time.

    Attributes:
        seconds, interval: of the call alone, with its 95 % interval.
        latency_seconds: the part that the size has no share in.
        extrapolated: 1.0 inside the measured sizes and ranks, else how many times beyond.
        overlapped: its time beside computation (s), where that was measured, else None.
    """

    call: Call
    seconds: float
    interval: Interval
    latency_seconds: float
    extrapolated: float
    overlapped: float | None = None


class PhaseTotal(NamedTuple):
    """The calls of one collective in one phase."""

    phase: Phase
    collective: str
    calls: int
    message_bytes: int
    seconds: float


@dataclass(frozen=True)
class PricedStep:
    """A step's calls with their times, in order.

    Attributes:
        source: the interconnect's name.
        mode: of the curves that priced it.
        stands_in: which curve stood in for what, in words, and how many calls it priced.
        assumptions: what prices took for granted.
    """

    schedule: Schedule
    source: str
    mode: str | None
    calls: tuple[PricedCall, ...]
    stands_in: Mapping[str, int] = field(default_factory=dict)
    assumptions: tuple[str, ...] = ()

    @cached_property
    def seconds(self) -> float:
        """All calls one after the other (s)."""
        return float(sum(priced.seconds for priced in self.calls))

    @cached_property
    def interval(self) -> Interval:
        """Its 95 % interval."""
        return sum(p.interval[0] for p in self.calls), sum(p.interval[1] for p in self.calls)

    @cached_property
    def bus_bytes(self) -> float:
        """Bytes that cross each rank's link, by nccl-tests' bus factors."""
        return sum(bus_bytes(priced.call) for priced in self.calls)

    @cached_property
    def latency_share(self) -> float | None:
        """Share of the time that the sizes have no part in; None without a call."""
        return sum(p.latency_seconds for p in self.calls) / self.seconds if self.seconds else None

    @property
    def extrapolated(self) -> tuple[PricedCall, ...]:
        """Calls priced outside of the measured sizes or ranks."""
        return tuple(priced for priced in self.calls if priced.extrapolated > 1.0)

    @cached_property
    def phases(self) -> tuple[PhaseTotal, ...]:
        """Totals by phase and collective, in the order of the step."""
        totals: dict[tuple[Phase, str], list[PricedCall]] = {}
        for priced in self.calls:
            totals.setdefault((priced.call.phase, priced.call.collective), []).append(priced)
        return tuple(
            PhaseTotal(phase, name, len(members), sum(p.call.message_bytes for p in members),
                       float(sum(p.seconds for p in members)))
            for (phase, name), members in sorted(totals.items(), key=lambda item: PHASES.index(item[0][0]))
        )  # fmt: skip


def bus_bytes(call: Call) -> float:
    """Bytes of a call that cross each rank's link."""
    return call.message_bytes * COLLECTIVES[call.collective].bus_factor(call.group.size)


def price(
    schedule: Schedule, source: Source, *, modes: Sequence[str | None] | None = None, assume_ring: bool = False
) -> PricedStep:
    """Price a schedule.

    Args:
        modes: those that may answer, the preferred first; all that were measured if None.
        assume_ring: price numbers of ranks that were not measured by the ring's law.

    Raises:
        RefusedModelError: a collective, or a number of ranks, was not measured.
    """
    allowed = source.modes if modes is None else tuple(modes)
    for collective in dict.fromkeys(call.collective for call in schedule.calls):
        source.require(collective, allowed)
    order = _one_mode_first(source, schedule, allowed)
    kinds: dict[Kind, list[int]] = {}
    for number, call in enumerate(schedule.calls):
        kinds.setdefault(Kind.of(call, schedule.strategy), []).append(number)
    priced: dict[int, PricedCall] = {}
    stands_in: dict[str, int] = {}
    assumptions: dict[str, None] = {}
    for kind, numbers in kinds.items():
        calls = [schedule.calls[number] for number in numbers]
        sizes = [call.message_bytes for call in calls]
        found = answer(source, kind, order, sizes, assume_ring=assume_ring)
        overlapped = beside_compute(source, kind, order, sizes)
        priced |= zip(numbers, _priced(calls, found, overlapped), strict=True)
        assumptions |= dict.fromkeys(found.assumptions)
        for words in found.stands_in:
            sentence = f"{kind.collective}: {words}"
            stands_in[sentence] = stands_in.get(sentence, 0) + len(calls)
    return PricedStep(
        schedule, source.name, order[0] if order else None,
        tuple(priced[number] for number in range(len(schedule.calls))),
        stands_in, tuple(assumptions),
    )  # fmt: skip


def _one_mode_first(source: Source, schedule: Schedule, allowed: Sequence[str | None]) -> list[str | None]:
    """The modes, first one that has every collective of the step, if there is one: modes answer different questions."""
    needed = {call.collective for call in schedule.calls}
    whole = [mode for mode in allowed if all(source.of(collective, [mode]) for collective in needed)]
    return [*whole, *(mode for mode in allowed if mode not in whole)]


def _priced(calls: Sequence[Call], found: Answer, overlapped: Sequence[float | None]) -> Iterable[PricedCall]:
    columns = (found.seconds, found.low, found.high, found.latency, found.extrapolated)
    for call, (seconds, low, high, latency, beyond), beside in zip(
        calls, zip(*(column.tolist() for column in columns), strict=True), overlapped, strict=True
    ):
        yield PricedCall(call, seconds, (low, high), latency, beyond, beside)
