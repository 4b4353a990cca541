"""Time and bandwidth over the number of ranks: `python -m plots.scaling n2.jsonl n4.jsonl --output figure.png`."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from plots.choosing import ALL, Choice, drawn_with
from plots.running import DrawingError, add_choice, parser, run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from commbench.sweepfile.sets import SweepSet
    from plots.style import Theme


def figure(
    sets: "Sequence[SweepSet]", choice: Choice = ALL, *, theme: "Theme | None" = None, title: str | None = None
) -> "Figure":
    """One column a collective: bus bandwidth of the largest common size above, time of the smallest below, over ranks.

    Raises:
        DrawingError: no setting was measured with two numbers of ranks.
    """
    from plots import style
    from plots.captions import caption, title_with_proof
    from plots.panels import bandwidth, scaling
    from plots.worlds import families_of

    colours = theme or style.LIGHT
    columns = families_of(sets, choice)
    if not columns:
        ranks = sorted({str(one.key.world_size or "?") for one in sets})
        raise DrawingError("nothing was measured with several numbers of ranks",
                            expected="one setting (label) with two numbers of ranks or more", found=", ".join(ranks),
                            fix="measure fewer ranks too: commbench.sweep --world-sizes 2,4,8")  # fmt: skip
    lines = [line for families in columns.values() for family in families for line in family.lines]
    named, alarm = title_with_proof(title or "Scaling over the number of ranks", lines)
    with style.look(colours):
        page = style.blank()
        grid = page.subplots(2, len(columns), squeeze=False, sharex="col")
        looks = bandwidth.styles([f.name for families in columns.values() for f in families], colours)
        for place, (collective, families) in enumerate(columns.items()):
            scaling.draw(grid[0][place], grid[1][place], families, looks, named=place == 0)
            grid[0][place].set_title(collective)
        style.frame(page, named, "", caption(lines, scaling.WORDS), colours, alarm=alarm)
        style.legend(page, grid[0])
    return page


def main(argv: Sequence[str] | None = None) -> int:
    """Draw the figure. Returns the exit code."""
    made = parser("scaling", "Bus bandwidth of the largest and time of the smallest common size over the number of "
                  "ranks, with the law that they follow.")  # fmt: skip
    add_choice(made)
    return run(made, drawn_with(figure), argv)


if __name__ == "__main__":
    sys.exit(main())
