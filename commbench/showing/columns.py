"""The columns of a table: what each says of a row, and which of them a given table needs.

A column that says the same in every row is taken out of the table; the heading says it once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Literal

from commbench.showing.rows import Row
from commbench.units import GIGABYTE_PER_SECOND, MICROSECOND, format_size


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes:
        title, unit: its head; the unit is empty where there is none.
        cell: what it says of a row, empty where there is nothing to say.
        side: where its cells stand.
        collapses: it leaves the table when it says the same everywhere.
        spare: the first to leave a table that is too wide; 0 never leaves.
    """

    title: str
    unit: str
    cell: Callable[[Row], str]
    side: Literal["left", "right"] = "right"
    collapses: bool = False
    spare: int = 0


def fitted(value: float, width: int) -> str:
    """Two decimals, or one, or none, or `1e+08`: the first that fits, as nccl-tests prints times and rates."""
    for decimals in (2, 1, 0):
        text = f"{value:.{decimals}f}"
        if len(text) <= width:
            return text
    return f"{value:.0e}"


def _share(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}" if value < 9.995 else f"{100 * value:.0f}"


def _rate(value: float | None) -> str:
    return "" if value is None else fitted(value / GIGABYTE_PER_SECOND, 7)


def _wrong(row: Row) -> str:
    if row.check == "not checked":
        return "N/A"
    return "0" if row.check == "yes" else str(row.wrong or "WRONG")


_PLACES = {"in": "in", "out": "out", None: ""}

COLUMNS = (
    Column("collective", "", lambda row: row.collective or "unknown", "left", collapses=True),
    Column("type", "", lambda row: row.dtype or "", "left", collapses=True),
    Column("redop", "", lambda row: row.op or "", "left", collapses=True),
    Column("root", "", lambda row: "" if row.root is None else str(row.root), collapses=True),
    Column("place", "", lambda row: _PLACES[row.placement], "left", collapses=True),
    Column("mode", "", lambda row: row.mode or "", "left", collapses=True),
    Column("beside", "", lambda row: row.beside or "", "left", collapses=True),
    Column("size", "", lambda row: format_size(row.message_bytes)),
    Column("count", "elements", lambda row: "" if row.count is None else str(row.count), spare=5),
    Column("cycle", "", lambda row: str(row.cycle), collapses=True, spare=1),
    Column("time", "us", lambda row: fitted(row.seconds / MICROSECOND, 9)),
    Column("±%", "", lambda row: _share(row.half_width)),
    Column("spread", "%", lambda row: _share(row.spread), spare=3),
    Column("gap", "%", lambda row: _share(row.gap_share), spare=2),
    Column("algbw", "GB/s", lambda row: _rate(row.algbw), spare=4),
    Column("busbw", "GB/s", lambda row: _rate(row.busbw)),
    Column("#wrong", "", _wrong),
    Column("bound", "", lambda row: row.bound or "", "left"),
)


def columns_for(rows: Sequence[Row]) -> tuple[Column, ...]:
    """The columns these rows need: none that is empty everywhere or says everywhere what a heading can say once."""
    needed = []
    for column in COLUMNS:
        said = {column.cell(row) for row in rows}
        if said - {""} and not (column.collapses and len(said) == 1):
            needed.append(column)
    marks = note_marks(rows)
    if marks:
        needed.append(Column("", "", lambda row: " ".join(marks[note] for note in row.notes), "left"))
    return tuple(needed)


def note_marks(rows: Sequence[Row]) -> dict[str, str]:
    """A letter for each different note, in the order of appearance: a ... z, then a27, a28 ..."""
    notes = list(dict.fromkeys(note for row in rows for note in row.notes))
    return {note: ascii_lowercase[i] if i < 26 else f"a{i + 1}" for i, note in enumerate(notes)}
