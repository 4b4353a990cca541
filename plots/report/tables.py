"""A table of the page: cells with the number they sort by, and how wide columns behave."""

from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Cell:
    """What is read, and the number it sorts by (None: by the text)."""

    text: str
    value: float | None = None
    tone: str = ""


@dataclass(frozen=True)
class Column:
    """A head with its unit; numbers stand right."""

    name: str
    unit: str = ""
    number: bool = False


@dataclass(frozen=True)
class Table:
    """A table with a caption.

    Attributes:
        key: unique on the page.
        filters: it has a box that hides the rows without a word.
        plain: its rows have an order of their own, so nothing sorts them.
    """

    key: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    filters: bool = False
    notes: tuple[str, ...] = ()
    plain: bool = False

    def of(self, kept: Sequence[int], *words: str) -> "Table":
        """The table with these columns only, and more words in its caption."""
        return replace(
            self, caption=", ".join((self.caption, *filter(None, words))), columns=tuple(self.columns[n] for n in kept),
            rows=tuple(tuple(row[n] for n in kept) for row in self.rows),
        )  # fmt: skip


def without_empty(table: Table, *, keep: int = 1) -> Table:
    """The table without columns that say nothing, after the first `keep`."""
    used = [n for n in range(len(table.columns)) if n < keep or any(row[n].text for row in table.rows)]
    return table.of(used)


def said_once(table: Table, names: Sequence[str]) -> Table:
    """The table without those of the named columns that say one thing or nothing; the caption says it instead."""
    if len(table.rows) < 2:
        return table
    same = [n for n, column in enumerate(table.columns)
            if column.name in names and len({row[n].text for row in table.rows} - {""}) < 2]  # fmt: skip
    words = [next((row[n].text for row in table.rows if row[n].text), "") for n in same]
    return table.of([n for n in range(len(table.columns)) if n not in same], *filter(None, words))
