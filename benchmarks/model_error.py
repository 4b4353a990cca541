"""How well fits and predictions do: on real sweeps with sizes held out, and on laws that are known.

    python -m benchmarks.model_error [--draws 200] [--data FILE ...]

Reads benchmarks/data/real_sweeps.jsonl: outputs of nccl-tests, rccl-tests and OSU from clusters of many kinds, turned
into sweeps by `commbench import` (numbers only). Each size of each complete curve of at least 12 sizes is left out in
turn, the rest is fitted and predicted through the public functions, as if that size had never been measured. Prints a
table with the limits; returns 1 if one is missed.
"""

import argparse
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks import model_laws as laws
from benchmarks.machine import machine_and_date
from commbench.modelling.fitting import fit_curve, fit_sweeps
from commbench.modelling.predicting import predict, predict_many
from commbench.sweepfile.curves import Curve, curves_of
from commbench.sweepfile.reader import read_sweeps
from commbench.sweepfile.sets import SweepSet, sets_of

DATA = Path(__file__).parent / "data" / "real_sweeps.jsonl"
FEWEST_SIZES = 12
LARGEST = 16.0  # the largest sizes that are held out: those within this factor of the largest
SMALLEST_RANGE = 100.0

Floats = npt.NDArray[np.float64]


class OfCurve(NamedTuple):
    """Errors on one curve (1 = 100 %); `beyond` are those on the largest sizes, empty if too little is left."""

    name: str
    predicted: Floats
    interpolated: Floats
    covered: Floats
    beyond: Floats
    beyond_covered: Floats


class Figure(NamedTuple):
    """A line of the table."""

    what: str
    found: str
    limit: str
    met: bool | None


def real_curves(paths: Iterable[Path]) -> tuple[list[tuple[Curve, SweepSet]], list[str]]:
    """The curves of enough sizes that have a model, and why the others have none."""
    sweeps = [sweep for path in paths for sweep in read_sweeps(path)]
    usable, refused = [], []
    for sweep_set in sets_of(sweeps):
        curves = curves_of(sweep_set)
        for curve in curves:
            if len(curve.points) < FEWEST_SIZES:
                continue
            reason = fit_curve(curve, sweep_set, curves).refused
            if reason is None:
                usable.append((curve, sweep_set))
            else:
                refused.append(f"{sweep_set.name} {curve.key}: {reason}")
    return usable, refused


def errors_of(curve: Curve, sweep_set: SweepSet) -> OfCurve:
    """Each inner size left out in turn, then the largest ones together."""
    sizes = np.array([point.message_bytes for point in curve.points], dtype=np.float64)
    seconds = np.array([point.seconds for point in curve.points])
    predicted, interpolated, covered = [], [], []
    for index in range(1, len(sizes) - 1):
        model = fit_curve(_only(curve, np.delete(np.arange(len(sizes)), index)), sweep_set)
        others = np.delete(sizes, index), np.delete(seconds, index)
        between = np.exp(np.interp(np.log(sizes[index]), np.log(others[0]), np.log(others[1])))
        interpolated.append(abs(between / seconds[index] - 1.0))
        if model.refused:  # nothing was predicted: as wrong as an answer of 0
            predicted.append(1.0)
            covered.append(0.0)
            continue
        answer = predict(model, sizes[index])
        predicted.append(abs(answer.seconds / seconds[index] - 1.0))
        covered.append(float(answer.interval[0] <= seconds[index] <= answer.interval[1]))
    beyond, beyond_covered = _beyond(curve, sweep_set, sizes, seconds)
    name = f"{sweep_set.name} {curve.key}"
    return OfCurve(name, np.array(predicted), np.array(interpolated), np.array(covered), beyond, beyond_covered)


def _beyond(curve: Curve, sweep_set: SweepSet, sizes: Floats, seconds: Floats) -> tuple[Floats, Floats]:
    nothing = np.zeros(0)
    kept = np.flatnonzero(sizes <= sizes[-1] / LARGEST)
    if len(kept) < 5 or sizes[kept[-1]] < SMALLEST_RANGE * sizes[0]:
        return nothing, nothing
    model = fit_curve(_only(curve, kept), sweep_set)
    if model.refused:
        return nothing, nothing
    held = slice(int(kept[-1]) + 1, None)
    answer = predict_many(model, sizes[held])
    inside = (answer.low <= seconds[held]) & (seconds[held] <= answer.high)
    return np.abs(answer.seconds / seconds[held] - 1.0), inside.astype(np.float64)


def _only(curve: Curve, indices: Floats | npt.NDArray[np.intp]) -> Curve:
    return Curve(curve.key, curve.world_size, tuple(curve.points[int(index)] for index in indices))


def figures_of_curves(found: Sequence[OfCurve]) -> list[Figure]:
    """What the real sweeps say."""
    means = np.array([of_curve.predicted.mean() for of_curve in found])
    others = np.array([of_curve.interpolated.mean() for of_curve in found])
    ratio = float(np.median(means) / np.median(others))
    far = [of_curve for of_curve in found if len(of_curve.beyond)]
    beyond = float(np.median([np.median(of_curve.beyond) for of_curve in far]))
    inside = float(np.concatenate([of_curve.covered for of_curve in found]).mean())
    outside = float(np.concatenate([of_curve.beyond_covered for of_curve in far]).mean())
    worst = float(np.quantile(means, 0.9))
    return [
        Figure(f"real: error of unseen sizes, median of {len(found)} curves", _percent(np.median(means)), "", None),
        Figure("real: the same of log-log interpolation", _percent(np.median(others)), "", None),
        Figure("real: ratio of the two", f"{ratio:.2f}", "at most 0.9", ratio <= 0.9),
        Figure("real: error of unseen sizes, 90th percentile", _percent(worst), "under 12 %", worst < 0.12),
        Figure("real: unseen sizes inside the 95 % interval", _percent(inside), "", None),
        Figure(f"real: largest {LARGEST:.0f}x held out, median of {len(far)} curves", _percent(beyond), "at most 10 %",
               beyond <= 0.10),
        Figure("real: those inside the 95 % interval", _percent(outside), "", None),
    ]  # fmt: skip


def figures_of_laws(draws: int) -> list[Figure]:
    """What the known laws say."""
    found = []
    for name, samples, noise in (
        ("single values", 1, laws.gaussian), ("20 samples a size", 20, laws.lognormal),
    ):  # fmt: skip
        got = laws.one_line(draws, samples, noise)
        covered = (got.latency_covered, got.rate_covered)
        found += [
            Figure(f"law, {name}: latency error", _percent(got.latency_error), "at most 2 %",
                   got.latency_error <= 0.02),
            Figure(f"law, {name}: bandwidth error", _percent(got.rate_error), "at most 1 %", got.rate_error <= 0.01),
            Figure(f"law, {name}: intervals that hold latency, bandwidth", " and ".join(map(_percent, covered)),
                   "90 to 99 %", all(0.90 <= share <= 0.99 for share in covered)),
            Figure(f"law, {name}: intervals that hold a predicted time", _percent(got.prediction_covered), "", None),
            Figure(f"law, {name}: fits with one segment", _percent(got.one_segment), "", None),
        ]  # fmt: skip
    for jump in (0.2, 0.5):
        share = laws.found_breaks(draws, jump)
        found.append(Figure(f"jump of {100 * jump:.0f} %: found within a size step", _percent(share), "at least 90 %",
                            share >= 0.90))  # fmt: skip
    return found


def figure_of_time() -> Figure:
    """8 curves of 40 sizes with 20 samples each, from measurements in memory to models.

    Processor time, all threads together: on a quiet machine it takes no longer, and on a busy one this says the same.
    """
    chance = np.random.default_rng(7)
    sizes = np.round(np.geomspace(8.0, 2.0**33, 40))
    times = (laws.LATENCY + sizes / laws.RATE)[:, None]
    sweeps = [laws.sweep(times * laws.lognormal(chance, (40, 20)), sizes, world_size=2 + number) for number in range(8)]
    began = time.process_time()
    fit_sweeps(sweeps)
    taken = time.process_time() - began
    return Figure("fit of 40 sizes x 8 models (processor time)", f"{taken:.2f} s", "under 2 s", taken < 2.0)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share < 0.0995 else f"{100 * share:.0f} %"


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table, and each curve above it. Returns 1 if a limit is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.model_error", description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=200, help="draws of each law")
    parser.add_argument("--data", nargs="+", type=Path, default=[DATA], help="sweep files")
    options = parser.parse_args(argv)
    print(machine_and_date())
    usable, refused = real_curves(options.data)
    found = []
    print(f"\n{'real curve':<76} {'sizes':>5} {'error':>7} {'interp.':>7} {'beyond':>7}")
    for curve, sweep_set in usable:
        of_curve = errors_of(curve, sweep_set)
        found.append(of_curve)
        beyond = _percent(float(np.median(of_curve.beyond))) if len(of_curve.beyond) else ""
        print(f"{of_curve.name:<76} {len(curve.points):>5} {_percent(of_curve.predicted.mean()):>7} "
              f"{_percent(of_curve.interpolated.mean()):>7} {beyond:>7}", flush=True)  # fmt: skip
    print("\nrefused:", *refused, sep="\n  ")
    figures = [*figures_of_curves(found), *figures_of_laws(options.draws), figure_of_time()]
    print("\n| figure | found | limit | met |\n|---|---|---|---|")
    for what, value, limit, met in figures:
        print(f"| {what} | {value} | {limit} | {'' if met is None else 'yes' if met else 'NO'} |")
    return 0 if all(figure.met is not False for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
