"""Bandwidth and time over the number of ranks."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from commbench.collectives import COLLECTIVES
from commbench.modelling.fitting import fit_curve
from commbench.modelling.scaling import RefusedScalingError, Scaling, fit_scaling
from commbench.units import format_size_short
from plots.axes import gigabytes, microseconds, rank_axis, rate_axis
from plots.panels.bandwidth import Style
from plots.style import short
from plots.worlds import Family

WORDS = "dots: medians; line: the law that three or more numbers of ranks follow, dotted where there is none"


Value = Callable[[int, float], float]
"""What is drawn, from a number of ranks and a time (s)."""


def draw(above: Axes, below: Axes, families: Sequence[Family], looks: Mapping[str, Style], *, named: bool) -> None:
    """The largest common size's bus bandwidth above, the smallest one's time below."""
    for family in families:
        look, law = looks[family.name], _law(family)
        collective = COLLECTIVES[family.lines[0].curve.key.collective]
        large, small = family.sizes[-1], family.sizes[0]

        def rate(ranks: int, seconds: float, size: int = large, kind: object = collective) -> float:
            return gigabytes(kind.bus_factor(ranks) * size / seconds)  # type: ignore[attr-defined]

        _series(above, family, family.seconds(large), look, rate, law, large)
        _series(below, family, family.seconds(small), look, lambda _, seconds: microseconds(seconds), law, small)
    all_ranks = [ranks for family in families for ranks in family.ranks]
    rank_axis(below, all_ranks)
    rate_axis(above, named=False)
    for axes in (above, below):
        axes.set_ylim(0.0, 1.1 * axes.dataLim.ymax)
    if named:
        above.set_ylabel(f"bus bandwidth, {_sizes(families, -1)} (GB/s)")
        below.set_ylabel(f"time of one call, {_sizes(families, 0)} (µs)")


def _series(
    axes: Axes, family: Family, seconds: Sequence[float], look: Style, value: Value, law: Scaling | None, size: int
) -> None:
    ranks = family.ranks
    if law is not None:
        dense = sorted({round(r) for r in np.geomspace(ranks[0], ranks[-1], 40)})
        axes.plot(dense, [value(n, law.predict(size, n).seconds) for n in dense], color=look.colour, linewidth=1.6,
                  gid=f"law {family.name}")  # fmt: skip
    axes.plot(ranks, [value(n, t) for n, t in zip(ranks, seconds, strict=True)], color=look.colour, marker=look.marker,
              linestyle="none" if law else ":", label=short(family.name), gid=f"median {family.name}")  # fmt: skip


def _law(family: Family) -> Scaling | None:
    try:
        return fit_scaling([fit_curve(line.curve, line.sweep_set) for line in family.lines])
    except RefusedScalingError:
        return None


def _sizes(families: Sequence[Family], which: int) -> str:
    return " / ".join(dict.fromkeys(format_size_short(family.sizes[which]) for family in families))
