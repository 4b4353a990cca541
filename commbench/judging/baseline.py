"""Limits from several good launches: how much worse than they must a launch be, before that is no chance any more.

Launches differ by more than the samples inside one do, so their medians are what counts. The logarithms of these have,
at each size, a mean over launches and a spread; the spread is pooled over the neighbouring sizes of the curve, because
 five launches tell little about their own spread. docs/acceptance.md derives the margins.
"""

from collections.abc import Iterator, Sequence
from math import exp, sqrt
from typing import NamedTuple

import numpy as np

from commbench.collectives import COLLECTIVES
from commbench.errors import UsageError
from commbench.intervals import Floats
from commbench.judging.estimates import quantile
from commbench.judging.launches import each_once
from commbench.judging.limits_text import DerivedLimit, Rates, limits_text
from commbench.judging.units import Unit, units_of
from commbench.sweepfile.curves import CurveKey
from commbench.sweepfile.reader import Sweep
from commbench.units import format_size

FEWEST_LAUNCHES = 3
CONFIDENCE = 0.95  # of the intervals that are held against the limits
LEFT_UNDECIDED = 0.05  # healthy launches that may end inconclusive, if the spread allows it
_NEAR = 8  # sizes up to so many times smaller or larger share their spread
_FINEST = 5e-4  # relative: launches that agree better than this agree by chance


class Made(NamedTuple):
    """The text of a limits file, and what to say about it."""

    text: str
    summary: str


class _Point(NamedTuple):
    """One size of one curve: the logarithm of each launch's median time."""

    key: CurveKey
    message_bytes: int
    logs: Floats

    @property
    def mean(self) -> float:
        return float(self.logs.mean())

    @property
    def residuals(self) -> Floats:
        residuals: Floats = self.logs - self.logs.mean()
        return residuals


def make_baseline(sweeps: Sequence[Sweep], *, false_alarms: float, detect: float, every_size: bool, name: str) -> Made:
    """Derive limits.

    Args:
        false_alarms: the share of healthy launches that may fail (all limits together).
        detect: a machine so much slower (a share) must not pass, but for one time in 40.
        every_size: a limit for each size; else for the smallest, a middle and the largest of each curve.

    Raises:
        UsageError: too few launches, of several machines, with wrong or missing results, or that scatter too much.
    """
    if not 1e-6 <= false_alarms <= 0.5:
        raise UsageError("--false-alarms is out of range", expected="0.0001 % to 50 %",
                         found=f"{100 * false_alarms:g} %", fix='--false-alarms "2 %"')  # fmt: skip
    if detect <= 0.0:
        raise UsageError("--detect is out of range", expected="above 0 %", found="0 %", fix='--detect "5 %"')
    unit = _one_machine(each_once(sweeps))
    points = list(_points(unit))
    chosen = points if every_size else list(_chosen(points))
    launches = len(chosen[0].logs)
    derived = [_derived(point, points, len(chosen), false_alarms, detect, unit) for point in chosen]
    kept = [one for one in derived if one.least_detected <= detect]
    if not kept:
        steadiest = min(derived, key=lambda one: one.least_detected)
        raise _refused(
            f"launches that agree well enough to tell a machine that is {100 * detect:g} % slower",
            f"{launches} launches that differ so much that {100 * steadiest.least_detected:.2g} % is the least to show",
            "a quieter machine, more launches, more samples (-n), or a larger --detect",
        )
    rates = Rates(launches, false_alarms, detect, CONFIDENCE)
    left_out = [one for one in derived if one.least_detected > detect]
    return Made(limits_text(name, unit, kept, left_out, rates), _summary(kept, left_out, rates))


def _one_machine(sweeps: Sequence[Sweep]) -> Unit:
    units = units_of(sweeps)
    if len(units) != 1:
        names = ", ".join(one.name for one in units[:3])
        raise _refused("launches of one machine and setting", f"{len(units)}: {names}",
                       "give the sweeps of one of them")  # fmt: skip
    unit = units[0]
    for sweep in unit.sweeps:
        if sweep.status != "complete" or sweep.voids:
            why = sweep.voids[0].reason if sweep.voids else f"one that is {sweep.status}"
            raise _refused("finished sweeps", why, "leave it out, or measure again")
        for m in sweep.measurements:
            if m.correct is not True or m.wrong:
                what = "wrong" if m.correct is False or m.wrong else "nobody checked them"
                raise _refused(
                    "results that were checked and right",
                    f"{m.collective} {format_size(m.message_bytes)}: {what}",
                    "a baseline is made of launches that are known to be good",
                )
    if unit.key.world_size is None or unit.key.ranks_per_host is None or unit.key.device is None:
        raise _refused(
            "sweeps that state ranks, ranks per host and device", "one that does not", "measure with commbench.sweep"
        )
    if unit.key.world_size < 2:
        raise _refused("two ranks or more", "one rank", "nothing crosses a link with one rank")
    return unit


def _points(unit: Unit) -> Iterator[_Point]:
    """Sizes that every launch has, of curves that every launch has."""
    found = [
        (key, size, [m for m in members if all(second > 0.0 for second in m.seconds)])
        for key, sizes in unit.points.items()
        if key.beside is None and key.mode is not None
        for size, members in sorted(sizes.items())
    ]
    most = max((len(members) for _, _, members in found), default=0)
    if most < FEWEST_LAUNCHES:
        raise _refused(f"{FEWEST_LAUNCHES} launches or more of each curve (5 are better)", str(most),
                       "launch the same sweep again, each into a file of its own")  # fmt: skip
    for key, size, members in found:
        if len(members) == most:
            yield _Point(key, size, np.log([float(np.median(m.seconds)) for m in members]))


def _chosen(points: Sequence[_Point]) -> Iterator[_Point]:
    """The smallest, a middle and the largest size of each curve: latency, the turn, bandwidth."""
    curves: dict[CurveKey, list[_Point]] = {}
    for point in points:
        curves.setdefault(point.key, []).append(point)
    for some in curves.values():
        yield from (some[place] for place in sorted({0, len(some) // 2, len(some) - 1}))


def _derived(
    point: _Point, points: Sequence[_Point], questions: int, false_alarms: float, detect: float, unit: Unit
) -> DerivedLimit:
    launches = len(point.logs)
    spread, freedom = _spread(point, points)
    error = spread * sqrt(1.0 + 1.0 / launches)  # of a launch to come, around the mean of these
    half = quantile(freedom, CONFIDENCE) * error
    room = _one_sided(freedom, LEFT_UNDECIDED / questions) * error
    alarm = _one_sided(freedom, false_alarms / questions) * error
    return DerivedLimit(
        key=point.key,
        message_bytes=point.message_bytes,
        seconds=exp(point.mean),
        bound_seconds=exp(point.mean) * (1.0 + detect),
        spread=error,
        freedom=freedom,
        least_detected=float(np.expm1(max(half + room, alarm - half))),
        bus_factor=COLLECTIVES[point.key.collective].bus_factor(unit.key.world_size or 1),
    )


def _spread(point: _Point, points: Sequence[_Point]) -> tuple[float, float]:
    """The standard deviation between launches, and its degrees of freedom.

    Neighbours share a launch's luck, so they do not count in full: with S their covariance over sizes, the freedom is
    that of the launches times tr(S)^2 / tr(S^2), which is 1 where all move together.
    """
    launches = len(point.logs)
    near = [other for other in points if other.key == point.key and _is_near(point, other)]
    residuals = np.array([other.residuals for other in near])
    covariance = residuals @ residuals.T / (launches - 1)
    trace = float(np.trace(covariance))
    squares = float((covariance * covariance).sum())
    own = float(point.residuals @ point.residuals) / (launches - 1)
    together = trace * trace / squares if squares > 0.0 else 1.0
    return sqrt(max(trace / len(near), own, _FINEST**2)), (launches - 1) * max(1.0, together)


def _is_near(a: _Point, b: _Point) -> bool:
    return a.message_bytes <= _NEAR * b.message_bytes and b.message_bytes <= _NEAR * a.message_bytes


def _one_sided(freedom: float, tail: float) -> float:
    return quantile(freedom, 1.0 - 2.0 * min(tail, 0.499))


def _summary(kept: Sequence[DerivedLimit], left_out: Sequence[DerivedLimit], rates: Rates) -> str:
    least = max(one.least_detected for one in kept)
    rate = f"healthy launches fail at most {100 * rates.false_alarms:g} % of the time"
    lines = [
        f"{len(kept)} limits from {rates.launches} launches, at times {_percent(rates.detect)} above their mean",
        f"{rate}; --detect {_percent(least)} would do",
    ]
    if left_out:
        worst = max(left_out, key=lambda one: one.least_detected)
        lines.append(
            f"note: {len(left_out)} points have no limit: launches differ too much there to tell a machine that is "
            f"{_percent(rates.detect)} slower\n      (worst: "
            f"{worst.key.collective} {format_size(worst.message_bytes)}, "
            f"where {_percent(worst.least_detected)} is the least to show)"
        )
    return "\n".join(lines) + "\n"


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.995 else f"{100 * share:.0f} %"


def _refused(expected: str, found: str, fix: str) -> UsageError:
    return UsageError("no limits can be derived from these sweeps", expected=expected, found=found, fix=fix)
