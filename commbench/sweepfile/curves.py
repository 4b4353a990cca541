"""A set of sweeps as curves: time over message size for one collective, with every sample and its launch.

What models, comparison, acceptance and figures read. Nothing is averaged here: a launch (one sweep, one cycle) is a
factor of its own, because two launches differ by more than the samples inside one do.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from commbench.collectives import COLLECTIVES
from commbench.sweepfile.records import Measurement
from commbench.sweepfile.sets import SweepSet


class CurveKey(NamedTuple):
    """What a curve is about; curves with different keys are never mixed in one fit or comparison."""

    collective: str
    op: str | None
    dtype: str | None
    placement: str | None
    mode: str | None
    beside: str | None = None

    def __str__(self) -> str:
        return " ".join(str(part) for part in self if part is not None)


@dataclass(frozen=True)
class Launch:
    """The samples of one point in one launch (s per call, slowest rank).

    Attributes:
        sweep, cycle: which launch.
        seconds: the samples, at least one.
        statistic: what a foreign single value is, None for our own samples.
    """

    sweep: str
    cycle: int
    seconds: tuple[float, ...]
    statistic: str | None = None

    @property
    def median(self) -> float:
        """The median of the samples (s)."""
        return self.seconds[0] if len(self.seconds) == 1 else float(np.median(np.asarray(self.seconds)))


@dataclass(frozen=True)
class CurvePoint:
    """All launches of one message size.

    Attributes:
        message_bytes: the whole, unsharded buffer of one rank.
        correct: False where any launch had wrong data, None where any was not checked, else True.
    """

    message_bytes: int
    launches: tuple[Launch, ...]
    correct: bool | None

    @property
    def seconds(self) -> float:
        """The median over launches of each launch's median (s)."""
        if len(self.launches) == 1:
            return self.launches[0].median
        return float(np.median([launch.median for launch in self.launches]))

    @property
    def samples(self) -> tuple[float, ...]:
        """All samples of all launches (s)."""
        return tuple(sample for launch in self.launches for sample in launch.seconds)


@dataclass(frozen=True)
class Curve:
    """One collective of a set, in ascending message sizes above 0."""

    key: CurveKey
    world_size: int | None
    points: tuple[CurvePoint, ...]

    @property
    def bus_factor(self) -> float | None:
        """Bus bandwidth over algorithm bandwidth; None where the world size is not known."""
        return None if self.world_size is None else COLLECTIVES[self.key.collective].bus_factor(self.world_size)

    @property
    def launches(self) -> int:
        """Launches that contributed to any point."""
        return len({(launch.sweep, launch.cycle) for point in self.points for launch in point.launches})


def curves_of(sweep_set: SweepSet) -> tuple[Curve, ...]:
    """The curves of a set, in the order of their first measurements. Points without a size or a time are left out."""
    grouped: dict[CurveKey, dict[int, list[Measurement]]] = {}
    for measurement in _usable(sweep_set):
        grouped.setdefault(_key(measurement), {}).setdefault(measurement.message_bytes, []).append(measurement)
    return tuple(
        Curve(key, sweep_set.key.world_size, tuple(_point(size, sizes[size]) for size in sorted(sizes)))
        for key, sizes in grouped.items()
    )


def _usable(sweep_set: SweepSet) -> Iterator[Measurement]:
    for sweep in sweep_set.sweeps:
        for m in sweep.measurements:
            if m.collective in COLLECTIVES and m.message_bytes and any(m.seconds):
                yield m


def _key(m: Measurement) -> CurveKey:
    return CurveKey(str(m.collective), m.op, m.dtype, m.placement, m.mode, m.beside)


def _point(size: int, measurements: list[Measurement]) -> CurvePoint:
    launches = tuple(Launch(m.sweep, m.cycle, m.seconds, m.statistic) for m in measurements)
    checks = {False if m.wrong else m.correct for m in measurements}
    correct = False if False in checks else None if None in checks else True
    return CurvePoint(size, launches, correct)
