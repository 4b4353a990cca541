"""How much of a step's communication computation hides: a simulation of one rank's streams.

Computation is one thread of work. Each call opens at a share of its phase's work, runs on its stream after the calls
before it there, and must be over when its `closes` share of the work is reached. Nothing else ever waits.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from commbench.training.call import PHASES, Phase
from commbench.training.pricing import PricedCall, PricedStep, bus_bytes

FORWARD_SHARE = 1 / 3  # of a pass: the backward pass multiplies matrices twice for each product of the forward pass

ASSUMPTIONS = (
    "computation goes to forward and backward passes as 1 to 2, and within a pass to parameters by their elements",
    "the optimizer's own computation takes no time, and one rank alone would compute as fast",
    "calls of different streams do not slow each other down",
)


@dataclass(frozen=True)
class Overlap:
    """One step with its computation.

    Attributes:
        compute_seconds: forward and backward passes of the step, on one rank.
        step_seconds, step_interval: the whole step.
        break_even_bytes_per_second: bus bandwidth at which all messages take exactly as long as the computation; on
            slower links communication cannot be hidden, however well it overlaps. None without messages.
        measured_beside_compute: calls priced from a curve measured beside computation.
    """

    compute_seconds: float
    step_seconds: float
    step_interval: tuple[float, float]
    break_even_bytes_per_second: float | None
    measured_beside_compute: int

    @property
    def exposed_seconds(self) -> float:
        """Communication that computation waits for."""
        return max(0.0, self.step_seconds - self.compute_seconds)

    @property
    def exposed_interval(self) -> tuple[float, float]:
        """The interval of the exposed seconds."""
        low, high = self.step_interval
        return max(0.0, low - self.compute_seconds), max(0.0, high - self.compute_seconds)

    @property
    def scaling_efficiency(self) -> float | None:
        """Throughput per rank over that of one rank alone (1 = 100 %); None where nothing takes time."""
        return self.compute_seconds / self.step_seconds if self.step_seconds else None

    @property
    def scaling_interval(self) -> tuple[float, float] | None:
        """The interval of the scaling efficiency."""
        low, high = self.step_interval
        return (self.compute_seconds / high, self.compute_seconds / low) if low > 0.0 else None


class _Moment(NamedTuple):
    """A call opens or closes at a share of its phase's work; at one share, by the order of issue."""

    share: float
    number: int
    closes: bool


def overlap(step: PricedStep, compute_seconds: float) -> Overlap:
    """Simulate a step whose forward and backward passes take `compute_seconds` on one rank."""
    likely = [_beside(priced) for priced in step.calls]
    low, high = (
        [seconds * priced.interval[end] / priced.seconds if priced.seconds else 0.0
         for seconds, priced in zip(likely, step.calls, strict=True)] for end in (0, 1)
    )  # fmt: skip
    whole = sum(bus_bytes(priced.call) for priced in step.calls)
    return Overlap(
        compute_seconds,
        simulate(step, likely, compute_seconds),
        (simulate(step, low, compute_seconds), simulate(step, high, compute_seconds)),
        whole / compute_seconds if whole and compute_seconds else None,
        sum(_may_overlap(priced) and priced.overlapped is not None for priced in step.calls),
    )


def simulate(step: PricedStep, seconds: Sequence[float], compute_seconds: float) -> float:
    """The length of a step whose calls take `seconds` (s)."""
    now = 0.0
    streams: dict[str, float] = {}
    for phase, work, numbers in _passes(step, compute_seconds):
        done = 0.0
        over: dict[int, float] = {}
        for share, number, closes in _moments(step, numbers):
            call = step.calls[number].call
            now, done = now + max(0.0, share - done) * work, max(done, share)
            if closes:
                now = max(now, over[number])
            else:
                over[number] = streams[call.stream] = max(now, streams.get(call.stream, 0.0)) + seconds[number]
        now += (1.0 - done) * work
        if phase == "step":
            now = max([now, *streams.values()])
    return max([now, *streams.values()])


def _passes(step: PricedStep, compute_seconds: float) -> Iterator[tuple[Phase, float, list[int]]]:
    """Each phase of each micro step: its work (s), and the numbers of its calls in order."""
    micro_steps = step.schedule.micro_steps
    members: dict[tuple[int, Phase], list[int]] = {}
    for number, priced in enumerate(step.calls):
        at = micro_steps - 1 if priced.call.phase == "step" else priced.call.micro_step
        members.setdefault((at, priced.call.phase), []).append(number)
    shares = {"forward": FORWARD_SHARE, "backward": 1 - FORWARD_SHARE, "step": 0.0}
    for micro_step in range(micro_steps):
        for phase in PHASES:
            if phase != "step" or micro_step == micro_steps - 1:
                work = shares[phase] * compute_seconds / micro_steps
                yield phase, work, members.get((micro_step, phase), [])


def _moments(step: PricedStep, numbers: Sequence[int]) -> list[_Moment]:
    """When calls open and close. A call cannot be issued before the calls before it on its stream."""
    moments: list[_Moment] = []
    issued: dict[str, float] = {}
    for number in numbers:
        call = step.calls[number].call
        opens = issued[call.stream] = max(call.opens, issued.get(call.stream, 0.0))
        moments += [_Moment(opens, number, False), _Moment(max(opens, call.closes), number, True)]
    return sorted(moments)


def _may_overlap(priced: PricedCall) -> bool:
    return priced.call.closes > priced.call.opens


def _beside(priced: PricedCall) -> float:
    """The call's time as the step pays it: beside computation where that was measured."""
    if _may_overlap(priced) and priced.overlapped is not None:
        return max(priced.seconds, priced.overlapped)
    return priced.seconds
