"""When to stop sampling and how many calls make a sample: pure decisions from numbers that all ranks share."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from commbench.intervals import FEWEST_FOR_MEDIAN, relative_half_width
from commbench.sweepfile.records import Mode

RESOLUTIONS_PER_SAMPLE = 100  # one tick of the clock is then 1 % of a sample, half of the ±2 % target
PIPELINE = 5e-3  # seconds a pipelined sample lasts at least: launching the first call (tens of us) then weighs 1 %
CALLS_IN_FLIGHT = 20  # calls in a pipelined sample, as in nccl-tests' default …
FEWEST_IN_FLIGHT = 4  # … and of long calls: a pipeline still, without a sample of minutes
LARGEST_BATCH = 256  # samples between two agreements of the ranks


@dataclass(frozen=True)
class Rule:
    """How long one point is sampled.

    Attributes:
        target: half-width of the median's 95 % interval over the median at which sampling ends (0.02 = ±2 %).
        limit: seconds after which sampling of the point ends anyway, once there are 6 samples.
        samples: take exactly so many and ignore target and limit.
        calls: calls per sample, None to calibrate (a graph's calls are fixed when it is captured).
        warm_up: warm-up calls, None for a few (5, fewer of long calls).
        check: verify results before and after timing.
        replays: replays of a graph per sample, None to calibrate.
    """

    target: float = 0.02
    limit: float = 0.25
    samples: int | None = None
    calls: int | None = None
    warm_up: int | None = None
    check: bool = True
    replays: int | None = None


def next_batch(seconds: Sequence[float], spent: float, rule: Rule) -> int:
    """How many samples to take before the ranks agree again; 0 ends the point.

    Args:
        seconds: the slowest rank's time of each sample so far (s).
        spent: the slowest rank's wall time on this point so far (s).
    """
    taken = len(seconds)
    if rule.samples is not None:
        return min(rule.samples - taken, LARGEST_BATCH)
    if taken < FEWEST_FOR_MEDIAN:
        return FEWEST_FOR_MEDIAN - taken
    width = relative_half_width(seconds)
    if width is None or width <= rule.target or spent >= rule.limit:
        return 0
    needed = ceil(taken * min(width / rule.target, 4.0) ** 2) - taken
    each = max(spent / taken, 1e-9)  # a coarse clock may not have moved yet
    return max(1, min(needed, int((rule.limit - spent) / each), taken, LARGEST_BATCH))


def calls_per_sample(mode: Mode, seconds: float, resolution: float, rule: Rule, *, unit: int, most: float) -> int:
    """How many calls are timed together.

    Args:
        seconds: one call on the slowest rank, from the warm-up (s).
        resolution: of the clock (s).
        unit: calls come in multiples of this: those captured in a graph, else 1.
        most: calls after which the buffers must be refilled.
    """
    if mode == "isolated":
        return 1
    readable = RESOLUTIONS_PER_SAMPLE * resolution / max(seconds, resolution)
    if mode == "graph":
        wanted = unit * (rule.replays or max(1, ceil(readable / unit)))
    else:
        call = max(seconds, resolution)
        affordable = max(FEWEST_IN_FLIGHT, int(rule.limit / FEWEST_FOR_MEDIAN / call))
        wanted = rule.calls or max(ceil(readable), min(affordable, max(CALLS_IN_FLIGHT, ceil(PIPELINE / call))))
    return max(unit, int(min(wanted, most // unit * unit)))


def warm_up_calls(first: float, rule: Rule) -> int:
    """Warm-up calls after the first one, which took `first` seconds on the slowest rank."""
    if rule.warm_up is not None:
        return max(0, rule.warm_up - 1)
    return int(min(4.0, 0.05 / max(first, 1e-9)))
