"""Held-out errors of models and of simpler methods on the same sizes."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from commbench.modelling.model import HeldOut, Model
from plots.axes import percent_axis
from plots.style import MARKERS, Theme

METHODS = (
    ("mean", "commbench's model"),
    ("interpolation_mean", "log-log interpolation"),
    ("relative_mean", "one line, relative least squares"),
    ("plain_mean", "one line, plain least squares"),
)
LEAST = 0.05  # % below which an error is drawn here


def draw_rows(axes: Axes, models: Sequence[Model], theme: Theme) -> None:
    """A row a curve, the smallest error on top; a thin line reaches to the model's worst size."""
    order = sorted(models, key=lambda model: -_error(model.held_out, "mean"))
    rows = np.arange(len(order))
    axes.hlines(rows, [_error(m.held_out, "mean") for m in order], [_error(m.held_out, "worst") for m in order],
                color=theme.series[0], alpha=0.35, linewidth=4, label="up to the worst size")  # fmt: skip
    for number, (name, words) in enumerate(METHODS):
        axes.plot([_error(model.held_out, name) for model in order], rows, linestyle="none", marker=MARKERS[number],
                  color=theme.series[number], label=words, gid=name, zorder=4 - number,
                  markerfacecolor=theme.series[number] if not number else "none", markersize=7)  # fmt: skip
    axes.set_yticks(rows, [_name(model, order) for model in order])
    axes.grid(axis="y", visible=False)
    _x(axes)


def draw_shares(axes: Axes, models: Sequence[Model], theme: Theme) -> None:
    """The share of curves whose mean error is at most so much."""
    for number, (name, words) in enumerate(METHODS):
        errors = np.sort([_error(model.held_out, name) for model in models])
        shares = 100.0 * np.arange(1, len(errors) + 1) / len(errors)
        axes.step(errors, shares, where="post", color=theme.series[number], label=words, gid=name,
                  marker=MARKERS[number], markevery=max(1, len(errors) // 12))  # fmt: skip
    axes.set_ylim(0, 102)
    axes.set_ylabel("curves with at most this error (%)")
    _x(axes)


def caption(models: Sequence[Model], judged: Sequence[Model]) -> tuple[str, ...]:
    """What was judged, and what not."""
    held = [model.held_out for model in judged if model.held_out]
    ours, other = (np.median([_error(h, name) for h in held]) for name in ("mean", "interpolation_mean"))
    refused = sum(model.refused is not None for model in models)
    devices = sorted({model.device or model.backend or "device not stated" for model in judged})
    return (
        f"{len(judged)} curves; median of their mean errors: model {ours:.1f} %, interpolation {other:.1f} %"
        + (f"; {refused} more have no model" if refused else ""),
        "each inner size left out in turn, everything fitted anew, its time predicted; "
        + ", ".join(devices[:4]) + (f" and {len(devices) - 4} more" if len(devices) > 4 else ""),
    )  # fmt: skip


def _x(axes: Axes) -> None:
    percent_axis(axes.xaxis)
    axes.set_xlabel("mean relative error on held-out sizes (%)")


def _error(found: HeldOut | None, name: str) -> float:
    return max(LEAST, 100.0 * float(getattr(found, name))) if found else LEAST


def _name(model: Model, models: Sequence[Model]) -> str:
    """What tells this curve from the others."""
    fields = ("label", "collective", "op", "dtype", "placement", "mode", "world_size")
    told = [f for f in fields if f == "collective" or len({getattr(m.key, f) for m in models}) > 1]
    words = (getattr(model.key, field) for field in told)
    return " ".join({"in": "in place", "out": "out of place"}.get(str(word), str(word)) for word in words if word)
