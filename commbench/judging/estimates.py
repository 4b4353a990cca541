"""A quantity and what is known about its error: from samples, launches, what a limits file states, or assumed.

All of it is in logarithms, so an error is a share of the value. docs/acceptance.md defines each basis.
"""

from collections.abc import Sequence
from math import exp, inf, isfinite, log, sqrt
from statistics import NormalDist
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import bdtr, stdtrit

from commbench.intervals import Floats, median_interval, median_ranks
from commbench.judging.limits import LaunchSpread
from commbench.sweepfile.curves import Launch

Basis = Literal["samples", "launches", "launch spread", "fit", "assumed"]
Interval = tuple[float, float]

_FINEST = 1e-4  # relative: clocks and rounding let nobody see less, however equal the samples are
_MOST_LOG = 700.0  # exp of more is no float
_STANDS_OUT = 2.0  # samples that scatter more than so many times what is stated count beside it


class Sureness(NamedTuple):
    """What a verdict asks of an interval: its confidence, and half of it (a share) for a value without samples."""

    confidence: float = 0.95
    single_value: float = 0.05


class Estimate(NamedTuple):
    """A value, the interval to hold against a limit, and where that comes from.

    Attributes:
        interval: None where nothing says how sure the value is (never for `assumed`, which says what was assumed).
        samples, launches: how many.
    """

    value: float
    interval: Interval | None
    basis: Basis
    samples: int = 1
    launches: int = 1

    def over(self, other: "Estimate") -> "Estimate":
        """The ratio of two independent estimates: errors add as squares."""
        ratio = self.value / other.value if other.value > 0.0 else inf
        ends = (*(self.interval or (0.0,)), *(other.interval or (0.0,)))
        if not isfinite(ratio) or ratio <= 0.0 or self.interval is None or other.interval is None or min(ends) <= 0.0:
            return self._replace(value=ratio if isfinite(ratio) else 0.0, interval=None)
        low = sqrt(_log(self.value / self.interval[0]) ** 2 + _log(other.interval[1] / other.value) ** 2)
        high = sqrt(_log(self.interval[1] / self.value) ** 2 + _log(other.value / other.interval[0]) ** 2)
        basis: Basis = "assumed" if "assumed" in (self.basis, other.basis) else self.basis
        return self._replace(value=ratio, interval=(ratio * exp(-low), ratio * exp(high)), basis=basis)

    def inverse(self, scale: float) -> "Estimate":
        """`scale` over this: a rate from a time."""
        interval = None if self.interval is None else tuple(scale / end for end in reversed(self.interval) if end > 0.0)
        return self._replace(value=scale / self.value, interval=interval if interval and len(interval) == 2 else None)


def time_of(launches: Sequence[Launch], sure: Sureness, spread: LaunchSpread | None) -> Estimate:
    """The time of one call (s): the median of the samples; over several launches the geometric mean of theirs."""
    samples = min(len(launch.seconds) for launch in launches)
    medians = np.array([launch.median for launch in launches])
    count = len(launches)
    if not (medians > 0.0).all():
        return Estimate(float(np.median(medians)), None, "samples", samples, count)
    value = float(medians[0]) if count == 1 else exp(float(np.log(medians).mean()))
    if spread is not None:
        reach = _stated_reach(launches, spread, sure.confidence)
        return Estimate(value, around(value, reach), "launch spread", samples, count)
    if count > 1:
        return Estimate(
            value, around(value, _launch_reach(launches, medians, sure.confidence)), "launches", samples, count
        )
    seconds = launches[0].seconds
    interval = median_interval(seconds, sure.confidence) if len(seconds) > 1 else None
    if interval is not None and interval[0] > 0.0:
        low, high = around(value, _FINEST)
        return Estimate(value, (min(interval[0], low), max(interval[1], high)), "samples", samples)
    low, high = around(value, log(1.0 + sure.single_value))
    if len(seconds) > 1:  # too few for an interval: their whole range, and the assumption on top
        low, high = min(low, max(min(seconds), value * 1e-3)), max(high, max(seconds))
    return Estimate(value, (low, high), "assumed", samples)


def around(value: float, reach: float) -> Interval:
    """The interval `reach` (in logarithms) below and above a value."""
    factor = exp(min(reach, _MOST_LOG))
    return value / factor, value * factor


def standard_error(seconds: Sequence[float] | Floats) -> float:
    """The standard error of the log of the samples' median, from its interval; 0 where there is none.

    An interval between two samples covers more than the 95 % that were asked for: 97.9 % with 10 samples.
    """
    ranks = median_ranks(len(seconds))
    if ranks is None:
        return 0.0
    ordered = np.sort(np.asarray(seconds, dtype=np.float64))
    low, high = float(ordered[ranks[0]]), float(ordered[ranks[1]])
    outside = float(bdtr(ranks[0], len(seconds), 0.5))
    return log(high / low) / (-2.0 * NormalDist().inv_cdf(outside)) if low > 0.0 else 0.0


def quantile(freedom: float, confidence: float) -> float:
    """Half a two-sided interval in standard errors (Student)."""
    return float(stdtrit(max(1.0, min(freedom, 1e9)), 0.5 + confidence / 2.0))


def _stated_reach(launches: Sequence[Launch], spread: LaunchSpread, confidence: float) -> float:
    """From the spread of launches that the limits file states: the scatter of their samples is in it.

    Samples that scatter far more than that, or are far fewer, count by themselves.
    """
    own = [standard_error(launch.seconds) for launch in launches]
    larger = [error if error > _STANDS_OUT * spread.share else spread.share for error in own]
    error = sqrt(sum(one * one for one in larger)) / len(own)
    return quantile(spread.freedom, confidence) * max(error, _FINEST)


def _launch_reach(launches: Sequence[Launch], medians: Floats, confidence: float) -> float:
    """From how far the launches are apart: their samples share each launch's luck, so launches are what is counted."""
    logs = np.log(medians)
    inside = float(np.mean([standard_error(launch.seconds) ** 2 for launch in launches]))
    error = sqrt(max(float(logs.var(ddof=1)), inside) / len(launches))
    return quantile(len(launches) - 1, confidence) * max(error, _FINEST)


def _log(ratio: float) -> float:
    return log(ratio) if 0.0 < ratio < inf else _MOST_LOG
