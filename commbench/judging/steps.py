"""Did a series of nights stay where it was, step, or drift? Least squares, with a bound on false alarms.

A step is searched at every night and a drift over all of them, so the test of the best one is corrected for the number
of places (Bonferroni). Which of the two it was is decided by the smaller residual (both have the level and one size;
the step's place costs it one more parameter, as in Schwarz's criterion).
"""

from collections.abc import Iterator
from math import inf, log
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr

from commbench.intervals import Floats

FEWEST_NIGHTS = 6
FALSE_ALARMS = 0.01
"""The chance that series without any change show one, all series together."""

_SHORTEST = 1  # nights of a segment; one night may be tonight
_FINEST = 1e-4  # relative: below, no series is steadier than clocks are


class Change(NamedTuple):
    """A change in a series of logarithms.

    Attributes:
        kind: `step` at one night, or `drift` over all from `at` to the end.
        at: the first night of the new level.
        until: the night after its last one.
        size: by how much the logarithm rose (a drift: from its first night to its last).
        p_value: how likely so large a change is where there is none, corrected for where it was searched.
    """

    kind: str
    at: int
    until: int
    size: float
    p_value: float


def changes(values: Floats, series: int = 1) -> tuple[Change, ...]:
    """The changes in a series, in their order; none where chance explains it, or it has fewer than 6 values.

    Args:
        series: how many are searched; each one then has that share of the false alarms.
    """
    found = tuple(_changes(values, 0, FALSE_ALARMS / max(1, series)))
    return tuple(sorted(found, key=lambda change: change.at))


def _changes(values: Floats, start: int, false_alarms: float) -> Iterator[Change]:
    n = len(values)
    if n < FEWEST_NIGHTS:
        return
    step, left_by_step = _best_step(values)
    drift, left_by_drift = _drift(values)
    drifts = drift.p_value < false_alarms and n * log(left_by_drift) < n * log(left_by_step) + log(n)
    if drifts:
        yield drift._replace(at=start, until=start + n)
    elif step.p_value < false_alarms:
        yield step._replace(at=start + step.at, until=start + n)
        yield from _changes(values[: step.at], start, false_alarms)
        yield from _changes(values[step.at :], start + step.at, false_alarms)


def _best_step(values: Floats) -> tuple[Change, float]:
    """The split that leaves the smallest residual, and that residual (per value)."""
    n = len(values)
    centred = values - values.mean()
    sums = np.cumsum(centred)[:-1]
    below = np.arange(1, n)
    explained = sums**2 * n / (below * (n - below))
    allowed = (below >= _SHORTEST) & (n - below >= _SHORTEST)
    place = int(np.argmax(np.where(allowed, explained, -inf)))
    total = float(centred @ centred)
    left = max(total - float(explained[place]), 0.0) + n * _FINEST**2
    at = place + 1
    error = (left / (n - 2) * n / (at * (n - at))) ** 0.5
    size = float(values[at:].mean() - values[:at].mean())
    return Change("step", at, n, size, _p_value(size, error, n - 2, n - 1)), left / n


def _drift(values: Floats) -> tuple[Change, float]:
    n = len(values)
    nights = np.arange(n) - (n - 1) / 2.0
    centred = values - values.mean()
    squares = float(nights @ nights)
    slope = float(nights @ centred) / squares
    rest = centred - slope * nights
    left = float(rest @ rest) + n * _FINEST**2
    error = (left / (n - 2) / squares) ** 0.5
    return Change("drift", 0, n, slope * (n - 1), _p_value(slope, error, n - 2, 1)), left / n


def _p_value(size: float, error: float, freedom: int, places: int) -> float:
    return min(1.0, places * 2.0 * float(stdtr(freedom, -abs(size) / error)))
