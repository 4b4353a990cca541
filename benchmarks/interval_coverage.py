"""How often the 95 % interval of a point's median holds the true median, when sampling stops because it is narrow.

    python -m benchmarks.interval_coverage

The rank-based interval covers at least 95 % for a number of samples chosen beforehand. The stopping rule looks at the
interval again and again and stops when it is narrow, and an interval that is narrow by luck misses more often. This
program draws samples whose median is known, stops them with the rule of the measuring core, and counts. No limit of
time: with one, fewer points stop by the target and the figure comes nearer to the fixed one.

One row of samples is not independent (a neighbour's work lasts longer than a sample): no interval made from ranks
knows that, and the figure shows what it costs.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmarks.machine import machine_and_date
from commbench.intervals import median_interval
from commbench.measuring.stopping import Rule, next_batch

POINTS = 4000  # the figure's own standard error is then 0.35 percentage points
RULE = Rule(target=0.02, limit=1e9)
FIXED = 20
MOST = 5000  # samples after which a point counts as not stopped by the target

Floats = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Floats]


@dataclass(frozen=True)
class Law:
    """Times of one point: how they are drawn, and their true median."""

    name: str
    draw: Draw
    median: float = 1.0


def lognormal(sigma: float) -> Draw:
    """Independent times around 1, skewed as times are."""

    def draw(chance: np.random.Generator, n: int) -> Floats:
        times: Floats = chance.lognormal(0.0, sigma, n)
        return times

    return draw


def shifted_exponential(chance: np.random.Generator, n: int) -> Floats:
    """A floor that no call beats, and waiting times on top; its median is 1."""
    times: Floats = 1.0 - 0.1 * np.log(2.0) + chance.exponential(0.1, n)
    return times


def correlated(chance: np.random.Generator, n: int) -> Floats:
    """Lognormal times of which each resembles the one before (correlation 0.5 of their logarithms)."""
    noise = chance.normal(0.0, 0.1, n)
    for i in range(1, n):
        noise[i] = 0.5 * noise[i - 1] + np.sqrt(0.75) * noise[i]
    times: Floats = np.exp(noise)
    return times


LAWS = (
    Law("lognormal, sigma 0.03", lognormal(0.03)),
    Law("lognormal, sigma 0.1", lognormal(0.1)),
    Law("lognormal, sigma 0.3", lognormal(0.3)),
    Law("floor and exponential waits", shifted_exponential),
    Law("lognormal 0.1, correlation 0.5", correlated),
)


def stopped(times: Floats) -> int:
    """How many of the times the measuring core would have taken."""
    taken = 0
    while batch := next_batch(times[:taken].tolist(), float(times[:taken].sum()), RULE):
        taken += batch
        if taken >= len(times):
            return len(times)
    return taken


def coverage(law: Law, taken: Callable[[Floats], int], seed: int) -> tuple[float, float]:
    """(share of points whose interval holds the true median, median number of samples)."""
    chance = np.random.default_rng(seed)
    hits, counts = 0, []
    for _ in range(POINTS):
        times = law.draw(chance, MOST)
        count = taken(times)
        interval = median_interval(times[:count])
        hits += interval is not None and interval[0] <= law.median <= interval[1]
        counts.append(count)
    return hits / POINTS, float(np.median(counts))


def main() -> int:
    """Print one row a law. Returns 0."""
    print(machine_and_date())
    print(f"{POINTS} points a row, target ±{100 * RULE.target:.0f} %, coverage of the 95 % interval of the median")
    print(f"{'samples':<34}{f'fixed n={FIXED}':>12}{'stopped':>10}{'samples taken (median)':>24}")
    for seed, law in enumerate(LAWS):
        fixed, _ = coverage(law, lambda _: FIXED, seed)
        adaptive, count = coverage(law, stopped, seed)
        print(f"{law.name:<34}{100 * fixed:>10.1f} %{100 * adaptive:>8.1f} %{count:>24.0f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
