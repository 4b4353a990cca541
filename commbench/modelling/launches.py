"""How well the other launches predict one that the fit has not seen."""

import numpy as np

from commbench.modelling.blending import blend
from commbench.modelling.lines import terms
from commbench.modelling.observed import Observed
from commbench.modelling.pieces import pieces_of
from commbench.modelling.segmenting import LEAST_POINTS, cheapest_cuts, penalised_count
from commbench.modelling.weighing import robust_weights

MOST_LAUNCHES = 8  # left out one after another; of more, so many spread evenly
_FEWEST_SIZES = 5


def launch_error(observed: Observed) -> float | None:
    """The mean relative error over launches and their sizes; None with one launch, or too few sizes without it."""
    count = len(observed.launches)
    if count < 2:
        return None
    picked = np.unique(np.linspace(0, count - 1, min(count, MOST_LAUNCHES)).astype(np.int64))
    errors = [error for index in picked.tolist() if (error := _without(observed, index)) is not None]
    return float(np.mean(errors)) if errors else None


def _without(observed: Observed, index: int) -> float | None:
    others = observed.without_launch(index)
    if len(others.sizes) < max(_FEWEST_SIZES, LEAST_POINTS):
        return None
    own = observed.seconds * np.exp(observed.launches[index])
    seen = ~np.isnan(own) & (observed.sizes >= others.sizes[0]) & (observed.sizes <= others.sizes[-1])
    if not seen.any():
        return None
    of_points = terms(others.sizes, others.seconds, robust_weights(others).all)
    cuts = cheapest_cuts(of_points, np.ones((1, len(others.sizes)), dtype=np.bool_))
    starts = cuts.starts[0][penalised_count(cuts.cost[0], len(others.sizes)) - 1]
    curve = blend(pieces_of(others.sizes, of_points, starts), others.sizes, others.seconds)
    return float(np.abs(curve.seconds_at(observed.sizes[seen]) / own[seen] - 1.0).mean())
