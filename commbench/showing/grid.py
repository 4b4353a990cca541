"""A plain table of cells for reports: columns that say nothing are left out, and nothing is cut or wrapped."""

import io
from collections.abc import Collection, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from commbench.showing.heading import clean

_WIDEST = 400  # lines of a log are not wrapped; a terminal wraps them itself

Cells = tuple[str, ...]


def grid(head: Cells, rows: Sequence[Cells], *, left: Collection[int] = ()) -> str:
    """The table as text.

    Args:
        head: titles; a unit stands in their second line.
        rows: cells, as many as titles. A column that is empty in all of them is left out.
        left: columns of words; the others are numbers and stand on the right.
    """
    kept = [number for number in range(len(head)) if any(row[number] for row in rows)]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, collapse_padding=True)
    for number in kept:
        table.add_column(Text(head[number]), justify="left" if number in left else "right", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(clean(row[number])) for number in kept))
    page = io.StringIO()
    Console(file=page, width=_WIDEST, color_system=None, force_terminal=False, legacy_windows=False).print(table)
    return "\n".join(line.rstrip() for line in page.getvalue().splitlines()) + "\n"
