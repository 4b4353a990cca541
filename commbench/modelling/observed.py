"""A curve as arrays: what a fit works on, and how well its samples and launches know each time."""

from collections import defaultdict
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from commbench.intervals import median_interval
from commbench.sweepfile.curves import Curve, CurvePoint, Launch

Floats = npt.NDArray[np.float64]

SHORTEST = 1e-12  # s; no collective and no clock is that fast, so a smaller time is no measurement
MOST_SIZES = 192  # more sizes than that are grouped with their neighbours before a fit: sizes a few percent apart
NEAR = 2  # sizes on either side that help to say how noisy a size is
STANDS_OUT = 2.0  # times its neighbours' noise, which chance hardly makes of 6 samples and more
NEARLY_EQUAL = 1e-4  # of log size: no law tells such sizes apart, and no time does
_TWO_SIDED = 1.96  # standard deviations in half a 95 % interval of a normal distribution


class Observed(NamedTuple):
    """Measured points in ascending size.

    Attributes:
        sizes, seconds: bytes; the median over launches of each launch's median (s).
        sampled: the relative standard error of each time as its own samples show it, 0 where they are too few.
        launches: log deviation of each launch from `seconds`, (launches, points), NaN where it has no such size.
    """

    sizes: Floats
    seconds: Floats
    sampled: Floats
    launches: Floats

    @property
    def own_variance(self) -> Floats:
        """Of each log time, as its samples and the launches show it; 0 where nothing shows it.

        How noisy a point is is hardly known from its own few samples: its neighbours say it, unless it stands out.
        """
        near = [slice(max(0, at - NEAR), at + NEAR + 1) for at in range(len(self.sizes))]
        usual = np.array([np.median(self.sampled[around]) for around in near])
        of_samples: Floats = np.maximum(usual, self.sampled / STANDS_OUT) ** 2
        count = len(self.launches)
        if count < 2:
            return of_samples
        scatter = np.array([_variance(self.launches[:, around]) for around in near])
        variance: Floats = of_samples + scatter / count
        return variance

    def without_launch(self, index: int) -> "Observed":
        """Only what the other launches say; sizes that only that launch had are gone."""
        others = np.delete(self.launches, index, axis=0)
        kept = ~np.isnan(others).all(axis=0)
        others = others[:, kept]
        return Observed(
            self.sizes[kept], self.seconds[kept] * np.exp(np.nanmedian(others, axis=0)), self.sampled[kept], others
        )


def _variance(launches: Floats) -> float:
    """The variance between launches, in the middle one of some neighbouring sizes."""
    known = [column[~np.isnan(column)] for column in launches.T]
    found = [float(column.var(ddof=1)) for column in known if len(column) > 1]
    return float(np.median(found)) if found else 0.0


def observe(curve: Curve) -> Observed:
    """The points of a curve that have a time, grouped if they are very many."""
    points = [point for point in curve.points if point.seconds >= SHORTEST]
    sizes = np.array([point.message_bytes for point in points], dtype=np.float64)
    seconds = np.array([point.seconds for point in points], dtype=np.float64)
    sampled = np.array([_sampled(point) for point in points], dtype=np.float64)
    observed = Observed(sizes, seconds, sampled, _launches(points, seconds))
    groups = _groups(sizes)
    return observed if len(groups) == len(sizes) else _grouped(observed, groups)


def _sampled(point: CurvePoint) -> float:
    """The relative standard error of a point's median, over the launches' own."""
    errors = [_standard_error(launch) for launch in point.launches if len(launch.seconds) > 5]
    if not errors:
        return 0.0
    return float(np.mean(errors)) / point.seconds / float(np.sqrt(len(errors)))


def _standard_error(launch: Launch) -> float:
    interval = median_interval(launch.seconds)
    return (interval[1] - interval[0]) / 2.0 / _TWO_SIDED if interval else 0.0


def _launches(points: list[CurvePoint], seconds: Floats) -> Floats:
    medians: dict[tuple[str, int], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for index, point in enumerate(points):
        for launch in point.launches:
            medians[launch.sweep, launch.cycle][index].append(launch.median)
    table = np.full((len(medians), len(points)), np.nan)
    for row, times in zip(table, medians.values(), strict=True):
        for index, found in times.items():
            middle = found[0] if len(found) == 1 else float(np.median(found))
            if middle >= SHORTEST:
                row[index] = np.log(middle / seconds[index])
    return table


def _groups(sizes: Floats) -> list[npt.NDArray[np.intp]]:
    """Indices of sizes that count as one: nearly equal ones, and neighbours where there are very many."""
    alike = np.split(np.arange(len(sizes)), np.flatnonzero(np.diff(np.log(sizes)) > NEARLY_EQUAL) + 1)
    if len(alike) <= MOST_SIZES:
        return alike
    inner = np.array_split(np.arange(1, len(alike) - 1), MOST_SIZES - 2)
    return [alike[0], *(np.concatenate(alike[part[0] : part[-1] + 1]) for part in inner), alike[-1]]


def _grouped(observed: Observed, groups: list[npt.NDArray[np.intp]]) -> Observed:
    """Each group as one point: mean size, and the time that the median of their rates gives it there.

    The smallest and the largest size stay what they are: between them lies what was measured.
    """
    sizes = np.array([observed.sizes[group].mean() for group in groups])
    sizes[0], sizes[-1] = observed.sizes[0], observed.sizes[-1]
    rates = observed.sizes / observed.seconds
    seconds = np.array([size / np.median(rates[group]) for size, group in zip(sizes, groups, strict=True)])
    sampled = np.array([observed.sampled[group].mean() / np.sqrt(len(group)) for group in groups])
    return Observed(sizes, seconds, sampled, np.zeros((1, len(groups))))
