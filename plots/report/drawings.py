"""Figures of the report: one a collective, narrow enough for a phone, as SVG inside the page.

The SVG's colours become CSS variables with the light theme's colours as fallback, so one drawing serves light and dark.
"""

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib as mpl
from markupsafe import Markup, escape
from matplotlib.figure import Figure

from commbench.judging.compared import Comparison
from commbench.showing.heading import clean
from commbench.sweepfile.sets import SweepSet
from commbench.training.predictions import StepPrediction
from plots import style
from plots.captions import caption, title_with_proof
from plots.choosing import Choice, Line, lines_of
from plots.interconnects import matching
from plots.panels import bandwidth, interconnects, training_steps
from plots.running import DrawingError
from plots.style import LIGHT

_LABELS = 5  # sizes that have a label


@dataclass(frozen=True)
class Drawing:
    """A figure of the page.

    Attributes:
        alarm: the heading says something that must not be overlooked.
    """

    key: str
    heading: str
    svg: Markup
    caption: tuple[str, ...]
    alarm: bool = False


def bandwidth_drawings(sets: Sequence[SweepSet], choice: Choice) -> tuple[Drawing, ...]:
    """Bandwidth above, time below, a drawing a collective. Raises DrawingError and UsageError."""
    from plots.bandwidth import refuse_crowd

    columns = lines_of(sets, choice, modes=True)
    every = [line for lines in columns.values() for line in lines]
    refuse_crowd({}, every)
    with style.look(LIGHT, "panel"):
        looks = bandwidth.styles([line.legend for line in every], LIGHT)
        fitted = {name: bandwidth.fitted(lines, looks) for name, lines in columns.items()}
        said = caption(every, bandwidth.words([each for drawn in fitted.values() for each in drawn]))
        return tuple(_bandwidth_drawing(name, columns[name], fitted[name], said) for name in columns)


def _bandwidth_drawing(
    collective: str, lines: Sequence[Line], drawn: Sequence[bandwidth.Fitted], said: tuple[str, ...]
) -> Drawing:
    page = style.blank("panel", height=5.6)
    above, below = page.subplots(2, 1, sharex=True)
    bandwidth.draw_rate(above, drawn, LIGHT, labels=_LABELS)
    bandwidth.draw_time(below, drawn, labels=_LABELS)
    _legend(page, above)
    heading, alarm = title_with_proof(collective, lines)
    words = f"Bus bandwidth and time of {collective} over message size"
    key = f"bandwidth-{collective}"
    return Drawing(key, heading, inline(page, key, words), said, alarm)


def ratio_drawings(sides: dict[str, tuple[Line, ...]], comparison: Comparison) -> tuple[Drawing, ...]:
    """Time over the base's, a drawing a collective."""
    found = []
    names = list(dict.fromkeys(line.name for lines in sides.values() for line in lines))
    with style.look(LIGHT, "panel"):
        looks = bandwidth.styles(names, LIGHT)
        for collective, lines in sides.items():
            pairs = matching(comparison, lines)
            if not pairs:
                continue
            page = style.blank("panel", height=3.4)
            axes = page.subplots()
            sizes = [float(point.message_bytes) for line in lines for point in line.curve.points]
            interconnects.draw_ratio(axes, pairs, looks, sizes, LIGHT, labels=_LABELS)
            _legend(page, axes, least=1)
            heading, alarm = title_with_proof(f"{collective}: against {lines[0].name}", lines)
            said = f"Time of {collective} over that of {lines[0].name}, by message size"
            words = tuple(text for text in (interconnects.largest_rates(lines), interconnects.words(pairs)) if text)
            found.append(Drawing(f"ratio-{collective}", heading, inline(page, f"ratio-{collective}", said),
                                 words, alarm))  # fmt: skip
    return tuple(found)


def training_drawing(predictions: Sequence[StepPrediction], paths: Sequence[tuple[str, str]]) -> Drawing:
    """A bar a strategy and interconnect. Raises DrawingError where nothing was priced."""
    priced = [each for each in predictions if each.priced is not None]
    if not priced:
        raise DrawingError("no step could be priced", expected="sweeps of every collective that a step needs",
                            found="; ".join(dict.fromkeys(e.refused.wrong for e in predictions if e.refused)),
                            fix="measure the missing collectives")  # fmt: skip
    with style.look(LIGHT, "panel"):
        page = style.blank("panel", height=1.4 + 0.42 * len(priced))
        axes = page.subplots()
        training_steps.draw(axes, priced, list(dict.fromkeys(map(training_steps.strategy, priced))), LIGHT, notes=False)
        _legend(page, axes)
        return Drawing("training", f"One optimizer step of {clean(priced[0].schedule.model)}",
                       inline(page, "training", "Communication of one training step by phase"),
                       training_steps.caption(predictions, paths))  # fmt: skip


def inline(figure: Figure, key: str, said: str) -> Markup:
    """A figure as an SVG element.

    Args:
        key: unique on the page; the SVG's own ids begin with it.
        said: what a screen reader says of it.
    """
    stream = io.StringIO()
    with style.rendering(**{"svg.fonttype": "none", "svg.hashsalt": key}):
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None, "Creator": None, "Type": None,
                       "Format": None})  # fmt: skip
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'(\sid="|url\(#|xlink:href="#)', rf"\g<1>{key}-", text)
    used = set(re.findall(r"(?:url\(#|href=\"#)([^\")]+)", text))
    text = re.sub(r'\sid="([^"]*)"', lambda found: found[0] if found[1] in used else "", text)  # names of parts
    for number, colour in enumerate(LIGHT.series):
        text = _variable(text, colour, f"series-{number}")
    for name in ("ink", "quiet", "grid", "paper", "alarm"):
        text = _variable(text, getattr(LIGHT, name), name)
    head = f'<svg role="img" aria-labelledby="{key}-name"'
    text = re.sub(
        r'^<svg([^>]*?)\s(?:height|width)="[^"]*"([^>]*?)\s(?:height|width)="[^"]*"', r"<svg\1\2", text, count=1
    )
    text = text.replace("<svg", head, 1)
    end = text.index(">") + 1
    return Markup(f'{text[:end]}<title id="{key}-name">{escape(said)}</title>{text[end:]}')


def _variable(text: str, colour: str, name: str) -> str:
    return re.sub(re.escape(colour), f"var(--{name}, {colour})", text, flags=re.IGNORECASE)


def _legend(page: Figure, axes: "mpl.axes.Axes", *, least: int = 2) -> None:
    handles, labels = axes.get_legend_handles_labels()
    if len(labels) >= least:
        page.legend(handles, labels, loc="outside upper left", ncols=min(3, len(labels)), handletextpad=0.3)
