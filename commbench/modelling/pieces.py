"""Fitted segments as a function of size."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from commbench.modelling.lines import Lines, flat_lines, lines, terms

Floats = npt.NDArray[np.float64]

MODEL_ERROR = 0.01  # what the law itself is wrong by, about; samples that know a time better do not help it
CLEAR = 3.0  # standard deviations of noise that a slope must explain
SLOWEST = 1000.0  # times slower than the last segment; NCCL's slowest protocol is about 100 times slower


class Pieces(NamedTuple):
    """Segments in ascending size: arrays of one entry a segment.

    Attributes:
        first, last: the smallest and largest measured size of each (bytes).
        latency, slope: s, and s per byte.
    """

    first: Floats
    last: Floats
    latency: Floats
    slope: Floats

    def seconds_at(self, sizes: Floats) -> Floats:
        """The time of each size (s). Between two segments nothing was measured: a straight line in log-log there."""
        at = np.maximum(np.searchsorted(self.first, sizes, side="right") - 1, 0)
        times = self.latency[at] + self.slope[at] * sizes
        gap = (at < len(self.first) - 1) & (sizes > self.last[at])
        if gap.any():
            left, right = at[gap], at[gap] + 1
            times[gap] = _between(
                sizes[gap], self.last[left], self.latency[left] + self.slope[left] * self.last[left],
                self.first[right], self.latency[right] + self.slope[right] * self.first[right],
            )  # fmt: skip
        return times


def fit_pieces(sizes: Floats, seconds: Floats, weights: Floats, starts: tuple[int, ...]) -> Pieces:
    """The best line of each segment; segments that one line describes as well are joined.

    Args:
        starts: the index of each segment's first point; the first is 0.
    """
    of_points = terms(sizes, seconds, weights)
    return pieces_of(sizes, of_points, _without_idle_cuts(of_points, starts))


def pieces_of(sizes: Floats, terms_of_points: Floats, starts: tuple[int, ...]) -> Pieces:
    """As `fit_pieces`, from `lines.terms` of the points."""
    fitted = without_vague_slopes(np.add.reduceat(terms_of_points, starts, axis=0))
    ends = np.array([*starts[1:], len(sizes)]) - 1
    return Pieces(sizes[list(starts)], sizes[ends], fitted.latency, fitted.slope)


def _without_idle_cuts(terms_of_points: Floats, starts: tuple[int, ...]) -> tuple[int, ...]:
    """The cuts that explain more than noise. Those around a slope that turned out to be none may not.

    The last one stays: large messages scatter less than the noise of all, and their bandwidth is the headline.
    """
    while len(starts) > 2:
        sums = np.add.reduceat(terms_of_points, starts, axis=0)
        cost = without_vague_slopes(sums).cost
        rises = [
            float(without_vague_slopes(np.concatenate([sums[:at], sums[at : at + 2].sum(axis=0)[None], sums[at + 2 :]]))
                  .cost.sum() - cost.sum())
            for at in range(len(starts) - 2)
        ]  # fmt: skip
        least = int(np.argmin(rises))
        if rises[least] > CLEAR**2 * _noise(sums, cost):
            break
        starts = (*starts[: least + 1], *starts[least + 2 :])
    return starts


def without_vague_slopes(sums: Floats) -> Lines:
    """The best line of each segment; a flat one where the time grows by no more than its noise, or absurdly steep.

    Never in the last segment, whose slope is the bandwidth. Noise is that of all segments together, because three
    points on a line show none. Drift that lasts for a few tiny messages looks like a slope, and no protocol moves
    bytes so much slower than the link does.

    Args:
        sums: of `lines.terms`, (segments, 6).
    """
    fitted, level = lines(sums), flat_lines(sums)
    absurd = (fitted.slope > SLOWEST * fitted.slope[-1]) & (fitted.slope[-1] > 0.0)
    flat = absurd | (level.cost - fitted.cost <= CLEAR**2 * _noise(sums, fitted.cost))
    flat[-1] = False
    return Lines(*(np.where(flat, of_level, of_line) for of_level, of_line in zip(level, fitted, strict=True)))


def _noise(sums: Floats, cost: Floats) -> float:
    """The variance of log time around all segments together."""
    freedom = max(1.0, float(sums[:, 5].sum()) - 2.0 * len(sums))
    return float(cost.sum()) / freedom + MODEL_ERROR**2


def _between(sizes: Floats, left: Floats, at_left: Floats, right: Floats, at_right: Floats) -> Floats:
    share = np.log(sizes / left) / np.log(right / left)
    times: Floats = np.exp((1.0 - share) * np.log(at_left) + share * np.log(at_right))
    return times
