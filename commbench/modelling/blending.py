"""The prediction between measured sizes: the middle one of three answers, none of which ever falls.

1. the segments: they see far, and do not follow a single noisy point;
2. straight lines in size between neighbours: exact wherever time is a latency plus size over a bandwidth;
3. a monotone cubic in log-log between neighbours: smooth where the bandwidth itself grows with the size.

2 and 3 run through the times after those were made to rise (`monotone.rising`), which pools the noise of a plateau; the
segments are kept between what they say at the measured sizes, made to rise in the same way. The middle of three rising
curves rises too. Where held-out errors say that the segments alone do clearly better, they answer.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from commbench.modelling.cubic import cubic_at
from commbench.modelling.monotone import rising
from commbench.modelling.pieces import Pieces

Floats = npt.NDArray[np.float64]


class Climb(NamedTuple):
    """Segments that never fall.

    Attributes:
        pieces: the segments.
        sizes, seconds: measured sizes, and the segments' times there, made to rise.
    """

    pieces: Pieces
    sizes: Floats
    seconds: Floats

    def seconds_at(self, sizes: Floats) -> Floats:
        """The time of each size (s), which lies between the smallest and the largest measured one."""
        left = np.clip(np.searchsorted(self.sizes, sizes, side="right") - 1, 0, len(self.sizes) - 2)
        times: Floats = np.clip(self.pieces.seconds_at(sizes), self.seconds[left], self.seconds[left + 1])
        return times


class Blend(NamedTuple):
    """A curve of time over size.

    Attributes:
        climb: the segments.
        sizes, seconds: measured sizes, and their times made to rise.
    """

    climb: Climb
    sizes: Floats
    seconds: Floats

    def seconds_at(self, sizes: Floats) -> Floats:
        """The time of each size (s), which lies between the smallest and the largest measured one."""
        straight = np.interp(sizes, self.sizes, self.seconds)
        cubic = np.exp(cubic_at(np.log(sizes), np.log(self.sizes), np.log(self.seconds)))
        middle: Floats = np.median([straight, cubic, self.climb.seconds_at(sizes)], axis=0)
        return middle


def climb(pieces: Pieces, sizes: Floats) -> Climb:
    """The segments as a curve that never falls, over the sizes they were fitted to."""
    return Climb(pieces, sizes, np.exp(rising(np.log(pieces.seconds_at(sizes)))))


def blend(pieces: Pieces, sizes: Floats, seconds: Floats) -> Blend:
    """The segments and the points they were fitted to, blended."""
    return Blend(climb(pieces, sizes), sizes, np.exp(rising(np.log(seconds))))
