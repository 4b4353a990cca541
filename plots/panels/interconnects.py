"""One interconnect beside others: bus bandwidth of each, and below how many times longer the others take."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import exp, log

from matplotlib.axes import Axes
from matplotlib.transforms import blended_transform_factory

from commbench.judging.compared import CurveComparison, PointComparison
from commbench.judging.verdicts import times
from commbench.units import format_size_short
from plots.axes import gigabytes, ratio_axis, size_axis
from plots.choosing import Line
from plots.panels.bandwidth import Style
from plots.style import Theme, short

RATIO = "time over that of {base}"


def largest_rates(lines: Sequence[Line]) -> str:
    """`4 GiB: 345 and 27.2 GB/s (12.7×)`: bus bandwidth of the first line and of the slowest other, each at its own
    largest size. Where these differ both are named, and there is no ratio: the panel below has it at one size."""
    first, *others = [(_last_rate(line), line.curve.points[-1].message_bytes) for line in lines]
    known = [other for other in others if other[0] > 0.0]
    if not first[0] or not known:
        return ""
    slowest = min(known)
    sizes = [format_size_short(size) for _, size in (first, slowest)]
    if first[1] != slowest[1]:
        return f"{sizes[0]}: {_digits(first[0])}, {sizes[1]}: {_digits(slowest[0])} GB/s"
    return f"{sizes[0]}: {_digits(first[0])} and {_digits(slowest[0])} GB/s ({spelled(first[0] / slowest[0])})"


def _last_rate(line: Line) -> float:
    last = line.curve.points[-1]
    return (line.curve.bus_factor or 0.0) * last.message_bytes / last.seconds if last.seconds else 0.0


def spelled(ratio: float) -> str:
    """`12.7×`."""
    return times(ratio).replace("x", "×")


def _digits(rate: float) -> str:
    return f"{gigabytes(rate):.3g}"


def draw_ratio(
    axes: Axes,
    comparisons: Sequence[tuple[CurveComparison, Sequence[PointComparison]]],
    looks: Mapping[str, Style],
    sizes: Sequence[float],
    theme: Theme,
    *,
    labels: int,
    named: bool = True,
) -> None:
    """Each other side's time over that of the base, with its interval, and where one stops being the faster one."""
    ratios = [point.ratio for _, points in comparisons for point in points if point.ratio]
    size_axis(axes, sizes, labels=labels)
    ratio_axis(axes, most=max(ratios, default=1.0), least=min(ratios, default=1.0))
    axes.axhline(1.0, color=theme.ink, linewidth=1.0, gid="equal")
    for curve, points in comparisons:
        colour, marker = looks[curve.b]
        known = [point for point in points if point.ratio]
        spans = [(p.message_bytes, *p.interval) for p in known if p.interval]
        if spans:
            x, low, high = zip(*spans, strict=True)
            axes.fill_between(x, low, high, color=colour, alpha=0.22, linewidth=0, gid=f"band {curve.b}")
        axes.plot([p.message_bytes for p in known], [p.ratio or 1.0 for p in known], color=colour, marker=marker,
                  linewidth=1.2, label=short(curve.b), gid=f"ratio {curve.b}")  # fmt: skip
        if known:
            last = known[-1]
            axes.annotate(spelled(last.ratio or 1.0), (last.message_bytes, last.ratio or 1.0), (5, 7),
                          textcoords="offset points", ha="right", color=colour, weight="bold",
                          gid=f"last {curve.b}").set_in_layout(False)  # fmt: skip
        _crossover(axes, curve, known, colour)
    if named:
        axes.set_ylabel(RATIO.format(base=short(comparisons[0][0].a, 16) if comparisons else "the first"))


def _crossover(axes: Axes, curve: CurveComparison, points: Sequence[PointComparison], colour: str) -> None:
    """The last crossover: below it the two are near each other, and may cross again and again."""
    size, sure = crossover(curve, points)
    if size is None:
        return
    axes.axvline(size, color=colour, linewidth=1.1, linestyle=(0, (2, 2)), gid=f"crossover {curve.b}")
    words = f"cross at {'' if sure else '≈ '}{format_size_short(size)}"
    written = axes.annotate(words, (size, 0.98), (-3, 0), blended_transform_factory(axes.transData, axes.transAxes),
                            "offset points", ha="right", va="top", rotation=90, fontsize="x-small", color=colour,
                            gid=f"crossover {curve.b}")  # fmt: skip
    written.set_in_layout(False)


def crossover(curve: CurveComparison, points: Sequence[PointComparison]) -> tuple[float | None, bool]:
    """The size of the last crossover (bytes), and whether the samples show it. One value a size has no error: then
    where the measured ratio crosses 1 for the last time."""
    if curve.crossovers:
        return curve.crossovers[-1].message_bytes, True
    if any(point.significant is not None for point in points):
        return None, True
    for before, after in reversed(list(pairwise(points))):
        y, y2 = log(before.ratio or 1.0), log(after.ratio or 1.0)
        if (y > 0.0) != (y2 > 0.0) and y != y2:
            x, x2 = log(before.message_bytes), log(after.message_bytes)
            return exp(x + (x2 - x) * y / (y - y2)), False
    return None, False


def share_ratio_axis(
    axes: Sequence[Axes], comparisons: Sequence[tuple[CurveComparison, Sequence[PointComparison]]]
) -> None:
    """One range of ratios for all panels of a row."""
    ratios = [point.ratio for _, points in comparisons for point in points if point.ratio]
    for each in axes:
        ratio_axis(each, most=max(ratios, default=1.0), least=min(ratios, default=1.0))


def words(comparisons: Sequence[tuple[CurveComparison, Sequence[PointComparison]]]) -> str:
    """What the numbers are."""
    unsure = any(point.significant is None for _, points in comparisons for point in points)
    return "above: each at its largest size; ratio: at the same size" + ("; ≈: without an error" if unsure else "")
