"""The table for a person: rows under a heading, then what was left out, notes, and the judgement.

Nothing here knows a terminal: the width is an argument. Columns leave a table that is too wide for it, the least
needed first, rather than having their numbers cut; a line below names them.
"""

import io
from collections.abc import Iterable, Mapping, Sequence

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from commbench.showing import heading
from commbench.showing.columns import Column, columns_for
from commbench.showing.judgement import judge
from commbench.showing.rows import Row, curve_words, in_reading_order, rows
from commbench.showing.warning import ResultWarning
from commbench.sweepfile.reader import Sweep

PLAIN_WIDTH = 140  # where there is no terminal: a log or a pipe

_GUTTER = 2  # blanks between columns
_BOUND_STYLES = {"launch": "yellow", "latency": "cyan", "bandwidth": "green"}


def draw(sweep: Sweep, width: int = PLAIN_WIDTH, *, judged: bool = True) -> str:
    """The table as plain text, lines without trailing blanks."""
    page = io.StringIO()
    console = Console(file=page, width=width, color_system=None, force_terminal=False, legacy_windows=False)
    console.print(table(sweep, width, judged=judged), crop=False)
    return "\n".join(line.rstrip() for line in page.getvalue().splitlines()) + "\n"


def table(sweep: Sweep, width: int, *, judged: bool = True) -> RenderableType:
    """The table as something a rich Console prints (with crop=False, or a narrow terminal loses digits).

    Args:
        width: characters the console has.
        judged: with the warnings below.
    """
    shown = in_reading_order(rows(sweep))
    parts: list[RenderableType] = [_pairs(heading.heading(sweep, shown), "bold")]
    if shown:
        parts += _body(shown, width)
    else:
        parts.append(_text("\nno measurements", "bold"))
    if notes := heading.notes(shown):
        parts += [_text(""), _pairs(notes, "bold")]
    if missing := heading.left_out(sweep):
        parts += [_text(f"\nleft out ({len(sweep.left_out)} points)", "bold"), _pairs((("-", m) for m in missing), "")]
    if judged:
        parts += warnings(judge(sweep, shown))
    return Group(*parts)


def warnings(found: Sequence[ResultWarning]) -> list[RenderableType]:
    """The warnings as a list for a rich Console; empty where there are none."""
    if not found:
        return []
    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column()
    for warning in found:
        grid.add_row(_text("!", "bold yellow"), _text("seen", "bold"), _text(warning.seen, "bold"))
        grid.add_row("", _text("why", "dim"), _text(warning.why))
        grid.add_row("", _text("helps", "dim"), _text(warning.helps))
    count = f"{len(found)} warning{'s' if len(found) > 1 else ''}"
    return [_text(f"\n{count}", "bold yellow"), grid]


def _body(shown: Sequence[Row], width: int) -> list[RenderableType]:
    widths = {column: _width(column, shown) for column in columns_for(shown)}
    dropped = []
    while sum(widths.values()) + _GUTTER * (len(widths) - 1) > width and any(column.spare for column in widths):
        leaves = max(widths, key=lambda column: column.spare)
        dropped.append(leaves.title)
        del widths[leaves]
    parts: list[RenderableType] = [_text(""), _table(shown, widths)]
    if dropped:
        parts.append(_text(f"\nno room for {', '.join(dropped)}: widen the terminal, or use --format csv", "dim"))
    return parts


def _width(column: Column, shown: Sequence[Row]) -> int:
    return max(len(column.title), len(column.unit), *(len(column.cell(row)) for row in shown))


def _table(shown: Sequence[Row], widths: Mapping[Column, int]) -> Table:
    # What no column can spare runs over the edge whole, rather than with its digits cut.
    whole = sum(widths.values()) + _GUTTER * (len(widths) - 1)
    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, collapse_padding=True, width=whole)
    for column, width in widths.items():
        head = _text(f"{column.title}\n{column.unit}", "bold")
        drawn.add_column(head, justify=column.side, no_wrap=True, width=width)
    curve = None
    for row in shown:
        if curve is not None and curve != (row.collective, curve_words(row)):
            drawn.add_section()
        curve = (row.collective, curve_words(row))
        drawn.add_row(*(_cell(column, row) for column in widths))
    return drawn


def _cell(column: Column, row: Row) -> Text:
    style = {
        "#wrong": "bold red" if row.check == "WRONG" else "dim" if row.check == "not checked" else "",
        "bound": _BOUND_STYLES.get(row.bound or "", ""),
        "±%": "yellow" if row.reached is False else "",
        "busbw": "bold",
        "time": "bold",
    }.get(column.title, "")
    return _text(column.cell(row), style)


def _pairs(pairs: Iterable[tuple[str, str]], style: str) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column()
    for word, text in pairs:
        grid.add_row(_text(word, style), _text(text))
    return grid


def _text(words: str, style: str = "") -> Text:
    """Text as it is: no markup is read in labels and reasons that come from files."""
    return Text("\n".join(heading.clean(line) for line in words.split("\n")), style=style)
