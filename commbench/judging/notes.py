"""What a reader of a verdict must know beside it."""

from collections.abc import Iterator, Sequence

from commbench.judging.compared import PointComparison
from commbench.judging.likeness import differing_variables
from commbench.judging.sides import Side
from commbench.sweepfile.derived import seconds_interval
from commbench.sweepfile.records import Measurement
from commbench.units import format_size


def notes(
    sides: Sequence[Side], points: Sequence[PointComparison], single_value: float | None = None
) -> tuple[str, ...]:
    """A sentence each, gravest first."""
    return (
        *_unchecked(sides, points),
        *_unproved(sides),
        *_same_path(sides),
        *_unfinished(sides),
        *_one_launch(points),
        *_statistics(sides, single_value),
        *_outside(sides, points),
        *_variables(sides),
    )


def _unchecked(sides: Sequence[Side], points: Sequence[PointComparison]) -> Iterator[str]:
    for place, side in enumerate(sides):
        which = 1 if place else 0
        concerned = [point for point in points if (point.b if place else point.a) == side.name]
        count = sum(point.correct[which] is None for point in concerned)
        if count:
            yield f"{side.name}: the results of {count} of {len(concerned)} points were not checked"


def _unproved(sides: Sequence[Side]) -> Iterator[str]:
    for side in sides:
        if side.record.proved is None:
            yield f"{side.name}: nothing proves which path its messages took"


def _same_path(sides: Sequence[Side]) -> Iterator[str]:
    base = sides[0].record
    for side in sides[1:]:
        if base.proved and side.record.proved == base.proved:
            yield f"{side.name} took the same path as {base.name}: {', '.join(base.proved)}"


def _unfinished(sides: Sequence[Side]) -> Iterator[str]:
    for side in sides:
        early = [sweep.status for sweep in side.sweeps if sweep.status != "complete"]
        if early:
            kinds = ", ".join(sorted(set(early)))
            yield f"{side.name}: {len(early)} of {len(side.sweeps)} sweeps ended early ({kinds})"


def _one_launch(points: Sequence[PointComparison]) -> Iterator[str]:
    if points and max(max(point.launches) for point in points) == 1:
        yield (
            "one launch a side: how much two launches of the same setting differ is not known, so the next launch may "
            "say otherwise by a few percent (commbench interconnects --launches 2 measures it)"
        )


def _statistics(sides: Sequence[Side], single_value: float | None) -> Iterator[str]:
    known = (
        "has no error" if single_value is None else f"is taken as known to ±{100 * single_value:.3g} %, as you state"
    )
    for side in sides:
        found = sorted({m.statistic for sweep in side.sweeps for m in sweep.measurements if m.statistic})
        if found:
            yield f"{side.name}: a time is one value as its tool printed it ({', '.join(found)}) and {known}"


def _outside(sides: Sequence[Side], points: Sequence[PointComparison]) -> Iterator[str]:
    """A foreign single value beside samples: how often it lies outside the interval that they give."""
    measured = {side.name: side for side in sides}
    for a, b in dict.fromkeys((point.a, point.b) for point in points):
        untested = [point for point in points if (point.a, point.b) == (a, b) and point.interval is None]
        for own, foreign, which in ((a, b, 1), (b, a, 0)):
            single = [point for point in untested if point.samples[which] == 1 < point.samples[1 - which]]
            intervals = _intervals(measured[own]) if single else {}
            looked = [(point, found) for point in single if (found := _of(point, intervals))]
            out = [point for point, (low, high) in looked if not low <= point.seconds[which] <= high]
            if out:
                worst = max(out, key=lambda point: abs((point.ratio or 1.0) - 1.0))
                yield (
                    f"{foreign} lies outside the 95 % interval of {own} at {len(out)} of {len(looked)} points, "
                    f"furthest at {worst.collective} {format_size(worst.message_bytes)} ({b} takes "
                    f"{worst.ratio or 0.0:.3g}x the time of {a}); how sure {foreign} itself is is not known"
                )


Measured = dict[tuple[str | None, int], list[tuple[Measurement, tuple[float, float]]]]


def _intervals(side: Side) -> Measured:
    """Each measurement that has an interval (s), by collective and size."""
    known: Measured = {}
    for sweep in side.sweeps:
        for m in sweep.measurements:
            if interval := seconds_interval(m):
                known.setdefault((m.collective, m.message_bytes), []).append((m, interval))
    return known


def _of(point: PointComparison, intervals: Measured) -> tuple[float, float] | None:
    """From the lowest to the highest of the intervals of a point's measurements."""
    known = [
        interval
        for m, interval in intervals.get((point.collective, point.message_bytes), ())
        if all(
            None in pair or pair[0] == pair[1]
            for pair in ((m.op, point.op), (m.dtype, point.dtype), (m.placement, point.placement), (m.mode, point.mode))
        )
    ]
    return (min(low for low, _ in known), max(high for _, high in known)) if known else None


def _variables(sides: Sequence[Side]) -> Iterator[str]:
    for side in sides[1:]:
        if differing := differing_variables(sides[0], side):
            yield f"environment variables that differ: {'; '.join(differing)}"
