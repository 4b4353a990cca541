"""A heat map of links."""

import textwrap

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, MaxNLocator

from commbench.showing.heading import clean
from plots.axes import gigabytes
from plots.matrix import Links
from plots.style import Theme

MOST_BLAMED = 4  # culprits that are named at the left
MOST_WRITTEN = 16  # ranks up to which each cell has its number
MOST_NAMED = 32  # ranks up to which each row is named


def draw(page: Figure, links: Links, theme: Theme) -> None:
    """Rank against rank, both halves alike; slow is dark, untested blank, a culprit framed and named at the left."""
    grid = page.add_gridspec(1, 2, width_ratios=(1.0, 2.2))
    axes = page.add_subplot(grid[1])
    rates = np.full((links.ranks, links.ranks), np.nan)
    for (low, high), rate in links.rates.items():
        rates[low, high] = rates[high, low] = gigabytes(rate)
    colours = mpl.colormaps["cividis"].with_extremes(bad=theme.grid)
    slowest, fastest = float(np.nanmin(rates)) / 1.05, float(np.nanmax(rates)) * 1.05
    scale = LogNorm(slowest, fastest)
    image = axes.imshow(rates, cmap=colours, norm=scale, interpolation="nearest")
    axes.grid(visible=False)
    bar = page.colorbar(image, ax=axes, shrink=0.9)
    bar.set_label("bus bandwidth of the pair (GB/s)")
    if fastest < 4 * slowest:  # healthy links lie close together: no power of ten is among them
        bar.ax.yaxis.set_major_locator(MaxNLocator(5))
        bar.minorticks_off()
    bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda rate, _: f"{rate:g}"))
    bar.ax.yaxis.set_minor_formatter(FuncFormatter(lambda rate, _: f"{rate:.3g}" if f"{rate:g}"[0] in "25" else ""))
    if links.ranks <= MOST_WRITTEN:
        for row, column in zip(*np.nonzero(~np.isnan(rates)), strict=True):
            value = rates[row, column]
            axes.text(column, row, f"{value:.3g}", ha="center", va="center", fontsize="small",
                      color="#010101" if scale(value) > 0.55 else "#fefefe")  # fmt: skip
    _named(axes, links)
    for culprit in links.culprits:
        _frame(axes, links.ranks, culprit.ranks, culprit.kind, theme)

    _blamed(page.add_subplot(grid[0]), links, theme)


def _blamed(axes: Axes, links: Links, theme: Theme) -> None:
    """Who is to blame and why, as text."""
    axes.set_axis_off()
    lines = [(f"{culprit.name}: {culprit.fault or 'to blame'}", culprit.evidence or "") for culprit in links.culprits]
    y = 1.0
    for head, evidence in lines[:MOST_BLAMED] or [("nobody is named", "")]:
        for words, weight in ((head, "bold"), (evidence, "normal")):
            for text in textwrap.wrap(clean(words), 38)[:6]:
                axes.text(0.0, y, text, va="top", weight=weight, fontsize="small", gid="culprit", clip_on=False,
                          color=theme.alarm if weight == "bold" and lines else theme.ink)  # fmt: skip
                y -= 0.045
        y -= 0.03
    if len(lines) > MOST_BLAMED:
        axes.text(0.0, y, f"and {len(lines) - MOST_BLAMED} more", va="top", fontsize="small", color=theme.quiet)


def _named(axes: Axes, links: Links) -> None:
    if links.ranks > MOST_NAMED:
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(16, integer=True))
    else:
        ranks = range(links.ranks)
        axes.set_xticks(ranks)
        axes.set_yticks(ranks, [f"{rank} ({links.hosts[rank]})" if links.hosts else str(rank) for rank in ranks])
    axes.set_xlabel("rank")
    axes.set_ylabel("rank (host)" if links.hosts and links.ranks <= MOST_NAMED else "rank")


def _frame(axes: Axes, ranks: int, blamed: tuple[int, ...], kind: str, theme: Theme) -> None:
    if kind == "link" and len(blamed) == 2:
        cells = [(blamed[0], blamed[1], 1, 1), (blamed[1], blamed[0], 1, 1)]
    else:
        cells = [(0, rank, ranks, 1) for rank in blamed]
    for column, row, width, height in cells:
        axes.add_patch(Rectangle((column - 0.5, row - 0.5), width, height, fill=False, edgecolor=theme.alarm,
                                 linewidth=3, gid="culprit"))  # fmt: skip
