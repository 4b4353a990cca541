"""One row of any view: everything that follows from one measurement, computed once."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from commbench.collectives import COLLECTIVES
from commbench.showing.bound import Bound, bounds
from commbench.sweepfile import derived
from commbench.sweepfile.reader import Sweep
from commbench.sweepfile.records import Beside, Clock, Measurement, Mode, Placement, Skew
from commbench.units import format_size

Check = Literal["yes", "WRONG", "not checked"]


@dataclass(frozen=True)
class Row:
    """One measurement with all that can be said about it. Seconds, bytes, bytes per second; shares have 1 = 100 %.

    Attributes:
        count: nccl-tests' per-rank count (elements); None where dtype or world size are not known.
        samples: how many samples there are; 1 for most imported rows.
        seconds, interval, half_width: median over samples of the slowest rank's time, its 95 % interval, and half
            of that interval over the median; the last two None with fewer than 6 samples.
        spread: the interquartile range over the median.
        gap: median of slowest minus fastest rank (s).
        group_seconds: with groups, each group's median.
        reached: whether half_width met the target; None where there was none.
        statistic: what a foreign single value is, None for our own samples.
    """

    collective: str | None
    message_bytes: int
    count: int | None
    dtype: str | None
    op: str | None
    root: int | None
    placement: Placement | None
    mode: Mode | None
    clock: Clock | None
    cycle: int
    samples: int
    calls_per_sample: int | None
    seconds: float
    interval: tuple[float, float] | None
    half_width: float | None
    spread: float | None
    minimum: float
    maximum: float
    algbw: float | None
    busbw: float | None
    gap: float | None
    slowest_rank: int | None
    fastest_rank: int | None
    skew: Skew | None
    group_seconds: tuple[float, ...]
    check: Check
    wrong: int | None
    bound: Bound | None
    reached: bool | None
    statistic: str | None
    notes: tuple[str, ...]
    beside: Beside | None

    @property
    def gap_share(self) -> float | None:
        """The gap over the median time."""
        return self.gap / self.seconds if self.gap is not None and self.seconds > 0.0 else None

    @property
    def synchronises(self) -> bool:
        """No rank leaves before every rank has entered, so the fastest rank is the last to enter."""
        collective = COLLECTIVES.get(self.collective or "")
        return collective is not None and collective.synchronises

    @property
    def words(self) -> str:
        """The row's name in a sentence: `all_reduce 64 KiB, in place, isolated`."""
        size = f" {format_size(self.message_bytes)}" if self.message_bytes else ""
        place = {"in": "in place", "out": "out of place", None: None}[self.placement]
        return ", ".join(part for part in ((self.collective or "unknown") + size, place, self.mode) if part)


def rows(sweep: Sweep) -> list[Row]:
    """The rows of a sweep, in the file's order."""
    target = confidence_target(sweep)
    return [
        _row(measurement, sweep.header.world_size, bound, target)
        for measurement, bound in zip(sweep.measurements, bounds(sweep), strict=True)
    ]


def in_reading_order(table: list[Row]) -> list[Row]:
    """Collectives in the order of their first appearance, then curve by curve, each by size and cycle."""
    first = {name: position for position, name in reversed(list(enumerate(row.collective for row in table)))}
    return sorted(table, key=lambda row: (first[row.collective], curve_words(row), row.message_bytes, row.cycle))


def curve_words(row: Row) -> tuple[str, ...]:
    """What tells the curves of one collective apart, as words that sort."""
    root = "" if row.root is None else f"{row.root:09d}"
    modes = {"isolated": "0", "pipelined": "1", "graph": "2", None: "3"}
    return (row.dtype or "", row.op or "", root, row.placement or "", modes[row.mode], row.beside or "")


def confidence_target(sweep: Sweep) -> float | None:
    """The half-width that the sweep aimed at (0.02 = ±2 %); None where the number of samples was fixed instead."""
    target = sweep.header.settings.get("target")
    fixed = sweep.header.settings.get("samples") is not None
    return float(target) if isinstance(target, int | float) and target > 0 and not fixed else None


def _row(m: Measurement, world_size: int | None, bound: Bound | None, target: float | None) -> Row:
    half_width = derived.half_width(m)
    return Row(
        collective=m.collective,
        message_bytes=m.message_bytes,
        count=derived.count_argument(m, world_size),
        dtype=m.dtype,
        op=m.op,
        root=m.root,
        placement=m.placement,
        mode=m.mode,
        clock=m.clock,
        cycle=m.cycle,
        samples=len(m.seconds),
        calls_per_sample=m.calls_per_sample,
        seconds=derived.median_seconds(m),
        interval=derived.seconds_interval(m),
        half_width=half_width,
        spread=derived.spread(m),
        minimum=min(m.seconds),
        maximum=max(m.seconds),
        algbw=derived.algorithm_bandwidth(m),
        busbw=derived.bus_bandwidth(m, world_size),
        gap=derived.gap_seconds(m),
        slowest_rank=m.slowest_rank,
        fastest_rank=m.fastest_rank,
        skew=m.skew,
        group_seconds=tuple(float(np.median(group)) for group in m.group_seconds or () if group),
        check="not checked" if m.correct is None else "yes" if m.correct and not m.wrong else "WRONG",
        wrong=m.wrong,
        bound=bound,
        reached=None if target is None else half_width is not None and half_width <= target,
        statistic=m.statistic,
        notes=m.notes,
        beside=m.beside,
    )
