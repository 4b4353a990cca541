"""How well a way of fitting predicts sizes that it has not seen, and which way that therefore is.

One inner size after another is left out, everything is fitted anew without it, and its time is predicted. The ends
stay: without them their place is outside the measured range, which is another question (extrapolation), and
interpolation, the rival, would have no answer at all.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from commbench.modelling.blending import Blend, Climb, blend, climb
from commbench.modelling.lines import lines, terms
from commbench.modelling.observed import Observed
from commbench.modelling.pieces import Pieces, pieces_of
from commbench.modelling.segmenting import MOST_SEGMENTS, Cuts, cheapest_cuts, penalised_count

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MOST_LEFT_OUT = 40  # sizes left out one after another; of more sizes, so many spread evenly
CHANCE = 0.05  # of the smallest held-out error: a number of segments that is worse by less is as good
WORTH_SEGMENTS_ALONE = 0.8  # of the blend's held-out error: only then do segments answer without the points


class LeftOut(NamedTuple):
    """What was found with one size after another left out.

    Attributes:
        indices: which points were left out.
        segment_count: the number of segments that predicts best, at most the one that pays by the penalty.
        starts: the first points of the segments, fitted to all points.
        segments, blended: signed errors of log time of either prediction; above 0 predicts too long.
    """

    indices: Ints
    segment_count: int
    starts: tuple[int, ...]
    segments: Floats
    blended: Floats

    @property
    def blend_wins(self) -> bool:
        """The segments alone do not predict unseen sizes clearly better than the blend."""
        return WORTH_SEGMENTS_ALONE * float(np.abs(self.blended).mean()) < float(np.abs(self.segments).mean())

    @property
    def errors(self) -> Floats:
        """Those of the better of both."""
        return self.blended if self.blend_wins else self.segments


def leave_sizes_out(observed: Observed, weights: Floats, most: int = MOST_SEGMENTS) -> LeftOut:
    """Leave one inner size after another out, with at most `most` segments."""
    sizes, seconds = observed.sizes, observed.seconds
    points = len(sizes)
    indices = np.unique(np.linspace(1, points - 2, min(points - 2, MOST_LEFT_OUT)).astype(np.int64))
    kept = np.ones((1 + len(indices), points), dtype=np.bool_)
    kept[np.arange(1, 1 + len(indices)), indices] = False
    of_points = terms(sizes, seconds, weights)
    cuts = cheapest_cuts(of_points, kept)
    limit = min(most, penalised_count(cuts.cost[0], points))
    times = np.log(seconds[indices])
    errors = np.array(
        [_predicted(observed, of_points, cuts, indices, count, _segments_alone) for count in range(1, limit + 1)]
    )
    count = _fewest_as_good(np.abs(errors - times)) + 1
    segments = errors[count - 1] - times
    blended = _predicted(observed, of_points, cuts, indices, count, blend) - times
    return LeftOut(indices, count, cuts.starts[0][count - 1], segments, blended)


def _fewest_as_good(errors: Floats) -> int:
    """The first row of errors that is worse than the best one by chance only.

    Chance is one standard error of the difference, over sizes left out (Breiman and others, "Classification and
    Regression Trees", 1984, section 3.4.3).
    """
    means = errors.mean(axis=1)
    best = int(np.argmin(means))
    apart = errors - errors[best]
    chance = apart.std(axis=1) / np.sqrt(errors.shape[1])
    return int(np.argmax(means - means[best] <= np.maximum(chance, CHANCE * means[best])))


def _predicted(
    observed: Observed, of_points: Floats, cuts: Cuts, indices: Ints, most: int, curve: Callable[..., Blend | Climb]
) -> Floats:
    """The log time of each left-out size, by a curve made of pieces, sizes and seconds of the others."""
    sizes = observed.sizes
    predicted = np.empty(len(indices))
    for row, index in enumerate(indices.tolist()):
        others = np.delete(sizes, index)
        starts = _starts_without(cuts, row + 1, index, most, len(sizes))
        pieces = pieces_of(others, np.delete(of_points, index, axis=0), starts)
        fitted = curve(pieces, others, np.delete(observed.seconds, index))
        predicted[row] = np.log(fitted.seconds_at(sizes[index : index + 1])[0])
    return predicted


def _segments_alone(pieces: Pieces, sizes: Floats, seconds: Floats) -> Climb:  # noqa: ARG001  # as `blend`
    return climb(pieces, sizes)


def _starts_without(cuts: Cuts, version: int, index: int, most: int, points: int) -> tuple[int, ...]:
    """First points of the segments that this version chooses, counted without the point that it lacks."""
    count = min(most, penalised_count(cuts.cost[version], points - 1))
    return tuple(start - (start > index) for start in cuts.starts[version][count - 1])


class Baselines(NamedTuple):
    """Mean relative errors of simpler methods with the same sizes left out."""

    interpolation: float
    relative: float
    plain: float


def baselines(observed: Observed, indices: Ints) -> Baselines:
    """Log-log interpolation between neighbours; one line by relative, and one by plain least squares."""
    sizes, seconds = observed.sizes, observed.seconds
    logs, times = np.log(sizes), np.log(seconds)
    share = (logs[indices] - logs[indices - 1]) / (logs[indices + 1] - logs[indices - 1])
    between = np.exp((1.0 - share) * times[indices - 1] + share * times[indices + 1])
    relative, plain = (_one_line(observed, indices, weights) for weights in (np.ones_like(sizes), _plain(seconds)))
    return Baselines(*(float(np.abs(by / seconds[indices] - 1.0).mean()) for by in (between, relative, plain)))


def _plain(seconds: Floats) -> Floats:
    """Weights that undo the relative ones; scaled, because only their ratios matter."""
    weights: Floats = (seconds / seconds.max()) ** 2
    return weights


def _one_line(observed: Observed, indices: Ints, weights: Floats) -> Floats:
    of_points = terms(observed.sizes, observed.seconds, weights)
    kept = np.ones((len(indices), len(observed.sizes), 1))
    kept[np.arange(len(indices)), indices] = 0.0
    fitted = lines((of_points * kept).sum(axis=1))
    return fitted.latency + fitted.slope * observed.sizes[indices]
