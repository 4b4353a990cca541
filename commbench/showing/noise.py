"""Doubts about the samples themselves: scatter, precision not reached, outliers, a clock too coarse for them."""

from collections.abc import Iterator, Sequence

from commbench.showing.rows import Row, confidence_target
from commbench.showing.warning import ResultWarning, of, percent
from commbench.sweepfile.reader import Sweep
from commbench.units import format_seconds

SPREAD = 0.10  # above it, two runs of the same machine can differ by more than any change worth finding
OUTLIER = 3.0  # times the median: preemption, a daemon, a retransmission; ordinary scatter stays below
READINGS = 20  # a sample of fewer clock ticks is rounded by more than 5 %


def noise(sweep: Sweep, rows: Sequence[Row]) -> Iterator[ResultWarning]:
    """The warnings about samples, none where they are good."""
    yield from _spread(sweep, rows)
    yield from _missed_target(sweep, rows)
    yield from _outliers(rows)
    yield from _coarse_clock(sweep, rows)


def _spread(sweep: Sweep, rows: Sequence[Row]) -> Iterator[ResultWarning]:
    wide = [(row.spread, row) for row in rows if row.spread is not None and row.spread > SPREAD]
    if wide:
        share, worst = max(wide, key=lambda pair: pair[0])
        fixed = sweep.header.settings.get("samples") is not None
        yield ResultWarning(
            "spread",
            f"the middle half of the samples spreads over more than {percent(SPREAD)} of the time "
            f"in {of([row for _, row in wide], len(rows))} (worst: {worst.words}, {percent(share)})",
            "a single figure hides that: another run may well give another one",
            "keep other work off these machines and fix the clocks"
            + ("; raise -n" if fixed else "")
            + "; compare by intervals (±%), not by medians alone",
        )


def _missed_target(sweep: Sweep, rows: Sequence[Row]) -> Iterator[ResultWarning]:
    target = confidence_target(sweep)
    missed = [row for row in rows if row.reached is False]
    if target is not None and missed:
        yield ResultWarning(
            "missed-target",
            f"{len(missed)} of {len(rows)} points did not reach ±{percent(target)}: "
            "the reached half-width is in column ±%",
            "their medians are known less well than asked for",
            "more samples for them (-n), or a quieter machine",
        )


def _outliers(rows: Sequence[Row]) -> Iterator[ResultWarning]:
    far = [
        (row.maximum / row.seconds, row) for row in rows if row.samples > 2 and 0 < OUTLIER * row.seconds < row.maximum
    ]
    if far:
        times, worst = max(far, key=lambda pair: pair[0])
        yield ResultWarning(
            "outliers",
            f"single samples took more than {OUTLIER:.0f} times the median in {of([row for _, row in far], len(rows))} "
            f"(worst: {worst.words}, {format_seconds(worst.maximum)}, {times:.1f} times)",
            "the median does not see them, but a training step that waits for every collective does",
            "look for other processes, power limits and retransmissions; a sweep file (-J) has every sample",
        )


def _coarse_clock(sweep: Sweep, rows: Sequence[Row]) -> Iterator[ResultWarning]:
    settings = sweep.header.settings
    resolution = settings.get("clock_resolution")
    if not isinstance(resolution, int | float) or resolution <= 0:
        return
    short = [
        (row.seconds * row.calls_per_sample / resolution, row)
        for row in rows
        if row.calls_per_sample is not None and row.seconds * row.calls_per_sample < READINGS * resolution
    ]
    if short:
        ticks, worst = min(short, key=lambda pair: pair[0])
        yield ResultWarning(
            "coarse-clock",
            f"a sample is shorter than {READINGS} ticks of the clock ({format_seconds(resolution)}) "
            f"in {of([row for _, row in short], len(rows))} (worst: {worst.words}, {ticks:.1f} ticks)",
            "rounding to ticks then decides several percent of the time",
            "time more calls together: raise -m, or leave it out and let the calibration choose",
        )
