"""Intervals of latency and bandwidth: the fit repeated on data as they might have come out.

A draw gives each point the fitted time, changed by what its own samples leave open, by a residual of some size of the
same sweep, and by a shift that launches have in common. Residuals are those of the fit, scaled for the parameters that
it took from the data; how well so few points know the scale enters as Student's chi-square factor. Davison and
Hinkley, "Bootstrap Methods and their Application", 1997, sections 6.2 and 6.3.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from commbench.modelling.lines import Lines, flat_lines, lines, terms
from commbench.modelling.observed import Observed
from commbench.modelling.pieces import Pieces
from commbench.modelling.weighing import Weights

Floats = npt.NDArray[np.float64]

DRAWS = 1000
SHARED = 3.0  # degrees of freedom by which a segment's scale leans on that of all segments
_TAILS = (0.02, 0.98)  # for 95 %: the draws take weights and cuts as known, which costs about a percent of coverage
_FAR = 3.0  # standard deviations at which a resampled residual ends; farther ones are outliers, which are named


class ParameterIntervals(NamedTuple):
    """95 % intervals: of the first segment's latency (s), and of the last segment's slope (s per byte)."""

    latency: tuple[float, float]
    slope: tuple[float, float]


class _Noise(NamedTuple):
    """Of each segment: standard deviation of log time at full precision, and its degrees of freedom; residuals."""

    scale: Floats
    freedom: Floats
    pool: Floats


def parameter_intervals(observed: Observed, weights: Weights, pieces: Pieces, *, seed: int = 0) -> ParameterIntervals:
    """Intervals by resampling, with the segments where they are."""
    chance = np.random.default_rng(seed)
    starts = np.searchsorted(observed.sizes, pieces.first)
    of_point = np.searchsorted(pieces.first, observed.sizes, side="right") - 1
    fitted = pieces.seconds_at(observed.sizes)
    blurred = np.sqrt(weights.precision)
    noise = _noise(blurred * np.log(observed.seconds / fitted), weights.trust, starts, of_point)
    sampled, between = _shares(observed.own_variance, noise.scale[of_point] / blurred)
    points = len(fitted)
    residuals = between * chance.choice(noise.pool, size=(DRAWS, points))
    samples = sampled * chance.standard_normal((DRAWS, points))
    unsure = np.sqrt(noise.freedom / chance.chisquare(noise.freedom, size=(DRAWS, len(starts))))
    shifts = _launch_shifts(observed, starts, chance)
    drawn = (residuals + samples) * unsure[:, of_point] + shifts[:, of_point]
    seconds = fitted * np.exp(np.clip(drawn, -5.0, 5.0))
    drawn_weights = weights.precision * weights.trust * (seconds / fitted)
    flat = len(starts) > 1 and pieces.slope[0] == 0.0
    first, last = _refitted(observed.sizes, seconds, drawn_weights, starts, flat=flat)
    latency = np.quantile(first.latency, _TAILS)
    slope = np.quantile(last.slope, _TAILS)
    return ParameterIntervals(_holding(latency, float(pieces.latency[0])), _holding(slope, float(pieces.slope[-1])))


def _noise(errors: Floats, trust: Floats, starts: npt.NDArray[np.intp], of_point: npt.NDArray[np.intp]) -> _Noise:
    pulled = trust * errors
    squares, counts = np.add.reduceat(pulled**2, starts), np.add.reduceat(trust, starts)
    freedom = np.maximum(counts - 2.0, 0.0)
    total = max(float(freedom.sum()), 1.0)
    # A robust fit sees only what it lets pull; its precision is that over the share of points in full trust (Huber).
    lost = float((trust >= 1.0).mean())
    everywhere = float(squares.sum()) / total
    shared = min(SHARED, total)
    scale = np.sqrt((shared * everywhere + squares) / (shared + freedom)) / max(lost, 0.5)
    own = scale[of_point]
    standard = np.clip(np.divide(pulled, own, out=np.zeros_like(own), where=own > 0.0), -_FAR, _FAR)
    pool = np.concatenate([standard, -standard])
    spread = float(np.sqrt((pool**2).mean()))
    return _Noise(scale, shared + freedom, pool / spread if spread > 0.0 else pool)


def _shares(own_variance: Floats, scale: Floats) -> tuple[Floats, Floats]:
    """Standard deviations of each point: what its samples leave open, and what sizes scatter beyond that.

    Together they are what the residuals say: those hold the samples' noise already, and see it more often.
    """
    sampled = np.minimum(np.sqrt(own_variance), scale)
    return sampled, np.sqrt(scale**2 - sampled**2)


def _launch_shifts(observed: Observed, starts: npt.NDArray[np.intp], chance: np.random.Generator) -> Floats:
    """What launches have in common over a segment and do not share with each other, (draws, segments)."""
    launches = observed.launches
    ends = [*starts[1:].tolist(), launches.shape[1]]
    shifts = np.zeros((DRAWS, len(starts)))
    for segment, (first, behind) in enumerate(zip(starts.tolist(), ends, strict=True)):
        there = launches[:, first:behind]
        there = there[~np.isnan(there).all(axis=1)]
        if len(there) > 1:
            offsets = np.nanmedian(there, axis=1)
            error = float(offsets.std(ddof=1)) / np.sqrt(len(offsets))
            shifts[:, segment] = error * chance.standard_t(max(2, len(offsets) - 1), size=DRAWS)
    return shifts


def _refitted(
    sizes: Floats, seconds: Floats, weights: Floats, starts: npt.NDArray[np.intp], *, flat: bool
) -> tuple[Lines, Lines]:
    """The lines of the first and the last segment of each draw; the first may be a flat one."""
    behind, begin = (int(starts[1]) if len(starts) > 1 else len(sizes)), int(starts[-1])
    of_points = terms(np.broadcast_to(sizes, seconds.shape), seconds, weights)
    in_first, in_last = of_points[:, :behind].sum(axis=1), of_points[:, begin:].sum(axis=1)
    return flat_lines(in_first) if flat else lines(in_first), lines(in_last)


def _holding(interval: Floats, value: float) -> tuple[float, float]:
    """The interval, wide enough for the estimate itself."""
    return min(float(interval[0]), value), max(float(interval[1]), value)
