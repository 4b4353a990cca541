"""Axes as everyone in this house draws them: sizes as KiB, MiB, GiB, times in µs, rates in GB/s, ratios around 1."""

from collections.abc import Sequence
from math import ceil, floor, log2

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from commbench.units import GIGABYTE_PER_SECOND, MICROSECOND, format_size_short

SIZE = "message size (B, KiB, MiB, GiB)"
SIZE_SHORT = "message size"  # where that has no room: the labels have their units
TIME = "time of one call (µs)"
RATE = "bus bandwidth (GB/s)"
RANKS = "ranks"

MOST_RATIOS = 9  # labels of a ratio axis
_STEPS = (1, 2, 3, 5, 10, 20)  # factors of 2 between labelled sizes


def microseconds(seconds: float) -> float:
    """A time as the time axis counts it."""
    return seconds / MICROSECOND


def gigabytes(rate: float) -> float:
    """A rate as the rate axis counts it."""
    return rate / GIGABYTE_PER_SECOND


def size_axis(axes: Axes, sizes: Sequence[float], *, labels: int = 6, named: bool = True) -> None:
    """A logarithmic x axis of message sizes.

    Args:
        sizes: all that are drawn, above 0.
        labels: how many have room.
        named: with the axis' name.
    """
    low, high = min(sizes), max(sizes)
    axes.set_xscale("log", base=2)
    axes.set_xlim(low / 1.5, high * 1.5)
    step = next((s for s in _STEPS if floor(log2(high) / s) - ceil(log2(low) / s) + 1 <= labels), _STEPS[-1])
    ticks = [2.0**e for e in range(ceil(log2(low) / step) * step, floor(log2(high)) + 1, step)] or [low]
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: format_size_short(size)))
    axes.xaxis.set_minor_locator(NullLocator())
    if named:
        axes.set_xlabel(SIZE if labels > 4 else SIZE_SHORT)


def time_axis(axes: Axes, *, named: bool = True) -> None:
    """A logarithmic y axis of times in µs."""
    axes.set_yscale("log")
    _plain_decades(axes.yaxis)
    if named:
        axes.set_ylabel(TIME)


def rate_axis(axes: Axes, *, named: bool = True) -> None:
    """A y axis of bus bandwidth in GB/s that begins at 0."""
    axes.set_ylim(bottom=0.0)
    axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
    if named:
        axes.set_ylabel(RATE)


def ratio_axis(axes: Axes, *, most: float, least: float) -> None:
    """A logarithmic y axis of ratios, labelled 0.5x, 1x, 2x, 5x ..."""
    axes.set_yscale("log")
    steps = (1.0, 2.0, 5.0)
    low, high = min(least / 1.15, 0.8), max(most * 1.35, 1.3)
    ticks = [s * 10.0**d for d in range(-6, 7) for s in steps if low <= s * 10.0**d <= high]
    if len(ticks) > MOST_RATIOS:  # decades alone
        ticks = [tick for tick in ticks if f"{tick:e}".startswith("1.0")]
    if len(ticks) < 3:  # hardly any difference: finer steps
        ticks = [t / 100 for t in range(5, 400, 10 if high / low > 1.5 else 5) if low <= t / 100 <= high]
    axes.set_ylim(low, high)
    axes.yaxis.set_major_locator(FixedLocator(ticks))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda ratio, _: f"{ratio:g}×"))
    axes.yaxis.set_minor_locator(NullLocator())


def rank_axis(axes: Axes, ranks: Sequence[int]) -> None:
    """A logarithmic x axis of numbers of ranks, each labelled."""
    axes.set_xscale("log", base=2)
    axes.set_xlim(min(ranks) / 1.25, max(ranks) * 1.25)
    axes.xaxis.set_major_locator(FixedLocator(sorted(set(ranks))))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda count, _: f"{count:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel(RANKS)


def percent_axis(axis: Axis) -> None:
    """A logarithmic axis of shares of 100."""
    axis.axes.set_xscale("log")
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g} %"))
    axis.set_minor_formatter(NullFormatter())


def _plain_decades(axis: Axis) -> None:
    axis.set_major_locator(LogLocator(numticks=8))
    axis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value:,.0f}".replace(",", " ") if value >= 1 else f"{value:g}")
    )
    axis.set_minor_formatter(NullFormatter())


def _plain(value: float, _: int | None = None) -> str:
    """`10 000` rather than a power of ten."""
    return f"{value:,.0f}".replace(",", " ") if value >= 1 else f"{value:g}"
