"""Whether healthy pairs carry what was asked for: all else about pairs compares them with each other only."""

from collections.abc import Sequence
from math import sqrt
from typing import Literal, NamedTuple

from commbench.judging.endpoints import FALSE_ALARMS, MEDIAN_VARIANCE, MISSES, Judged, Trial, freedom_of

_PATHS = 2  # each of them may be called slow by chance


class AgainstExpected(NamedTuple):
    """How healthy pairs of a path stand to the time that was expected.

    Attributes:
        slowness, interval: log of their time over it; 95 %.
        tests: of healthy pairs.
        status: slow and fine are shown, open is everything between.
    """

    slowness: float
    interval: tuple[float, float]
    tests: int
    status: Literal["fine", "slow", "open"]


def against_expected(found: Judged, trials: Sequence[Trial], expected: float, limit: float) -> AgainstExpected:
    """Hold the reference of a path against an expected time.

    Args:
        found, trials: what was judged, and from which tests.
        expected: log of the seconds that a healthy pair should take.
        limit: log of what it may take longer.
    """
    from scipy.special import stdtrit  # here: ranks that judge nothing need not load it

    bad = {member for member, each in found.members.items() if each.status in ("slow", "suspect")}
    healthy = sum(not bad & {trial.a, trial.b} for trial in trials) or len(trials)
    error = found.scale * sqrt(min(1.0, MEDIAN_VARIANCE / healthy))
    named, missed, alone = (
        error * float(stdtrit(freedom_of(healthy), 1.0 - chance)) for chance in (FALSE_ALARMS / _PATHS, MISSES, 0.025)
    )
    slowness = found.reference - expected
    status: Literal["fine", "slow", "open"] = "open"
    if slowness - named > limit:
        status = "slow"
    elif slowness + missed < limit:
        status = "fine"
    return AgainstExpected(slowness, (slowness - alone, slowness + alone), healthy, status)
