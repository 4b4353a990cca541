"""Straight lines t = latency + size x slope through points, by relative least squares; many at once.

Each residual counts relative to its own time (weights 1/t^2): the error that matters to a reader is a percentage, and
over six decades of size plain least squares would describe the largest few messages only. Latency and slope are never
negative: of the solution on the boundary, the better of a flat line and one through the origin is taken.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class Lines(NamedTuple):
    """Fitted lines, one for each row of sums.

    Attributes:
        latency, slope: seconds, and seconds per byte.
        cost: the weighted sum of squared relative residuals.
    """

    latency: Floats
    slope: Floats
    cost: Floats


def terms(sizes: Floats, seconds: Floats, weights: Floats) -> Floats:
    """What each point adds to the sums of a line, (..., points, 6); times are divided out, so sums are of order 1.

    Args:
        sizes, seconds, weights: (..., points); all above 0, weights may be 0.
    """
    inverse, rate = 1.0 / seconds, sizes / seconds
    return np.stack(
        [weights * inverse * inverse, weights * inverse * rate, weights * rate * rate, weights * inverse,
         weights * rate, weights], axis=-1,
    )  # fmt: skip


def lines(sums: Floats) -> Lines:
    """The best lines for sums of `terms`, (..., 6) -> fields of (...)."""
    s_11, s_1x, s_xx, s_1, s_x, s_w = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        determinant = s_11 * s_xx - s_1x * s_1x
        solvable = determinant > 1e-12 * s_11 * s_xx
        latency = np.where(solvable, (s_1 * s_xx - s_x * s_1x) / determinant, -1.0)
        slope = np.where(solvable, (s_11 * s_x - s_1x * s_1) / determinant, -1.0)
        flat = np.where(s_11 > 0.0, s_1 / s_11, 0.0)
        steep = np.where(s_xx > 0.0, s_x / s_xx, 0.0)
        inside = (latency >= 0.0) & (slope >= 0.0)
        flat_wins = s_w - flat * s_1 <= s_w - steep * s_x
        latency = np.where(inside, latency, np.where(flat_wins, flat, 0.0))
        slope = np.where(inside, slope, np.where(flat_wins, 0.0, steep))
        cost = s_w - latency * s_1 - slope * s_x  # at a minimum the quadratic terms are half of the linear ones
    return Lines(latency, slope, np.maximum(cost, 0.0))


def flat_lines(sums: Floats) -> Lines:
    """The best lines without a slope, as `lines`."""
    s_11, s_1, s_w = sums[..., 0], sums[..., 3], sums[..., 5]
    latency = np.divide(s_1, s_11, out=np.zeros_like(s_1), where=s_11 > 0.0)
    return Lines(latency, np.zeros_like(latency), np.maximum(s_w - latency * s_1, 0.0))
