"""Communication of a training step by phase, strategy and interconnect:

python -m plots.training_steps nvlink.jsonl host.jsonl --model llama2-7b --output figure.png
"""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from plots.running import DrawingError, parser, run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from commbench.training.predictions import StepPrediction
    from plots.style import Theme


def figure(
    predictions: "Sequence[StepPrediction]",
    *,
    paths: Sequence[tuple[str, str]] = (),
    theme: "Theme | None" = None,
    title: str | None = None,
) -> "Figure":
    """A bar a strategy and interconnect, cut into phases; the whisker is the 95 % interval of the whole.

    Args:
        paths: (interconnect, its proved path in words) for the caption; an unproved one is said in the title.

    Raises:
        DrawingError: nothing could be priced.
    """
    from plots import style
    from plots.captions import UNPROVED
    from plots.panels import training_steps as panel

    colours = theme or style.LIGHT
    priced = [each for each in predictions if each.priced is not None]
    if not priced:
        reasons = "; ".join(dict.fromkeys(each.refused.wrong for each in predictions if each.refused)) or "no step"
        raise DrawingError("no step could be priced", expected="sweeps of every collective that the steps need",
                            found=reasons, fix="commbench training FILE ... says more")  # fmt: skip
    unproved = [name for name, path in paths if path == UNPROVED]
    named = title or f"Communication of one training step, {priced[0].schedule.model}"
    named += f" ({UNPROVED} of {', '.join(unproved)})" if unproved else ""
    with style.look(colours):
        page = style.blank()
        strategies = list(dict.fromkeys(panel.strategy(each) for each in priced))
        panel.draw(page.subplots(), priced, strategies, colours)
        style.frame(page, named, "", panel.caption(predictions, paths), colours, alarm=bool(unproved))
        style.legend(page, page.axes)
    return page


def main(argv: Sequence[str] | None = None) -> int:
    """Draw the figure. Returns the exit code."""
    from commbench.training.step_options import add_step_options

    made = parser("training_steps", "The communication of one optimizer step, priced from measured sweeps: phases, "
                  "strategies and interconnects side by side, nothing overlapped.",
                  files="a sweep file, or models saved by commbench fit")  # fmt: skip
    add_step_options(made, strategies="dp,zero2,zero3")
    add = made.add_argument
    add("--world-size", metavar="N", type=int, help="ranks of the step (default: as many as were measured)")
    add("--mode", choices=("isolated", "pipelined", "graph"), help="price from this mode only")
    add("--assume-ring", action="store_true", help="price numbers of ranks that were not measured by a ring's law")
    add("--title", metavar="TEXT", help="instead of the figure's own title; an unproved path is said all the same")

    def draw(options: object) -> "Figure":
        from plots.steps import predicted
        from plots.style import THEMES

        given = vars(options)
        predictions, paths = predicted(given)
        return figure(predictions, paths=paths, theme=THEMES[given["theme"]], title=given["title"])

    return run(made, draw, argv)


if __name__ == "__main__":
    sys.exit(main())
