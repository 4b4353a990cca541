"""The prediction as a table: times on a fine grid of sizes, with the interval that held-out errors give them."""

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from commbench.modelling.blending import Blend, Climb
from commbench.modelling.held_out import LeftOut
from commbench.modelling.model import Knots
from commbench.modelling.observed import Observed

Floats = npt.NDArray[np.float64]

PER_OCTAVE = 4  # straight lines in log-log between knots a quarter octave apart follow any latency + size / bandwidth
# to 0.1 %
MOST_BETWEEN = 64  # knots between two measured sizes, however far apart they are
NEAR = 3  # sizes on either side whose held-out errors say how large the error here is
SMALLEST_SPREAD = 0.002  # half the interval of log time; print rounding alone is about that
WIDEST = 100.0  # half the interval of log time, beyond which it says nothing
AIMED = 0.975  # of held-out errors, for 95 % of new ones: those also chose the segments, and are the smaller for it


def knots(curve: Blend | Climb, observed: Observed, left_out: LeftOut, weights: Floats) -> Knots:
    """The times of a curve that never falls on the grid."""
    grid = _grid(observed.sizes)
    seconds = np.maximum.accumulate(curve.seconds_at(grid))  # rounding may fall by a last digit
    spread = np.interp(np.log(grid), np.log(observed.sizes), _spread(observed, left_out, weights))
    return Knots(message_bytes=tuple(grid.tolist()), seconds=tuple(seconds.tolist()), spread=tuple(spread.tolist()))


def _grid(sizes: Floats) -> Floats:
    parts = [sizes[:1]]
    for small, large in pairwise(sizes):
        steps = int(np.clip(np.ceil(PER_OCTAVE * np.log2(large / small)), 1, MOST_BETWEEN))
        parts.append(np.append(np.geomspace(small, large, steps + 1)[1:-1], large))
    return np.unique(np.concatenate(parts))


def _spread(observed: Observed, left_out: LeftOut, weights: Floats) -> Floats:
    """Half the 95 % interval of log time at each measured size.

    Held-out errors over the errors usual around them are of one kind along the curve, so all of them say together
    which multiple holds 95 % (split conformal prediction: Lei et al., "Distribution-Free Predictive Inference for
    Regression", 2018). Named outliers are left out of that: the interval is one for ordinary measurements.
    """
    ordinary = weights[left_out.indices] > 0.1
    errors = np.abs(left_out.errors)
    if ordinary.sum() < 3:
        ordinary = np.ones_like(ordinary)
    usual = _usual(errors, ordinary)
    ratios = (errors / usual)[ordinary]
    reach = min(1.0, AIMED * (len(ratios) + 1) / len(ratios))
    half = float(np.quantile(ratios, reach)) * usual
    everywhere = np.interp(np.log(observed.sizes), np.log(observed.sizes[left_out.indices]), half)
    spread: Floats = np.clip(everywhere, np.maximum(SMALLEST_SPREAD, 1.96 * observed.sampled), WIDEST)
    return spread


def _usual(errors: Floats, ordinary: npt.NDArray[np.bool_]) -> Floats:
    """The root of the mean square of ordinary errors near each size, half of it what is typical of all sizes.

    Typical is the median: a few wild sizes say nothing about the others.
    """
    everywhere = float(np.median(errors[ordinary]) ** 2)
    usual = np.empty(len(errors))
    for index in range(len(errors)):
        near = slice(max(0, index - NEAR), index + NEAR + 1)
        there = errors[near][ordinary[near]]
        local = float((there**2).mean()) if len(there) else everywhere
        usual[index] = np.sqrt((local + everywhere) / 2.0)
    return np.maximum(usual, SMALLEST_SPREAD / 2.0)
