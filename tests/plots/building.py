"""Sets of sweeps for figures: laws without noise, on machines that the link tables know."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.text import Text

from commbench.sweepfile.reader import Sweep
from commbench.sweepfile.sets import SweepSet, sets_of
from tests.showing.sweeps import KIB, MIB, doublings, point, sweep

SIZES = doublings(8, 28)  # 8 B to 1 GiB
H200 = {"device": "NVIDIA H200", "nccl": "2.28.9"}


def law(latency: float, rate: float) -> Callable[[int], float]:
    """The time of a size (s) by latency (s) and bandwidth (bytes/s)."""
    return lambda size: latency + size / rate


TIMES = law(20e-6, 300e9)


def measured(
    label: str = "nvlink",
    times: Callable[[int], float] | None = None,
    *,
    collectives: Sequence[str] = ("all_reduce",),
    modes: Sequence[str] = ("pipelined",),
    sizes: Sequence[int] = SIZES,
    path: str | None = "P2P/CUMEM",
    spread: float = 0.1,
    **header: Any,
) -> Sweep:
    """A sweep of 2 ranks on one host of H200; samples lie evenly within `spread` of the law.

    Args:
        times: `TIMES` if None.
        path: as NCCL's log names it, None where nothing proves one.
    """
    times = times or TIMES
    steps = np.linspace(1.0 - spread, 1.0 + spread, 11)
    points = [
        point(size, tuple((times(size) * steps).tolist()), collective=name, mode=mode)
        for name in collectives
        for mode in modes
        for size in sizes
    ]
    proved = {"proved": [path.partition("/")[0]], "pairs": [{"from": 0, "to": 1, "path": path}]} if path else {}
    known: dict[str, Any] = {
        "label": label, "world_size": 2, "ranks_per_host": (2,), "environment": H200,
        "transport": {"setting": label, "proved": None} | proved,
    }  # fmt: skip
    return sweep(*points, **(known | header))


def sets(*sweeps: Sweep) -> tuple[SweepSet, ...]:
    """Their sets."""
    return sets_of(sweeps)


def line(axes: Axes, gid: str) -> Line2D:
    """The line with this name."""
    return next(each for each in axes.lines if each.get_gid() == gid)


def texts(axes: Axes, gid: str) -> list[str]:
    """The texts with this name."""
    return [each.get_text() for each in axes.findobj(Text) if each.get_gid() == gid]


def x_of(drawn: Line2D) -> list[float]:
    """Its x values."""
    return [float(value) for value in np.asarray(drawn.get_xdata())]


def y_of(drawn: Line2D) -> list[float]:
    """Its y values."""
    return [float(value) for value in np.asarray(drawn.get_ydata())]


__all__ = ["H200", "KIB", "MIB", "SIZES", "TIMES", "law", "line", "measured", "sets", "texts", "x_of", "y_of"]
