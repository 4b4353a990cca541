"""How often `compare` calls two sides different: sides that are not (false alarms), and sides that are by 5 %.

    python -m benchmarks.comparison_rates

Sides are simulated, with 4 collectives of 24 sizes each (8 B to 64 MiB), so 96 sizes and 4 curves are asked at once.
`found` counts comparisons that are different anywhere; `sizes` the share of the single sizes that are.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmarks.machine import machine_and_date
from commbench.judging.comparison import compare
from commbench.judging.multiple_tests import FALSE_ALARMS
from commbench.judging.sides import side_of
from commbench.sweepfile.reader import Sweep
from commbench.sweepfile.records import End, Header, Measurement, Source

PAIRS = 400  # a rate of 2 % is then known to ±1.4 percentage points
COLLECTIVES = ("all_reduce", "reduce", "reduce_scatter", "all_gather")
SIZES = tuple(8 << i for i in range(24))
NOISE = 0.02
SHIFT = 0.05

Floats = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Floats]


@dataclass(frozen=True)
class Case:
    """How a side's log times scatter around their law.

    Attributes:
        draw: the noise of samples.
        together: standard deviation of what a launch does to all sizes alike; `apart`: to each size.
        uneven: every fifth size has so many times the noise of the others.
    """

    name: str
    draw: Draw
    samples: int
    launches: int = 1
    together: float = 0.0
    apart: float = 0.0
    uneven: float = 1.0


def normal(chance: np.random.Generator, n: int) -> Floats:
    """Symmetric."""
    return chance.normal(0.0, NOISE, n)


def waits(chance: np.random.Generator, n: int) -> Floats:
    """A floor, and exponential waits on top."""
    return chance.exponential(NOISE, n)


def strays(chance: np.random.Generator, n: int) -> Floats:
    """15 % of samples take 30 % longer."""
    return chance.normal(0.0, NOISE, n) + 0.3 * (chance.random(n) < 0.15)


CASES = (
    Case("6 samples", normal, 6),
    Case("12 samples", normal, 12),
    Case("12 samples, exponential waits", waits, 12),
    Case("12 samples, 15 % strays", strays, 12),
    Case("8 samples, noise uneven 1:5", normal, 8, uneven=5.0),
    Case("2 launches of 12, alike", normal, 12, 2),
    Case("2 launches, 3 % apart together", normal, 12, 2, together=0.03),
    Case("2 launches, 3 % apart at each size", normal, 12, 2, apart=0.03),
    Case("3 launches, 3 % and 3 %", normal, 12, 3, together=0.03, apart=0.03),
)


def sweep(case: Case, label: str, launch: int, shift: float, chance: np.random.Generator) -> Sweep:
    """One launch of one side."""
    luck = chance.normal(0.0, case.together) if case.together else 0.0
    name = f"{label}-{launch}"
    points = []
    for collective in COLLECTIVES:
        for place, size in enumerate(SIZES):
            noise = case.draw(chance, case.samples) * (case.uneven if place % 5 == 0 else 1.0)
            own = chance.normal(0.0, case.apart) if case.apart else 0.0
            seconds = (1e-5 + size / 1e10) * (1.0 + shift) * np.exp(luck + own + noise)
            points.append(
                Measurement(
                    sweep=name, collective=collective, message_bytes=size, seconds=tuple(seconds.tolist()),
                    mode="isolated", correct=True,
                )
            )  # fmt: skip
    head = Header(sweep=name, started_at="", world_size=2, source=Source(tool="simulation"), label=label)
    return Sweep(head, tuple(points), end=End(sweep=name, finished_at="", status="complete"))


def rate(case: Case, shift: float, seed: int) -> tuple[float, float]:
    """(share of comparisons that found a difference, share of sizes that did)."""
    chance = np.random.default_rng(seed)
    found, sizes = 0, 0.0
    for _ in range(PAIRS):
        sides = [
            side_of(label, [sweep(case, label, launch, extra, chance) for launch in range(case.launches)])
            for label, extra in (("a", 0.0), ("b", shift))
        ]
        result = compare(sides, fitted=False)
        found += result.outcome == "different"
        sizes += float(np.mean([point.significant is True for point in result.comparisons]))
    return found / PAIRS, sizes / PAIRS


def main() -> int:
    """Print one row a case. Returns 0."""
    print(machine_and_date())
    print(f"{PAIRS} pairs a figure; noise {100 * NOISE:g} %, family-wise limit {100 * FALSE_ALARMS:g} %")
    print(f"{'':<38}{'alike: found':>14}{f'{100 * SHIFT:g} % slower: found':>22}{'sizes':>9}")
    for seed, case in enumerate(CASES):
        alarms, _ = rate(case, 0.0, 2 * seed)
        power, sizes = rate(case, SHIFT, 2 * seed + 1)
        print(f"{case.name:<38}{100 * alarms:>12.1f} %{100 * power:>20.1f} %{100 * sizes:>7.1f} %", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
