"""How much each point counts in a fit: the robust loss, as weights.

How well a point's own samples and launches know it comes first, then spikes, from their neighbours alone. Then, around
segments that were fitted with those weights, Huber's weights for what is still far out (Huber, "Robust Estimation of a
Location Parameter", 1964), and the ratio of measured to fitted time: with it, squared residuals relative to the
measured time become squared residuals of log time, which noise on either side pulls equally.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from commbench.modelling.lines import terms
from commbench.modelling.observed import Observed
from commbench.modelling.pieces import MODEL_ERROR, pieces_of
from commbench.modelling.segmenting import GRAIN, cheapest_cuts, penalised_count
from commbench.modelling.spikes import spike_weights

Floats = npt.NDArray[np.float64]

FAR = 1.5  # standard deviations up to which squares count: 96 % of least squares' precision under normal noise
_ROUNDS = 2  # weights and segments hardly change after the second
_NORMAL = 1.4826
_MOST_TILT = 2.0  # of measured over fitted time; further out Huber's weight has to do it


class Weights(NamedTuple):
    """What a point counts.

    Attributes:
        precision: 1 for a point without noise of its own, less the less its samples and launches know it.
        trust: 1 for an ordinary point, less the farther out it is.
        tilt: measured over fitted time, which turns relative errors into those of log time.
    """

    precision: Floats
    trust: Floats
    tilt: Floats

    @property
    def all(self) -> Floats:
        """What multiplies the squared relative residual of each point."""
        return self.precision * self.trust * self.tilt


def robust_weights(observed: Observed) -> Weights:
    """The weight of each point."""
    sizes, seconds = observed.sizes, observed.seconds
    base = spike_weights(sizes, seconds)
    precision = MODEL_ERROR**2 / (MODEL_ERROR**2 + observed.own_variance)
    weights = Weights(precision, base, np.ones_like(base))
    everything = np.ones((1, len(sizes)), dtype=np.bool_)
    for _ in range(_ROUNDS):
        of_points = terms(sizes, seconds, weights.all)
        cuts = cheapest_cuts(of_points, everything)
        count = penalised_count(cuts.cost[0], len(sizes))
        ratio = seconds / pieces_of(sizes, of_points, cuts.starts[0][count - 1]).seconds_at(sizes)
        trust = base * huber(np.sqrt(precision) * np.log(ratio), parameters=2 * count)
        weights = Weights(precision, trust, np.clip(ratio, 1 / _MOST_TILT, _MOST_TILT))
    return weights


def huber(errors: Floats, *, parameters: int) -> Floats:
    """Huber's weights of errors of log time, at the scale that their own median says."""
    points = len(errors)
    typical = _NORMAL * float(np.median(np.abs(errors))) * np.sqrt(points / max(1, points - parameters))
    far = FAR * max(typical, GRAIN)
    weights: Floats = far / np.maximum(np.abs(errors), far)
    return weights
