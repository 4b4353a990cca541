"""One look for all figures: colours that colour-blind readers can tell apart, sizes that are legible on a slide.

Colours are those of Okabe and Ito, "Color Universal Design" (2008); every series has a marker of its own too, so that
a figure survives a black-and-white printer. A figure of the light theme becomes one of the dark theme by replacing
colour for colour, which is how the report's figures follow the reader's setting.
"""

import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from commbench.errors import SweepFileError
from plots.running import FORMATS

Kind = Literal["slide", "panel"]


@dataclass(frozen=True)
class Theme:
    """The colours of a figure. `series` are used in order; each has the marker of the same place in MARKERS."""

    ink: str
    quiet: str
    grid: str
    paper: str
    alarm: str
    series: tuple[str, ...]


LIGHT = Theme(
    ink="#1b1f24", quiet="#57606a", grid="#d8dee4", paper="#fffffe", alarm="#b3261e",
    series=("#0072b2", "#d55e00", "#009e73", "#b04a86", "#c98a00", "#3d9fd6"),
)  # fmt: skip
DARK = Theme(
    ink="#e8ebef", quiet="#a3adb8", grid="#363d46", paper="#14181d", alarm="#ff8a80",
    series=("#5ab4f0", "#ff9457", "#35c99b", "#e59ac6", "#f0bd45", "#a2d8f7"),
)  # fmt: skip
THEMES = {"light": LIGHT, "dark": DARK}
MARKERS = ("o", "s", "^", "D", "v", "P")
MOST_TITLE = 90  # characters that fit a slide
MOST_SERIES = len(MARKERS)

_SIZES: dict[Kind, tuple[float, float]] = {"slide": (13.333, 7.5), "panel": (5.2, 3.5)}
_FONT: dict[Kind, float] = {"slide": 13.0, "panel": 11.5}
_DOTS_AN_INCH = 150  # 2000 x 1125 pixels for a slide


@contextmanager
def look(theme: Theme, kind: Kind = "slide") -> Iterator[None]:
    """Everything created inside has the house's look."""
    size = _FONT[kind]
    settings: Any = {
        "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"], "font.size": size,
        "axes.titlesize": size, "axes.titleweight": "bold", "axes.titlelocation": "left", "axes.labelsize": 0.92 * size,
        "xtick.labelsize": 0.85 * size, "ytick.labelsize": 0.85 * size, "legend.fontsize": 0.88 * size,
        "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "axes.axisbelow": True,
        "axes.edgecolor": theme.quiet, "axes.labelcolor": theme.ink, "axes.titlecolor": theme.ink,
        "axes.facecolor": "none", "figure.facecolor": theme.paper, "savefig.facecolor": theme.paper,
        "text.color": theme.ink, "xtick.color": theme.quiet, "ytick.color": theme.quiet,
        "xtick.labelcolor": theme.ink, "ytick.labelcolor": theme.ink, "grid.color": theme.grid, "grid.linewidth": 0.8,
        "lines.linewidth": 2.0, "lines.markersize": 4.5 if kind == "slide" else 3.5, "legend.frameon": False,
        "svg.fonttype": "none", "svg.hashsalt": "commbench", "pdf.fonttype": 42, "axes.unicode_minus": True,
        "text.parse_math": False,  # labels come from files
    }  # fmt: skip
    with mpl.rc_context(settings):
        yield


def blank(kind: Kind = "slide", *, height: float | None = None) -> Figure:
    """An empty figure of a slide's or a report panel's size (in inches). Call it inside `look`."""
    width, usual = _SIZES[kind]
    return Figure(figsize=(width, height or usual), layout="constrained")


def frame(
    figure: Figure, title: str, subtitle: str, caption: Sequence[str], theme: Theme, *, alarm: bool = False
) -> None:
    """Title and subtitle above the axes, the caption's lines below them.

    Args:
        alarm: the title says something that must not be overlooked, so it is coloured.
    """
    size, inches = float(mpl.rcParams["font.size"]), figure.get_figheight()
    line = 1.45 * size / 72.0 / inches  # of the figure's height
    wrapped = [part for text in caption for part in _wrapped(text, figure.get_figwidth(), 0.8 * size)]
    colour = theme.alarm if alarm else theme.ink
    figure.text(
        0.012,
        1.0 - 0.5 * line,
        short(title, MOST_TITLE),
        size=1.45 * size,
        weight="bold",
        va="top",
        color=colour,
        gid="title",
    )
    above = 2.4 * line
    if subtitle:
        figure.text(0.012, 1.0 - 2.0 * line, subtitle, size=size, va="top", color=theme.quiet, gid="subtitle")
        above += line
    below = (0.4 + 0.86 * len(wrapped)) * line
    for number, text in enumerate(wrapped):
        y = below - 0.2 * line - 0.86 * number * line
        figure.text(0.012, y, text, size=0.8 * size, va="top", color=theme.quiet, gid="caption")
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.set(w_pad=0.07, h_pad=0.06)  # type: ignore[call-arg]  # inches; of constrained layout
        engine.set(rect=(0.008, below, 0.984, 1.0 - below - above))  # type: ignore[call-arg]  # of constrained layout


def caption_of(figure: Figure) -> str:
    """The caption's lines, as they were drawn."""
    return "\n".join(text.get_text() for text in figure.texts if text.get_gid() == "caption")


def title_of(figure: Figure) -> str:
    """The title, as it was drawn."""
    return next((text.get_text() for text in figure.texts if text.get_gid() == "title"), "")


def short(text: str, most: int = 28) -> str:
    """A name that fits a legend: its middle gives way, because the ends tell names apart.

    A blank stands before an underscore: matplotlib would hide the name.
    """
    text = f" {text}" if text.startswith("_") else text
    return text if len(text) <= most else f"{text[: most // 2]}…{text[-(most // 2 - 1) :]}"


@contextmanager
def rendering(**settings: Any) -> Iterator[None]:
    """Around what writes a figure: a character that the font lacks becomes a box, without a warning for each."""
    given: Any = settings
    with mpl.rc_context(given), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure; its format follows from the file's name. The same figure gives the same bytes.

    Raises:
        SweepFileError: the file cannot be written.
    """
    kind = Path(path).suffix.lower().removeprefix(".")
    undated: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    try:
        with rendering(**{"svg.fonttype": "path", "svg.hashsalt": "commbench", "pdf.fonttype": 42}):
            if kind == "png":
                Path(path).write_bytes(_pixels(figure))
            else:
                figure.savefig(path, format=kind, metadata=undated[kind])
    except OSError as error:
        raise SweepFileError(
            "the figure cannot be written", expected=f"a path that can be written, ending in {', '.join(FORMATS)}",
            found=f"{path}: {error.strerror or error}", fix="name another file after --output",
        ) from None  # fmt: skip


def _pixels(figure: Figure) -> bytes:
    """A PNG of 256 colours, which is all that lines and bands need: a third of the bytes."""
    full, small = io.BytesIO(), io.BytesIO()
    figure.savefig(full, format="png", dpi=_DOTS_AN_INCH)
    Image.open(full).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(small, "PNG", optimize=True)
    return small.getvalue()


def _wrapped(text: str, inches: float, size: float) -> list[str]:
    import textwrap

    characters = int(inches * 72.0 / (0.54 * size))  # DejaVu Sans: a character is about 0.54 of its size wide
    return textwrap.wrap(text, characters) or [""]


def legend(figure: Figure, axes: Sequence[Axes]) -> None:
    """One legend for all panels, at the right of the title's line; none for a single series."""
    handles: dict[str, Any] = {}
    for each in axes:
        for handle, label in zip(*each.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    if len(handles) > 1:
        made = figure.legend(handles.values(), handles.keys(), loc="upper right", ncols=len(handles), markerscale=1.4,
                             bbox_to_anchor=(0.995, 1.0), handletextpad=0.3, columnspacing=1.4)  # fmt: skip
        made.set_in_layout(False)
