"""Bandwidth and time over size: dots are medians, the band is where samples lie, the line is the fit."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke

from commbench.modelling.fitting import fit_curve
from commbench.modelling.model import Model
from commbench.modelling.predicting import predict_many
from plots.axes import gigabytes, microseconds, rate_axis, size_axis, time_axis
from plots.ceilings import ceilings
from plots.choosing import Line
from plots.style import MARKERS, Theme, short

BAND = (0.1, 0.9)  # quantiles of all samples of a size
BAND_WORDS = "dots: medians, band: middle 80 % of all samples, line: fitted model"
DOTS_WORDS = "dots: one value a size, as the tool printed it, line: fitted model"
FEWEST_FOR_BAND = 5  # samples of a size


class Style(NamedTuple):
    """Colour and marker of a line."""

    colour: str
    marker: str


class Fitted(NamedTuple):
    """A line with its model (which may be refused) and look."""

    line: Line
    model: Model
    style: Style


def styles(legends: Sequence[str], theme: Theme) -> dict[str, Style]:
    """A look for each legend, the same in all panels."""
    return {legend: Style(theme.series[n], MARKERS[n]) for n, legend in enumerate(dict.fromkeys(legends))}


def fitted(lines: Sequence[Line], looks: Mapping[str, Style]) -> tuple[Fitted, ...]:
    """Each line with its model."""
    return tuple(Fitted(line, fit_curve(line.curve, line.sweep_set), looks[line.legend]) for line in lines)


def words(drawn: Sequence[Fitted]) -> str:
    """What dots, band and line are, and why there may be no line."""
    missing = "; dots without a line: no model describes them" if any(each.model.refused for each in drawn) else ""
    return (BAND_WORDS if any(_banded(each.line) for each in drawn) else DOTS_WORDS) + missing


def draw_rate(axes: Axes, drawn: Sequence[Fitted], theme: Theme, *, labels: int, named: bool = True) -> None:
    """Bus bandwidth over size, below what the links carry."""
    for each in drawn:
        factor = each.line.curve.bus_factor
        if factor:
            _draw(axes, each, lambda size, seconds, factor=factor: gigabytes(factor * size / seconds))  # type: ignore[misc]
    limits = {ceiling: None for each in drawn for ceiling in ceilings(each.line)}
    top = max([axes.get_ylim()[1], *(1.09 * gigabytes(c.bytes_per_second) for c in limits)])
    for ceiling in limits:
        height = gigabytes(ceiling.bytes_per_second)
        axes.axhline(height, color=theme.quiet, linewidth=1.1, linestyle=(0, (4, 3)), gid="ceiling")
        words = axes.annotate(f"{ceiling.name}: {height:.0f}", (0.0, height), (4, 3), ("axes fraction", "data"),
                              "offset points", fontsize="x-small", color=theme.quiet, zorder=4,
                              gid="ceiling")  # fmt: skip
        words.set_path_effects([withStroke(linewidth=2.5, foreground=theme.paper)])
        words.set_in_layout(False)
    size_axis(axes, _sizes(drawn), labels=labels, named=False)
    rate_axis(axes, named=named)
    axes.set_ylim(0.0, top)


def draw_time(axes: Axes, drawn: Sequence[Fitted], *, labels: int, named: bool = True) -> None:
    """The time of one call over size."""
    for each in drawn:
        _draw(axes, each, lambda _, seconds: microseconds(seconds))
    size_axis(axes, _sizes(drawn), labels=labels)
    time_axis(axes, named=named)


def _draw(axes: Axes, each: Fitted, value: Callable[[float, float], float]) -> None:
    points, (colour, marker) = each.line.curve.points, each.style
    points = tuple(point for point in points if point.seconds > 0.0)
    sizes = [point.message_bytes for point in points]
    if _banded(each.line):
        ends = [np.quantile(np.asarray(point.samples), BAND) for point in points]
        low, high = (
            [value(s, max(float(e[side]), 1e-12)) for s, e in zip(sizes, ends, strict=True)] for side in (0, 1)
        )
        axes.fill_between(sizes, low, high, color=colour, alpha=0.22, linewidth=0, gid=f"band {each.line.legend}")
    if each.model.refused is None and len(sizes) > 1:
        dense = np.geomspace(sizes[0], sizes[-1], 160)
        seconds = predict_many(each.model, dense).seconds
        axes.plot(dense, [value(s, t) for s, t in zip(dense.tolist(), seconds.tolist(), strict=True)],
                  color=colour, linewidth=1.6, gid=f"fit {each.line.legend}")  # fmt: skip
    axes.plot(sizes, [value(p.message_bytes, p.seconds) for p in points], linestyle="none", marker=marker,
              color=colour, label=short(each.line.legend), gid=f"median {each.line.legend}")  # fmt: skip


def _banded(line: Line) -> bool:
    return any(len(point.samples) >= FEWEST_FOR_BAND for point in line.curve.points)


def _sizes(drawn: Sequence[Fitted]) -> list[float]:
    return [float(point.message_bytes) for each in drawn for point in each.line.curve.points]
