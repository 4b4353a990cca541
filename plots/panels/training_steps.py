"""Bars of a training step's communication."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from commbench.training.call import PHASES
from commbench.training.predictions import StepPrediction
from commbench.units import format_seconds
from plots.style import Theme, short

HATCHES = {"forward": "", "backward": "//", "step": ".."}
WORDS = {"forward": "forward", "backward": "backward", "step": "optimizer step"}


def strategy(each: StepPrediction) -> str:
    """`zero2 (deepspeed)`."""
    return f"{each.schedule.strategy} ({each.schedule.variant})"


def draw(
    axes: Axes, priced: Sequence[StepPrediction], strategies: Sequence[str], theme: Theme, *, notes: bool = True
) -> None:
    """Groups of bars from top to bottom, times in ms from the left; `notes` say how many calls are extrapolated."""
    sources = list(dict.fromkeys(each.source or "" for each in priced))
    height = 0.8 / len(sources)
    widest = max(each.priced.interval[1] for each in priced if each.priced)
    for each in priced:
        if each.priced is None:
            continue
        y = strategies.index(strategy(each)) + (sources.index(each.source or "") - (len(sources) - 1) / 2) * height
        left = 0.0
        for number, phase in enumerate(PHASES):
            seconds = sum(total.seconds for total in each.priced.phases if total.phase == phase)
            if seconds <= 0.0:
                continue
            axes.barh(y, 1e3 * seconds, height=0.86 * height, left=1e3 * left, color=theme.series[number],
                      hatch=HATCHES[phase], edgecolor=theme.paper, linewidth=0.6,
                      gid=f"{strategy(each)} {each.source} {phase}")  # fmt: skip
            left += seconds
        low, high = (1e3 * end for end in each.priced.interval)
        axes.errorbar(1e3 * left, y, xerr=[[max(0.0, 1e3 * left - low)], [max(0.0, high - 1e3 * left)]],
                      color=theme.ink, capsize=3, linewidth=1.2, gid="interval")  # fmt: skip
        beyond = len(each.priced.extrapolated)
        note = f", {beyond} of {len(each.priced.calls)} calls extrapolated" if beyond and notes else ""
        axes.annotate(f"{short(each.source or '')}: {format_seconds(left)}{note}", (max(high, 1e3 * left), y), (6, 0),
                      textcoords="offset points", va="center", gid="total")  # fmt: skip
    for number, phase in enumerate(PHASES):  # for the legend, in the order of a step
        axes.bar(0.0, 0.0, color=theme.series[number], hatch=HATCHES[phase], edgecolor=theme.paper, label=WORDS[phase])
    axes.set_yticks(np.arange(len(strategies)), list(strategies))
    axes.set_ylim(len(strategies) - 0.5, -0.5)
    axes.set_xlim(0.0, 1e3 * widest * 1.42)
    axes.set_xlabel("communication of one step (ms)")
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)


def caption(predictions: Sequence[StepPrediction], paths: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Ranks, model, paths, modes and what was refused."""
    first = predictions[0].schedule
    ranks = ", ".join(map(str, dict.fromkeys(each.schedule.world_size for each in predictions)))
    modes = dict.fromkeys(f"{each.priced.mode or 'not stated'}" for each in predictions if each.priced)
    refused = dict.fromkeys(
        f"{strategy(each)} on {each.source}: {each.refused.wrong}" for each in predictions if each.refused
    )
    what = f"{first.model}, {first.parameters:,} parameters, {ranks} ranks, priced from mode {', '.join(modes)}"
    said = f"{what}; nothing overlapped with computation; whisker: 95 % interval"
    return (" · ".join(f"{name}: {path}" for name, path in paths), said, *refused)
