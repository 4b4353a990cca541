"""How far apart two sides are at each size of a curve, and how sure that is.

Everything happens in logarithms of the time, where a difference is a ratio. The typical time of a launch is the
20 % trimmed mean over its samples, which a few stray samples do not move (Yuen, "The two-sample trimmed t for unequal
population variances", Biometrika 61, 1974). Two cases:

- One launch a side: the error is that of its samples.
- Several launches: samples of one launch share its luck (where ranks and buffers came to lie), so launches are
  compared and not samples. Two launches tell little about their own variance; those of the neighbouring sizes tell
  more, as far as they did not share one launch's luck. How far is estimated, and the degrees of freedom follow from it
  (Satterthwaite, "An approximate distribution of estimates of variance components", Biometrics Bulletin 2, 1946).

The larger of a size's own variance and its neighbourhood's counts, so a size that is noisier than the others is not
taken for a different one.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, log1p, sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import fdtri, stdtr, stdtrit

from commbench.sweepfile.curves import CurvePoint, Launch

_NORMAL = 1.96  # standard deviations in half of a 95 % interval
TRIM = 0.2  # of the samples, at each end
FEWEST_TRIMMED = 10  # below, the ends that trimming would take are most of what is known about the error
FEWEST_SAMPLES = 3  # of a launch, for an error of its own
NEIGHBOURS = 3  # sizes below and above that share their variance with a size
_OWN_RULES = 0.99  # where a size's own variance is above the neighbourhood's beyond this quantile, it alone counts
_SHARED_AT_MOST = 3.0  # few launches tell badly how much of their luck is shared: that much more is allowed for
_FINEST = 1e-4  # relative: clocks and rounding let nobody see less, however equal the samples are


class PairedPoint(NamedTuple):
    """One size that both sides have."""

    a: CurvePoint
    b: CurvePoint


@dataclass(frozen=True)
class Difference:
    """The logarithm of (time of b / time of a), with its standard error and degrees of freedom; None where unknown."""

    log_ratio: float
    error: float | None = None
    freedom: float = inf

    @property
    def p_value(self) -> float | None:
        """How likely so large a difference is where there is none; for this one question, not for many."""
        if self.error is None:
            return None
        return float(2.0 * stdtr(min(self.freedom, 1e9), -abs(self.log_ratio) / self.error))

    def reach(self, confidence: float) -> float | None:
        """Half the interval of `log_ratio`: what a true difference must exceed to be seen."""
        if self.error is None:
            return None
        return float(stdtrit(min(self.freedom, 1e9), 0.5 + confidence / 2.0)) * self.error

    def interval(self, confidence: float = 0.95) -> tuple[float, float] | None:
        """The interval of the ratio."""
        reach = self.reach(confidence)
        if reach is None:
            return None
        return _ratio(self.log_ratio - reach), _ratio(self.log_ratio + reach)


class _Variance(NamedTuple):
    value: float
    freedom: float


@dataclass(frozen=True)
class _Typical:
    """A launch's typical log time; `scale` is the variance of one sample's worth of it, None with too few samples."""

    key: tuple[str, int]
    value: float
    samples: int
    scale: float | None
    freedom: int

    @property
    def variance(self) -> float | None:
        return None if self.scale is None else self.scale / self.samples


Side = tuple[_Typical, ...]


class _Spread(NamedTuple):
    """Each launch's distance from the mean of its side, at one size."""

    residuals: tuple[tuple[tuple[int, str, int], float], ...]
    squares: float
    freedom: int


def differences(
    points: Sequence[PairedPoint], single_value: float | None = None
) -> tuple[tuple[Difference, ...], Difference | None]:
    """The difference at each point of a curve (ascending sizes), and over the whole curve.

    Args:
        single_value: half the 95 % interval of a value without samples, as a share of it; None where nobody states it.

    Returns:
        One difference a point, and the mean over the points; that is None where no point has an error.
    """
    sides = [(_typicals(point.a), _typicals(point.b)) for point in points]
    logs = [_mean(b) - _mean(a) for a, b in sides]
    several = any(len(side) > 1 for pair in sides for side in pair)
    spreads = [_spread(pair) for pair in sides] if several else []
    assumed = None if single_value is None else max(log1p(single_value) / _NORMAL, _FINEST) ** 2
    variances = _between_launches(spreads, sides) if several else _within_launches(sides, assumed)
    found = tuple(
        Difference(value) if variance is None else Difference(value, sqrt(variance.value), variance.freedom)
        for value, variance in zip(logs, variances, strict=True)
    )
    tested = [difference for difference in found if difference.error is not None]
    if not tested:
        return found, None
    mean = float(np.mean([difference.log_ratio for difference in tested]))
    errors = np.array([difference.error for difference in tested], dtype=np.float64)
    alone = float(errors @ errors) / len(tested) ** 2
    if several:
        common = _common(spreads)
        launches = max(_per_launch(pair) for pair in sides)
        whole = _Variance(max(common.value * launches, alone), common.freedom)
    else:
        # what is assumed of a value may be its launch's luck, which all sizes share
        shared = max(sum(launch.scale is None for side in pair for launch in side) for pair in sides) * (assumed or 0.0)
        freedom = sum(min(difference.freedom, 1e6) for difference in tested) / (2 * NEIGHBOURS + 1)
        whole = _Variance(max(alone, shared), freedom)
    return found, Difference(mean, sqrt(whole.value), whole.freedom)


def _ratio(log_ratio: float) -> float:
    return exp(min(max(log_ratio, -700.0), 700.0))


def _typicals(point: CurvePoint) -> Side:
    return tuple(_typical(launch) for launch in point.launches)


def _typical(launch: Launch) -> _Typical:
    seconds = np.sort(np.asarray(launch.seconds, dtype=np.float64))
    least = seconds[seconds > 0.0].min(initial=inf)
    logs = np.log(np.maximum(seconds, least if least < inf else 1e-12))  # 0: less than the clock can tell
    n = len(logs)
    cut = int(TRIM * n) if n >= FEWEST_TRIMMED else 0
    kept = logs[cut : n - cut]
    if n < FEWEST_SAMPLES:
        return _Typical((launch.sweep, launch.cycle), float(kept.mean()), n, None, 0)
    inner = np.clip(logs, kept[0], kept[-1])
    h = len(kept)
    error = float(inner.var(ddof=1)) * (n - 1) / (h * (h - 1))
    return _Typical((launch.sweep, launch.cycle), float(kept.mean()), n, error * n, h - 1)


def _mean(side: Side) -> float:
    return sum(launch.value for launch in side) / len(side)


def _around(place: int, count: int) -> range:
    return range(max(0, place - NEIGHBOURS), min(count, place + NEIGHBOURS + 1))


def _larger(own: _Variance | None, pooled: _Variance | None) -> _Variance | None:
    """The larger variance; with its own few degrees of freedom only where it clearly stands out."""
    if own is None or pooled is None:
        return _floored(own or pooled)
    if pooled.value > 0.0 and own.value / pooled.value > fdtri(own.freedom, min(pooled.freedom, 1e9), _OWN_RULES):
        return _floored(own)
    return _floored(_Variance(max(own.value, pooled.value), pooled.freedom))


def _floored(variance: _Variance | None) -> _Variance | None:
    return None if variance is None else _Variance(max(variance.value, _FINEST**2), max(variance.freedom, 1.0))


def _sum(parts: Sequence[_Variance]) -> _Variance:
    """The variance of a sum, with Satterthwaite's degrees of freedom."""
    total = sum(part.value for part in parts)
    doubt = sum(part.value**2 / part.freedom for part in parts)
    return _Variance(total, total**2 / doubt if doubt > 0.0 else sum(part.freedom for part in parts))


def _within_launches(sides: Sequence[tuple[Side, Side]], assumed: float | None) -> list[_Variance | None]:
    """One launch a side: from the samples of the size and of its neighbours, or as assumed of a value without any."""
    variances: list[_Variance | None] = []
    for place, pair in enumerate(sides):
        if any(launch.scale is None for side in pair for launch in side):
            each = [assumed if launch.variance is None else launch.variance for side in pair for launch in side]
            known = [value for value in each if value is not None]
            variances.append(_Variance(sum(known), inf) if len(known) == len(each) else None)
            continue
        own, pooled = [], []
        for which, (launch,) in enumerate(pair):
            near = [sides[i][which][0] for i in _around(place, len(sides)) if sides[i][which][0].scale is not None]
            freedom = sum(other.freedom for other in near)
            scale = sum((other.scale or 0.0) * other.freedom for other in near) / freedom
            own.append(_Variance(launch.variance or 0.0, launch.freedom))
            pooled.append(_Variance(scale / launch.samples, freedom))
        alone = _Variance(sum(part.value for part in own), min(part.freedom for part in own))
        variances.append(_larger(alone, _sum(pooled)))
    return variances


def _between_launches(spreads: Sequence[_Spread], sides: Sequence[tuple[Side, Side]]) -> list[_Variance | None]:
    """Several launches: from their differences at the size and its neighbours, never less than the samples' error."""
    variances: list[_Variance | None] = []
    for place, pair in enumerate(sides):
        near = [spreads[i] for i in _around(place, len(sides))]
        degrees = sum(spread.freedom for spread in near)
        if not degrees:
            variances.append(None)
            continue
        total = sum(spread.squares for spread in near) / degrees
        common = _common(near)
        pooled = _Variance(total, float(degrees))
        if degrees > common.freedom:
            shared = min(_SHARED_AT_MOST * common.value, total)
            pooled = _sum([_Variance(shared, common.freedom), _Variance(total - shared, degrees - common.freedom)])
        factor, spread = _per_launch(pair), spreads[place]
        own = _Variance(spread.squares / spread.freedom * factor, spread.freedom) if spread.freedom else None
        chosen = _larger(own, _Variance(pooled.value * factor, pooled.freedom))
        sampling = sum(sum(launch.variance or 0.0 for launch in side) / len(side) ** 2 for side in pair)
        variances.append(chosen and _Variance(max(chosen.value, sampling), chosen.freedom))
    return variances


def _per_launch(pair: tuple[Side, Side]) -> float:
    return sum(1.0 / len(side) for side in pair)


def _spread(pair: tuple[Side, Side]) -> _Spread:
    residuals = []
    for which, side in enumerate(pair):
        if len(side) > 1:
            mean = _mean(side)
            residuals += [((which, *launch.key), launch.value - mean) for launch in side]
    squares = sum(value * value for _, value in residuals)
    return _Spread(tuple(residuals), squares, sum(len(side) - 1 for side in pair))


def _common(near: Sequence[_Spread]) -> _Variance:
    """The variance of what a launch does to all these sizes alike (with its share of what it does to each)."""
    of_launch: dict[tuple[int, str, int], list[float]] = defaultdict(list)
    for spread in near:
        for key, value in spread.residuals:
            of_launch[key].append(value)
    freedom = max(spread.freedom for spread in near)
    if not freedom:
        return _Variance(0.0, 0.0)
    return _Variance(sum((sum(values) / len(values)) ** 2 for values in of_launch.values()) / freedom, freedom)
