"""NVLink beside other paths: `python -m plots.interconnects nvlink.jsonl host.jsonl --output figure.png`.

Each file or folder is a side; the first one is the base.
"""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from plots.bandwidth import refuse_crowd
from plots.choosing import ALL, Choice, Line, choice_of, lines_of, refuse_void
from plots.running import DrawingError, add_choice, parser, run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from commbench.judging.compared import Comparison, CurveComparison, PointComparison
    from commbench.judging.sides import Side
    from plots.style import Theme

    Compared = tuple[CurveComparison, tuple[PointComparison, ...]]


def figure(
    sides: "Sequence[Side]",
    choice: Choice = ALL,
    *,
    across: Sequence[str] = (),
    theme: "Theme | None" = None,
    title: str | None = None,
) -> "Figure":
    """One column a collective: bus bandwidth of every side above, time over the base's below, crossover marked.

    Args:
        sides: the base first.
        across: facts in which the sides may differ, as `commbench compare --across`.

    Raises:
        DrawingError: a side is void, or the sides share no curve.
        UsageError: sides that must not be compared, or more than can be told apart.
    """
    from commbench.judging.comparison import compare
    from plots import style
    from plots.captions import caption, title_with_proof
    from plots.panels import bandwidth, interconnects

    colours = theme or style.LIGHT
    for side in sides:
        for one in side.sets:
            refuse_void(one)
    columns = side_lines(sides, choice)
    lines = [line for column in columns.values() for line in column]
    refuse_crowd(columns, lines)
    found = compare(sides, across=across, fitted=False)
    named, alarm = title_with_proof(title or _title(sides), lines)
    with style.look(colours):
        page = style.blank()
        grid = page.subplots(2, len(columns), squeeze=False, sharex="col", sharey="row",
                             gridspec_kw={"height_ratios": (1.15, 1.0)})  # fmt: skip
        looks = bandwidth.styles([side.name for side in sides], colours)
        labels = 6 if len(columns) < 3 else 4
        compared = {name: matching(found, column) for name, column in columns.items()}
        everything = [pair for pairs in compared.values() for pair in pairs]
        every: list[bandwidth.Fitted] = []
        for place, (collective, column) in enumerate(columns.items()):
            above, below = grid[0][place], grid[1][place]
            sizes = [float(point.message_bytes) for line in column for point in line.curve.points]
            drawn = bandwidth.fitted(column, looks)
            every += drawn
            bandwidth.draw_rate(above, drawn, colours, labels=labels, named=place == 0)
            interconnects.draw_ratio(
                below, compared[collective], looks, sizes, colours, labels=labels, named=place == 0
            )
            above.set_title(f"{collective}\n", pad=2)
            rates = above.text(0.0, 1.03, interconnects.largest_rates(column), transform=above.transAxes,
                              color=colours.quiet, fontsize="small", gid="largest")  # fmt: skip
            rates.set_in_layout(False)
        interconnects.share_ratio_axis(grid[1], everything)
        words = interconnects.words(everything)
        style.frame(page, named, "", caption(lines, bandwidth.words(every), words), colours, alarm=alarm)
        style.legend(page, grid[0])
    return page


def side_lines(sides: "Sequence[Side]", choice: Choice) -> dict[str, tuple[Line, ...]]:
    """The lines of each collective that the base and another side have, under the sides' names."""
    from dataclasses import replace

    sets = [one for side in sides for one in side.sets]
    owners = {id(one): side.name for side in sides for one in side.sets}
    columns = {
        name: tuple(replace(line, name=owners[id(line.sweep_set)], legend=owners[id(line.sweep_set)]) for line in lines)
        for name, lines in lines_of(sets, choice).items()
    }
    base = sides[0].name
    shared = {name: lines for name, lines in columns.items() if len(lines) > 1 and lines[0].name == base}
    if not shared:
        raise DrawingError("the sides have no curve in common", expected=f"a collective of {base} and of another side",
                            found="; ".join(f"{n}: {', '.join(x.name for x in c)}" for n, c in columns.items()),
                            fix="measure both with the same collectives, modes and placements")  # fmt: skip
    return shared


def matching(found: "Comparison", lines: Sequence[Line]) -> "tuple[Compared, ...]":
    """What a comparison says of these lines' curves, in the order of the lines."""
    base = lines[0]
    pairs = []
    for line in lines[1:]:
        for curve in found.curves:
            if (curve.a, curve.b) == (base.name, line.name) and _is(curve, base):
                points = tuple(p for p in found.comparisons if (p.a, p.b) == (curve.a, curve.b) and _is(p, base))
                pairs.append((curve, points))
    return tuple(pairs)


def _is(one: "CurveComparison | PointComparison", line: Line) -> bool:
    key = line.curve.key
    said = (one.collective, one.op, one.dtype, one.placement, one.mode, one.beside, one.world_size)
    return said == (*key, line.curve.world_size)


def _title(sides: "Sequence[Side]") -> str:
    others = ", ".join(side.name for side in sides[1:])
    return f"{sides[0].name} against {others}"


def main(argv: Sequence[str] | None = None) -> int:
    """Draw the figure. Returns the exit code."""
    made = parser("interconnects", "Settings of one machine side by side: bus bandwidth, time over that of the first "
                  "side, and where one stops being the faster one.",
                  files="a sweep file or a folder of them: a side")  # fmt: skip
    add_choice(made)
    made.add_argument("--across", metavar="FACT,...", default="", help="compare although these facts differ")

    def draw(options: object) -> "Figure":
        from commbench.judging.likeness import known_fields
        from commbench.judging.sides import read_sides
        from plots.style import THEMES

        given = vars(options)
        return figure(read_sides(given["files"]), choice_of(options), across=known_fields(given["across"]),
                      theme=THEMES[given["theme"]], title=given["title"])  # fmt: skip

    return run(made, draw, argv)


if __name__ == "__main__":
    sys.exit(main())
