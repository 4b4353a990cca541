"""A comparison as text, and as one strict JSON document."""

import msgspec

from commbench.judging.compared import Comparison, CurveComparison, Fit, PointComparison
from commbench.judging.verdicts import times
from commbench.showing.heading import clean
from commbench.units import format_rate, format_seconds, format_size, format_size_short

_MARKS = {
    "slower": "slower",
    "faster": "faster",
    "no measurable difference": "=",
    "could not tell": "?",
    "void": "void",
}


def to_json(comparison: Comparison) -> str:
    """The comparison as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(comparison), indent=2).decode() + "\n"


def draw(comparison: Comparison) -> str:
    """The verdict, the sides, a table for each curve, and the notes."""
    lines = [f"verdict   {comparison.verdict}", ""]
    lines += [_side(comparison, place) for place in range(len(comparison.sides))]
    lines.append(
        f"ratio     {comparison.ratio_of}, of medians; 95 % interval of each size alone; `slower` and `faster` stand "
        f"only where"
    )
    lines.append(
        f"          at most {100 * comparison.false_alarms:g} % of comparisons without any difference would show one "
        f"anywhere (Holm)"
    )
    for curve in comparison.curves:
        points = [point for point in comparison.comparisons if _same(point, curve)]
        lines += ["", *_curve(curve, points)]
    if comparison.notes:
        lines += ["", *(f"note: {note}" for note in comparison.notes)]
    return "\n".join(clean(line) for line in lines) + "\n"


def _side(comparison: Comparison, place: int) -> str:
    side = comparison.sides[place]
    path = f"{', '.join(side.proved)} (proved)" if side.proved else "path not proved"
    ranks = " and ".join("?" if size is None else str(size) for size in side.world_sizes)
    launches = f"{side.launches} launch{'es' if side.launches > 1 else ''}"
    what = ", ".join(part for part in (side.backend, f"{ranks} ranks", path, launches, "+".join(side.tools)) if part)
    return f"{'a' if place == 0 else 'b'}         {side.name}: {what}" + (f"; VOID: {side.void}" if side.void else "")


def _same(point: PointComparison, curve: CurveComparison) -> bool:
    names = ("a", "b", "collective", "op", "dtype", "placement", "mode", "beside", "world_size")
    return all(getattr(point, name) == getattr(curve, name) for name in names)


def _curve(curve: CurveComparison, points: list[PointComparison]) -> list[str]:
    ranks = "" if curve.world_size is None else f", {curve.world_size} ranks"
    a, b = f"{curve.a} us", f"{curve.b} us"
    wide = max(11, len(a), len(b))
    head = f"{'size':>10}  {a:>{wide}}  {b:>{wide}}  {'ratio':>7}  {'95 % interval':>16}  verdict"
    lines = [f"{curve.text}{ranks}", head, "─" * len(head)]
    for point in points:
        interval = f"{point.interval[0]:.3f} - {point.interval[1]:.3f}" if point.interval else ""
        ratio = "" if point.ratio is None else times(point.ratio)
        lines.append(
            f"{format_size(point.message_bytes):>10}  {point.seconds[0] * 1e6:>{wide}.2f}  "
            f"{point.seconds[1] * 1e6:>{wide}.2f}  {ratio:>7}  {interval:>16}  {_MARKS[point.verdict]}"
        )
    mean = "" if curve.ratio is None else f"{times(curve.ratio)} (geometric mean)"
    if curve.interval:
        mean += f", {curve.interval[0]:.3f} - {curve.interval[1]:.3f}"
    lines.append(f"  over all sizes: {mean}, {curve.verdict}")
    lines += [
        f"  crossover: {crossing.faster_below} is faster below about "
        f"{format_size_short(crossing.message_bytes)}, {crossing.faster_above} above "
        f"(between {format_size(crossing.between[0])} and {format_size(crossing.between[1])})"
        for crossing in curve.crossovers
    ]
    if not curve.crossovers and (curve.slower or curve.faster):
        lines.append(f"  no crossover: {curve.a if curve.slower else curve.b} is the faster one wherever they differ")
    lines += [f"  fit of {name}: {_fit(fit)}" for name, fit in zip((curve.a, curve.b), curve.fits or (), strict=False)]
    return lines


def _fit(fit: Fit) -> str:
    if fit.refused or fit.latency_seconds is None:
        return f"none: {fit.refused or 'no model'}"
    text = f"latency {format_seconds(fit.latency_seconds)}"
    if fit.latency_interval:
        low, high = fit.latency_interval
        text += f" ({format_seconds(low)} - {format_seconds(high)})"
    if fit.bytes_per_second is None:
        return f"{text}, no bandwidth"
    text += f", bandwidth {format_rate(fit.bytes_per_second)}"
    if fit.bytes_per_second_interval:
        low, high = fit.bytes_per_second_interval
        text += f" ({format_rate(low)} - {format_rate(high)})"
    return text
