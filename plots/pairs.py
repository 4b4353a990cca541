"""The links between ranks as a heat map: `python -m plots.pairs pairs.jsonl --output figure.png`."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from plots.running import DrawingError, parser, run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from plots.matrix import Links
    from plots.style import Theme


def figure(links: "Links", *, theme: "Theme | None" = None, title: str | None = None) -> "Figure":
    """Bus bandwidth of each tested pair, rank by rank, untested ones left blank, culprits framed.

    Raises:
        DrawingError: no pair was tested.
    """
    from commbench.showing.heading import clean
    from plots import style
    from plots.captions import UNITS, UNPROVED
    from plots.panels import pairs as panel

    colours = theme or style.LIGHT
    if not links.rates:
        raise DrawingError("no pair was measured", expected="pairs with a bus bandwidth", found="none",
                            fix="torchrun ... -m commbench.pairs -J pairs.jsonl")  # fmt: skip
    path = f"path: {', '.join(links.proved)} (proved)" if links.proved else UNPROVED
    named = title or f"Bandwidth between pairs of ranks: {links.verdict}"
    hosts = len(set(links.hosts))
    ranks = f"{links.ranks} ranks" + (f" on {hosts} host{'s' if hosts > 1 else ''}" if hosts else "")
    facts = "; ".join(part for part in (ranks, links.facts, path, UNITS) if part)
    caption = tuple(clean(text) for text in (links.sentence, facts) if text)
    with style.look(colours):
        page = style.blank()
        panel.draw(page, links, colours)
        style.frame(page, clean(named if links.proved else f"{named} ({UNPROVED})"), "", caption, colours,
                    alarm=links.verdict == "culprit" or not links.proved)  # fmt: skip
    return page


def main(argv: Sequence[str] | None = None) -> int:
    """Draw the figure. Returns the exit code."""
    made = parser("pairs", "Bus bandwidth of every tested pair of ranks as a heat map, culprits framed.",
                  files="one file: of `-m commbench.pairs -J`, or what `commbench pairs --json` prints")  # fmt: skip
    made.add_argument("--title", metavar="TEXT", help="instead of the figure's own title")

    def draw(options: object) -> "Figure":
        from plots.matrix import read_links
        from plots.style import THEMES

        given = vars(options)
        if len(given["files"]) > 1:
            raise DrawingError("links of several runs do not fit one heat map", expected="one file",
                                found=str(len(given["files"])), fix="draw each into a figure of its own")  # fmt: skip
        return figure(read_links(given["files"][0]), theme=THEMES[given["theme"]], title=given["title"])

    return run(made, draw, argv)


if __name__ == "__main__":
    sys.exit(main())
