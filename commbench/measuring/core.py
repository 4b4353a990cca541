"""The measuring core: warm up, calibrate, sample, decide, check. It knows ranks and numbers, and no library.

Everything that steers the loop is read off an array that `World.gather` gives all ranks alike, so all ranks always
make the same number of calls.
"""

from dataclasses import dataclass, replace
from math import exp, lgamma, log, log1p
from time import perf_counter

import numpy as np
import numpy.typing as npt

from commbench.intervals import FEWEST_FOR_MEDIAN
from commbench.measuring.seam import Backend, Case, Operation
from commbench.measuring.stopping import Rule, calls_per_sample, next_batch, warm_up_calls
from commbench.measuring.watch import Watch
from commbench.sweepfile.records import Skew

APART = 0.2  # of the time: a gap between ranks that is worth asking where it comes from

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Measured:
    """What one point gave. `times` has a row per rank and a column per sample: seconds per call."""

    times: Floats
    calls: int
    wrong: int | None
    skew: Skew | None = None

    @property
    def seconds(self) -> tuple[float, ...]:
        """Per sample, the slowest rank's time of one call (s)."""
        return tuple(self.times.max(axis=0).tolist())

    @property
    def fastest_seconds(self) -> tuple[float, ...]:
        """Per sample, the fastest rank's time of one call (s)."""
        return tuple(self.times.min(axis=0).tolist())

    @property
    def slowest_rank(self) -> int | None:
        """The rank that was slowest in most samples, see `_in_most`."""
        return _in_most(self.times.argmax(axis=0), len(self.times))

    @property
    def fastest_rank(self) -> int | None:
        """The rank that was fastest in most samples, see `_in_most`."""
        return _in_most(self.times.argmin(axis=0), len(self.times))

    def of_group(self, ranks: tuple[int, ...]) -> tuple[float, ...]:
        """Per sample, the time of one call on the slowest of `ranks` (s)."""
        return tuple(self.times[list(ranks)].max(axis=0).tolist())


def measure(backend: Backend, case: Case, rule: Rule, watch: Watch) -> Measured:
    """Measure one case. Collective: every rank of the backend's world calls it with the same arguments."""
    watch.enter("warm-up", case)
    operation = backend.prepare(case)
    try:
        wrong = _check(backend, operation) if rule.check else None
        calls = _warm_up(backend, operation, case, rule)
        times = _sample(backend, operation, case, calls, rule, watch)
        measured = Measured(times / calls, calls, wrong)
        skew = _skew(backend, operation, measured) if case.definition.synchronises else None
        if rule.check:
            watch.enter("check", case)
            wrong = (wrong or 0) + _check(backend, operation)
    finally:
        operation.close()
    return replace(measured, wrong=wrong, skew=skew)


def _check(backend: Backend, operation: Operation) -> int:
    """Wrong elements over all ranks of one checked call."""
    return int(backend.world.gather([operation.wrong()]).sum())


def _warm_up(backend: Backend, operation: Operation, case: Case, rule: Rule) -> int:
    """Warm up; returns the calls per sample, calibrated on the last warm-up call."""
    unit = case.calls_in_graph
    first, resolution = backend.world.gather([operation.time(unit) / unit, backend.resolution()]).max(axis=0)
    spent = [operation.time(unit) / unit for _ in range(warm_up_calls(float(first), rule))]
    last = backend.world.gather([spent[-1]]).max() if spent else first
    return calls_per_sample(case.mode, float(last), float(resolution), rule, unit=unit, most=operation.most_calls)


def _sample(backend: Backend, operation: Operation, case: Case, calls: int, rule: Rule, watch: Watch) -> Floats:
    """Seconds of each sample, shape (ranks, samples)."""
    times = np.empty((backend.world.size, 0))
    started = perf_counter()
    spent = 0.0
    while batch := next_batch(times.max(axis=0).tolist() if times.size else [], spent, rule):
        watch.enter("timed", case, expected=spent / max(1, times.shape[1]) * batch)
        samples = [operation.time(calls) for _ in range(batch)]
        shared = backend.world.gather([*samples, perf_counter() - started])
        times = np.concatenate([times, shared[:, :-1]], axis=1)
        spent = float(shared[:, -1].max())
    return times


def _skew(backend: Backend, operation: Operation, measured: Measured) -> Skew | None:
    """Whether ranks that are apart enter or leave at different times.

    Their times cannot tell: of two ranks, one that comes late and one whose neighbour is slow look alike. So a few
    more samples are taken, after each of which the ranks meet: those that left early wait for the others there.
    """
    gap = float(np.median(np.subtract(measured.seconds, measured.fastest_seconds)))
    nobody = measured.slowest_rank is None and measured.fastest_rank is None
    if nobody or gap <= APART * float(np.median(measured.seconds)):
        return None
    waits = []
    for _ in range(FEWEST_FOR_MEDIAN):
        operation.time(measured.calls)
        left = perf_counter()
        backend.world.gather([0.0])
        waits.append(perf_counter() - left)
    apart = float(np.median(np.ptp(backend.world.gather(waits), axis=0))) / measured.calls
    return "exit" if apart > gap / 2 else "entry"


def _in_most(ranks: npt.NDArray[np.intp], size: int) -> int | None:
    """The rank that stands in more than half of the samples, and more often than chance would put it there.

    Of two equal ranks one is always ahead, so a majority alone names the innocent: the count must also be one that
    equal ranks reach in at most 5 % of points (binomial).
    """
    counts = np.bincount(ranks)
    most = int(counts.max())
    if size < 2 or 2 * most <= len(ranks) or _at_least(most, len(ranks), 1.0 / size) > 0.05:
        return None
    return int(counts.argmax())


def _at_least(least: int, trials: int, p: float) -> float:
    """P(Binomial(trials, p) >= least). Not scipy's: each rank would load it for 0.4 s before it can start."""
    ways = lgamma(trials + 1)
    return sum(
        exp(ways - lgamma(k + 1) - lgamma(trials - k + 1) + k * log(p) + (trials - k) * log1p(-p))
        for k in range(least, trials + 1)
    )
