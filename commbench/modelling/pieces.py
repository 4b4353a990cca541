"""Fitted segments as a function of size."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from commbench.modelling.lines import lines, terms

Floats = npt.NDArray[np.float64]


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
    """The best line of each segment.

    Args:
        starts: the index of each segment's first point; the first is 0.
    """
    return pieces_of(sizes, terms(sizes, seconds, weights), starts)


def pieces_of(sizes: Floats, terms_of_points: Floats, starts: tuple[int, ...]) -> Pieces:
    """As `fit_pieces`, from `lines.terms` of the points."""
    fitted = lines(np.add.reduceat(terms_of_points, starts, axis=0))
    ends = np.array([*starts[1:], len(sizes)]) - 1
    return Pieces(sizes[list(starts)], sizes[ends], fitted.latency, fitted.slope)


def _between(sizes: Floats, left: Floats, at_left: Floats, right: Floats, at_right: Floats) -> Floats:
    share = np.log(sizes / left) / np.log(right / left)
    times: Floats = np.exp((1.0 - share) * np.log(at_left) + share * np.log(at_right))
    return times
