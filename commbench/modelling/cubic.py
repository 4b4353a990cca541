"""A smooth curve through points that keeps their order: cubic between neighbours, never above or below both.

F. N. Fritsch and R. E. Carlson, "Monotone Piecewise Cubic Interpolation", 1980, with the slopes of F. N. Fritsch and
J. Butland, 1984: what scipy calls PCHIP. Written out, because loading scipy.interpolate takes as long as fitting eight
curves does.
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def cubic_at(at: Floats, xs: Floats, ys: Floats) -> Floats:
    """The curve through (xs, ys) at places inside them.

    Args:
        xs: ascending, at least 3.
    """
    steps = np.diff(xs)
    slopes = _slopes(steps, np.diff(ys) / steps)
    left = np.clip(np.searchsorted(xs, at, side="right") - 1, 0, len(steps) - 1)
    step = steps[left]
    share = (at - xs[left]) / step
    rest = 1.0 - share
    from_left = rest * rest * ((1.0 + 2.0 * share) * ys[left] + share * step * slopes[left])
    from_right = share * share * ((1.0 + 2.0 * rest) * ys[left + 1] - rest * step * slopes[left + 1])
    curve: Floats = from_left + from_right
    return curve


def _slopes(steps: Floats, rises: Floats) -> Floats:
    """The slope at each point: a weighted harmonic mean of those on either side, 0 where the curve turns."""
    slopes = np.zeros(len(steps) + 1)
    before, behind = rises[:-1], rises[1:]
    same = before * behind > 0.0
    ahead, back = (2.0 * steps[1:] + steps[:-1])[same], (steps[1:] + 2.0 * steps[:-1])[same]
    slopes[1:-1][same] = (ahead + back) / (ahead / before[same] + back / behind[same])
    slopes[0] = _end(steps[0], steps[1], rises[0], rises[1])
    slopes[-1] = _end(steps[-1], steps[-2], rises[-1], rises[-2])
    return slopes


def _end(step: float, next_step: float, rise: float, next_rise: float) -> float:
    """The slope at an end: of the parabola through three points, as far as that keeps their order."""
    slope = ((2.0 * step + next_step) * rise - step * next_rise) / (step + next_step)
    if slope * rise <= 0.0:
        return 0.0
    if rise * next_rise <= 0.0 and abs(slope) > 3.0 * abs(rise):
        return 3.0 * rise
    return slope
