"""The tables of a log or CSV file of torchcomms: a title, a header, and the rows by its columns."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from commbench.importing.figures import whole
from commbench.importing.foreign import Line

TITLE = re.compile(r"=== (?:(?P<mode>Synchronous|Asynchronous) )?(?P<operation>[A-Z]\w+) Performance ===")
SIZE, RANKS, RATE = "SendMsgSize(B)", "Ranks", "BusBw(GB/s)"
TIMES = ("Avg(us)", "LatAvg(us)")


@dataclass
class Table:
    """The rows of one operation under one header."""

    line: int
    columns: tuple[str, ...]
    operation: str | None
    asynchronous: bool | None
    separated: bool
    body: list[tuple[int, Mapping[str, str] | str]] = field(default_factory=list)


def header_of(text: str) -> tuple[tuple[str, ...], bool] | None:
    """The names of the columns and whether commas separate them."""
    if SIZE not in text or RATE not in text:
        return None
    separated = "," in text
    names = tuple(name.strip() for name in (text.split(",") if separated else text.split()))
    needed = {SIZE, RANKS, RATE} <= set(names) and any(name in names for name in TIMES)
    return (names, separated) if needed else None


def tables(lines: Sequence[Line]) -> Iterator[Table]:
    """The rows of each operation under each header."""
    title: re.Match[str] | None = None
    header: tuple[tuple[str, ...], bool] | None = None
    table: Table | None = None
    for line in lines:
        text = line.text.strip()
        if found := TITLE.search(text):
            title, header = found, None
        elif named := header_of(text):
            if table is not None:
                yield table
            header = named
            operation = title["operation"] if title else None
            asynchronous = None if title is None or title["mode"] is None else title["mode"] == "Asynchronous"
            table = Table(line.number, named[0], operation, asynchronous, named[1])
        elif header is not None and (cells := _cells(text, *header)) is not None:
            operation = cells.get("Collective") if isinstance(cells, dict) else None
            operation = operation or (title["operation"] if title else None)
            if table is not None and operation != table.operation and not isinstance(cells, str):
                if table.body:
                    yield table
                table = replace(table, line=line.number, operation=operation, body=[])
            if table is not None:
                table.body.append((line.number, cells))
    if table is not None:
        yield table


def _cells(text: str, names: tuple[str, ...], separated: bool) -> Mapping[str, str] | str | None:
    """A row by its columns; why it cannot be read; or None for a line that is no row."""
    if separated:
        if "," not in text:
            return None
        try:
            words = [cell.strip() for cell in next(csv.reader([text]), [])]
        except csv.Error:
            return "the line is no CSV"
    else:
        words = text.split()
    place = names.index(SIZE)
    first = words[0] if words else ""
    if not first or not (whole(first) is not None if place == 0 else re.fullmatch(r"[a-z]\w*", first)):
        return None
    if place and (len(words) <= place or whole(words[place]) is None):
        return None
    # what stands behind the columns that are read are names of devices and versions, with blanks in them
    read = (SIZE, RANKS, RATE, *TIMES)
    needed = len(names) if separated else 1 + max(names.index(name) for name in read if name in names)
    if len(words) < needed or (len(words) > needed and needed == len(names)):
        return f"{len(words)} of {len(names)} columns: the row is cut or mixed"
    return dict(zip(names[:needed], words, strict=False))
