"""How far off models are on sizes they have not seen: `python -m plots.model_error sweep.jsonl --output figure.png`."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from plots.running import DrawingError, parser, run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from commbench.modelling.model import Model
    from plots.style import Theme

TITLE = "Error on message sizes that the fit had not seen"
MOST_ROWS = 24  # curves that have a row each; more of them become distributions


def figure(models: "Sequence[Model]", *, theme: "Theme | None" = None, title: str | None = None) -> "Figure":
    """The mean held-out error of each curve's model beside interpolation and one straight line.

    A row a curve; with more than 24 curves, the share of curves below each error instead.

    Raises:
        DrawingError: no curve has a model with enough sizes to hold some out.
    """
    from plots import style
    from plots.panels import model_error as panel

    colours = theme or style.LIGHT
    judged = [model for model in models if model.held_out is not None]
    if not judged:
        raise DrawingError("no model could be judged", expected="curves with a model of 5 sizes or more",
                            found="; ".join(sorted({m.refused or "too few sizes" for m in models})[:3]) or "no curve",
                            fix="commbench fit FILE gives each curve's reason")  # fmt: skip
    with style.look(colours):
        page = style.blank()
        axes = page.subplots()
        if len(judged) > MOST_ROWS:
            panel.draw_shares(axes, judged, colours)
        else:
            panel.draw_rows(axes, judged, colours)
        axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, handletextpad=0.4, columnspacing=1.4)
        style.frame(page, title or TITLE, "", panel.caption(models, judged), colours)
    return page


def main(argv: Sequence[str] | None = None) -> int:
    """Draw the figure. Returns the exit code."""
    made = parser("model_error", "Held-out error of each curve's model, beside log-log interpolation and one straight "
                  "line. Saved models (commbench fit --save) are read too.",
                  files="a sweep file or saved models")  # fmt: skip
    made.add_argument("--title", metavar="TEXT", help="instead of the figure's own title")

    def draw(options: object) -> "Figure":
        from commbench.modelling.inputs import read_models
        from plots.style import THEMES

        given = vars(options)
        return figure(read_models(given["files"]), theme=THEMES[given["theme"]], title=given["title"])

    return run(made, draw, argv)


if __name__ == "__main__":
    sys.exit(main())
