"""One test of two ranks: what its bytes took, and what the smallest message took."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from commbench.judging.endpoints import lower_quarter

PathKind = Literal["between", "inside"]
Samples = tuple[Sequence[float], Sequence[float]]
PATHS: tuple[PathKind, ...] = ("between", "inside")

_SHOWS = 0.1  # share of a test's time that its bytes must take: less is lost in how the smallest messages scatter


class PairTimes(NamedTuple):
    """One test of two ranks.

    Attributes:
        seconds: each one's own time of the message in every sample.
        small: the same of a message so small that no bandwidth shows in it; None: not measured.
        wrong: wrong elements that each found; None: nobody looked.
    """

    path: PathKind
    ranks: tuple[int, int]
    seconds: Samples
    small: Samples | None = None
    wrong: tuple[int, int] | None = None
    retest: bool = False

    @property
    def call_seconds(self) -> float:
        """What the message took on who entered last; the lower quartile."""
        return lower_quarter(map(min, *self.seconds))

    @property
    def path_seconds(self) -> float | None:
        """What the bytes took: without what the smallest message takes, too. None where that is too little to show.

        Of each sample the rank counts that entered last, because it waited for nobody. Of the samples it is the lower
        quartile: other work on a host makes half of them longer long before it reaches the fastest quarter.
        """
        whole = self.call_seconds
        waits = lower_quarter(map(min, *self.small)) if self.small else 0.0
        return whole - waits if whole - waits > _SHOWS * whole else None

    @property
    def small_seconds(self) -> float | None:
        """What the smallest message took on the slower of both ranks; the lower quartile."""
        return lower_quarter(map(max, *self.small)) if self.small else None
