"""Bus bandwidth and time over message size: `python -m plots.bandwidth sweep.jsonl --output figure.png`."""

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from commbench.errors import UsageError
from plots.choosing import ALL, Choice, Line, drawn_with, lines_of
from plots.running import add_choice, parser, run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from commbench.sweepfile.sets import SweepSet
    from plots.style import Theme

TITLE = "Bandwidth and time of collectives"
MOST_PANELS = 5  # collectives side by side that a slide has room for


def figure(
    sets: "Sequence[SweepSet]", choice: Choice = ALL, *, theme: "Theme | None" = None, title: str | None = None
) -> "Figure":
    """One column a collective: bus bandwidth above, time of one call below.

    Args:
        sets: settings side by side, in the legend's order. With one set, its modes stand side by side instead.

    Raises:
        DrawingError: no curve matches.
        UsageError: more lines or collectives than can be told apart.
    """
    from plots import style
    from plots.captions import caption, title_with_proof
    from plots.panels import bandwidth as panel

    colours = theme or style.LIGHT
    columns = lines_of(sets, choice, modes=True)
    lines = [line for column in columns.values() for line in column]
    refuse_crowd(columns, lines)
    named, alarm = title_with_proof(title or _title(columns), lines)
    with style.look(colours):
        page = style.blank()
        grid = page.subplots(2, len(columns), squeeze=False, sharex="col", sharey="row")
        looks = panel.styles([line.legend for line in lines], colours)
        labels = 6 if len(columns) < 3 else 4
        every: list[panel.Fitted] = []
        for place, (collective, column) in enumerate(columns.items()):
            above, below = grid[0][place], grid[1][place]
            drawn = panel.fitted(column, looks)
            every += drawn
            panel.draw_rate(above, drawn, colours, labels=labels, named=place == 0)
            panel.draw_time(below, drawn, labels=labels, named=place == 0)
            above.set_title(collective)
        style.frame(page, named, "", caption(lines, panel.words(every)), colours, alarm=alarm)
        style.legend(page, grid[0])
    return page


def refuse_crowd(columns: Mapping[str, object], lines: Sequence[Line]) -> None:
    """Raises UsageError for more than a reader can tell apart."""
    from plots.style import MOST_SERIES

    legends = list(dict.fromkeys(line.legend for line in lines))
    if len(legends) > MOST_SERIES:
        raise UsageError("there are too many lines to tell apart", expected=f"at most {MOST_SERIES} settings",
                         found=f"{len(legends)}: {', '.join(legends)}", fix="give fewer files")  # fmt: skip
    if len(columns) > MOST_PANELS:
        raise UsageError("there are too many collectives for one figure", expected=f"at most {MOST_PANELS}",
                         found=f"{len(columns)}: {', '.join(columns)}",
                         fix="choose with --collective all_reduce,all_gather")  # fmt: skip


def _title(columns: Mapping[str, object]) -> str:
    return f"Bandwidth and time of {next(iter(columns))}" if len(columns) == 1 else TITLE


def main(argv: Sequence[str] | None = None) -> int:
    """Draw the figure. Returns the exit code."""
    made = parser("bandwidth", "Bus bandwidth and time over message size, one column a collective, below what the "
                  "links carry.")  # fmt: skip
    add_choice(made)
    return run(made, drawn_with(figure), argv)


if __name__ == "__main__":
    sys.exit(main())
