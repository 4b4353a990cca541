"""Which members of a set are slow, from the times of pairs of them: estimates with limits that hold together.

A pair is as fast as its slower end: log t(a, b) = reference + max(s(a), s(b)) + e, where s is 0 for a healthy member
and e differs from test to test. So a member is judged by its tests with members that are good themselves.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from statistics import median
from typing import Literal, NamedTuple

FALSE_ALARMS = 0.01
"""The chance that a run names anybody although no member is slower than the tolerance (all members together)."""
MISSES = 0.05
"""The chance that one member that is slower than the tolerance is called fine."""
LOOKS = 4  # times that a run may judge: after the first look, and after each of three cycles of retests
RETESTS = 3  # tests after the first look without which nobody is named
LINK_RETESTS = 4  # and no link: there are many more of them

_FLOOR = 0.002  # tests scatter by so much at least (log): fewer than ten can agree by chance
_MAD = 1.4826  # of a normal law: standard deviation over median absolute deviation
_MAD_FREEDOM = 0.37  # efficiency of that estimate beside the standard deviation's
MEDIAN_VARIANCE = 1.571  # pi/2: variance of a median beside a mean's

_FAR = 3.3  # standard deviations that one healthy pair in two thousand lies off
_APART = 2.5  # standard deviations between members that count as different at the first look
_APART_FROM_ITSELF = 64  # members up to which nobody is compared with its own tests; of more they move no median

Link = tuple[int, int]
Status = Literal["fine", "slow", "suspect", "open"]


class Trial(NamedTuple):
    """One test of two members: `value` is the log of the seconds that their path took, or any other such figure."""

    a: int
    b: int
    value: float
    retest: bool = False


@dataclass(frozen=True)
class Estimate:
    """How slow a member, or the link of two, is: log of its time over that of healthy ones.

    Attributes:
        low, high: what is shown at the rates above: it is slower than `low`, or faster than `high`.
        interval: 95 %, for this one alone.
        partners: the good members that it was tested with; without any (`anchored` False) all it was tested with.
        status: slow and fine are shown; a suspect looks slow and has too few retests; open is everything else.
    """

    slowness: float
    low: float
    high: float
    interval: tuple[float, float]
    tests: int
    retests: int
    partners: tuple[int, ...]
    anchored: bool
    status: Status


@dataclass(frozen=True)
class Judged:
    """All members and the links that looked suspicious.

    Attributes:
        reference: log of the seconds of a healthy pair.
        scale: standard deviation of one test of a healthy pair (log).
    """

    reference: float
    scale: float
    members: dict[int, Estimate]
    links: dict[Link, Estimate]


def judge(tests: Sequence[Trial], limit: float) -> Judged | None:
    """Judge every member that was tested; None without tests.

    Args:
        limit: by which a healthy member's values may lie above the others' (with logs, of the ratio of times).
    """
    if not tests:
        return None
    of: dict[int, list[Trial]] = defaultdict(list)
    for test in tests:
        of[test.a].append(test)
        of[test.b].append(test)
    best = {member: _best(member, own) for member, own in of.items()}
    reference, suspects, scale = _reference(of, best, limit)
    healthy = [test for test in tests if test.a not in suspects and test.b not in suspects]
    again: dict[Link, list[Trial]] = defaultdict(list)
    for test in healthy:
        again[_link(test)].append(test)
    links = {link for link, own in again.items() if _is_odd(own, _ends(link, best, reference) + limit + _FAR * scale)}
    healthy = [test for test in healthy if _link(test) not in links]
    own = {member: [test for test in each if _link(test) not in links] or each for member, each in of.items()}
    anchored = {member: [t for t in each if _partner(t, member) not in suspects] for member, each in own.items()}
    scale, freedom = _scale(
        [test.value - reference for test in healthy],
        [[test.value for test in anchored[member] or own[member]] for member in suspects],
    )
    bounds = _bounds(scale, freedom, len(healthy), limit, len(of))
    members = {}
    for member in sorted(of):
        others = healthy
        if len(of) <= _APART_FROM_ITSELF:
            others = [test for test in healthy if member not in (test.a, test.b)] or healthy
        members[member] = _of_member(
            member, anchored[member] or own[member],
            reference if others is healthy else median(test.value for test in others),
            bounds._replace(healthy=max(1, len(others))), anchored=bool(anchored[member]), always=member in suspects,
        )  # fmt: skip
    bounds = _bounds(scale, freedom, len(healthy), limit, len(links))
    found = {link: _of_link(again[link], _ends(link, best, reference), bounds) for link in sorted(links)}
    return Judged(reference, scale, members, found)


class _Bounds(NamedTuple):
    """How far a median of tests may be off.

    Attributes:
        scale: standard deviation of one test.
        healthy: tests that the reference comes from.
        limit: log of what a healthy member may be slower.
        named, missed, alone: standard errors exceeded at each of the rates.
    """

    scale: float
    healthy: int
    limit: float
    named: float
    missed: float
    alone: float

    def error(self, tests: int) -> float:
        """Standard error of a median of so many tests against the reference."""
        return self.scale * sqrt(min(1.0, MEDIAN_VARIANCE / tests) + min(1.0, MEDIAN_VARIANCE / self.healthy))


def _bounds(scale: float, freedom: float, healthy: int, limit: float, questions: int) -> _Bounds:
    from scipy.special import stdtrit  # here: ranks that judge nothing need not load it

    chances = (FALSE_ALARMS / LOOKS / max(1, questions), MISSES / LOOKS, 0.025)
    return _Bounds(scale, max(1, healthy), limit, *(float(stdtrit(freedom, 1.0 - chance)) for chance in chances))


def _reference(of: dict[int, list[Trial]], best: dict[int, float], limit: float) -> tuple[float, set[int], float]:
    """Log seconds of a healthy pair, the members whose best tests are slower than that, and a first scale.

    The fast ones are the healthy ones: a fault makes nothing faster. Up to half of the members may be slow. Who counts
    as slow depends on how tests scatter, and the other way round, so both are found in turns.
    """
    reference, cut, scale = lower_quarter(list(best.values())), limit, 0.0
    suspects: set[int] = set()
    for _ in range(10):
        now = {member for member, value in best.items() if value - reference > cut}
        healthy = [t.value for member, own in of.items() if member not in now
                   for t in own if t.a == member and t.b not in now]  # fmt: skip
        reference = median(healthy) if healthy else reference
        groups = [
            [t.value for t in own if _partner(t, member) not in now] for member, own in of.items() if member in now
        ]
        scale = _scale([value - reference for value in healthy], groups)[0]
        cut = max(limit, _APART * scale)
        if now == suspects:
            break
        suspects = now
    return reference, suspects, scale


def _best(member: int, own: Sequence[Trial]) -> float:
    """The member's time with the faster ones of its partners: a partner or a link may be slow itself."""
    values: dict[int, list[float]] = defaultdict(list)
    for test in own:
        values[_partner(test, member)].append(test.value)
    return lower_quarter([median(each) for each in values.values()])


def _is_odd(own: Sequence[Trial], limit: float) -> bool:
    """Whether two good members were slow together at the first look."""
    first = [test.value for test in own if not test.retest]
    return bool(first) and median(first) > limit


def _of_link(own: Sequence[Trial], ends: float, bounds: _Bounds) -> Estimate:
    """By its retests alone: it was chosen by what came before.

    Every one of them must be slow: among thousands of links that something disturbed once, some are disturbed twice.
    """
    again = [test.value - ends for test in own if test.retest]
    first = [test.value - ends for test in own if not test.retest]
    always = not again or min(again) > bounds.limit
    found = _estimate(again or first, bounds, retests=len(again), partners=(), anchored=True, always=always)
    return replace(found, status="suspect") if found.status == "slow" and len(again) < LINK_RETESTS else found


def _of_member(
    member: int, own: Sequence[Trial], reference: float, bounds: _Bounds, *, anchored: bool, always: bool
) -> Estimate:
    partners = tuple(sorted({_partner(test, member) for test in own}))
    return _estimate([test.value - reference for test in own], bounds, retests=sum(t.retest for t in own),
                     partners=partners, anchored=anchored, always=always)  # fmt: skip


def _estimate(
    values: Sequence[float], bounds: _Bounds, *, retests: int, partners: tuple[int, ...], anchored: bool, always: bool
) -> Estimate:
    """`always`: even the best tests were slow, as they are where the member itself and no link of it is slow."""
    slowness, error = median(values), bounds.error(len(values))
    low, high, half = slowness - bounds.named * error, slowness + bounds.missed * error, bounds.alone * error
    status: Status = "open"
    if high < bounds.limit:
        status = "fine"
    elif always and low > bounds.limit and retests >= RETESTS:
        status = "slow"
    elif always and slowness > bounds.limit and retests < RETESTS:
        status = "suspect"
    return Estimate(slowness, low, high, (slowness - half, slowness + half), len(values), retests, partners, anchored,
                    status)  # fmt: skip


def _ends(link: Link, best: dict[int, float], reference: float) -> float:
    """Log seconds that both ends alone explain."""
    return max(best[link[0]], best[link[1]], reference)


def _scale(healthy: Sequence[float], groups: Collection[Sequence[float]]) -> tuple[float, float]:
    """Standard deviation of one test and the degrees of freedom of that estimate.

    Args:
        healthy: deviations of healthy pairs from the reference.
        groups: tests of each slow member with good ones, which scatter alike around a time of their own.
    """
    deviations = [abs(value) for value in healthy]
    freedom = max(0, len(healthy) - 1)
    for group in groups:
        if len(group) >= RETESTS:
            middle = median(group)
            deviations += [abs(value - middle) for value in group]
            freedom += len(group) - 1
    if len(deviations) < 2:
        return 0.05, 1.0  # nothing is known: one test may then say little
    small = len(deviations) / (len(deviations) - 0.8)  # a median of few deviations is too small
    return max(_FLOOR, _MAD * small * median(deviations)), freedom_of(freedom + 1)


def freedom_of(tests: int) -> float:
    """Degrees of freedom of a standard deviation that a median absolute deviation of so many tests estimates."""
    return max(1.0, _MAD_FREEDOM * (tests - 1))


def lower_quarter(values: Iterable[float]) -> float:
    """The order statistic below which a quarter of the values lie; of up to four the smallest."""
    ordered = sorted(values)
    return ordered[(len(ordered) - 1) // 4]


def _link(test: Trial) -> Link:
    return (test.a, test.b) if test.a < test.b else (test.b, test.a)


def _partner(test: Trial, member: int) -> int:
    return test.b if test.a == member else test.a
