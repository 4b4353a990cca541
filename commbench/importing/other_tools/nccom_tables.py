"""The tables that nccom-test prints, and its JSON report as a table of the same form."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from commbench.importing.foreign import Line

HEADER = re.compile(r"\bsize\(B\)\s+count\(elems\)\s.*\btime\S*\(us\)")
COMMAND = re.compile(r"\bnccom-test\s+(?P<words>-?\w.*)$")
_FOOTER = re.compile(r"Avg bus bandwidth:\s*(?P<average>[\d.eE+-]+) ?GB/s")
_ERRORS = re.compile(r"(\d+) errors? found")


@dataclass
class Table:
    """One table and what stands around it."""

    line: int
    columns: tuple[str, ...]
    command: str | None = None
    body: list[Line] = field(default_factory=list)
    average: str | None = None


def tables(lines: Sequence[Line]) -> Iterator[Table]:
    """Each header with the lines under it and the command above it."""
    table: Table | None = None
    command: str | None = None
    for line in lines:
        text = line.text.strip()
        if header := HEADER.search(text):
            if table is not None:
                yield table
            table, command = Table(line.number, tuple(text[header.start() :].split()), command), None
        elif started := COMMAND.search(text):
            command = started["words"]
        elif table is None:
            continue
        elif footer := _FOOTER.search(text):
            table.average = footer["average"]
        elif text[:1].isdigit() and not _ERRORS.match(text) and table.average is None:
            table.body.append(line)
    if table is not None:
        yield table


def results(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """The results of a JSON report, [] where the file is none."""
    document = getattr(lines, "text", "")
    if "count(elems)" not in document:
        return []
    try:
        report = msgspec.json.decode(document)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return []
    found = report.get("results") if isinstance(report, dict) else None
    return [one for one in found if isinstance(one, dict) and "size(B)" in one] if isinstance(found, list) else []


def report(lines: Sequence[Line]) -> Iterator[Table]:
    """A report as a table with the lines of its sizes."""
    numbers = (line.number for line in lines if '"size(B)"' in line.text)
    table: Table | None = None
    for result in results(lines):
        columns = tuple(result)
        if table is None or columns != table.columns:
            if table is not None:
                yield table
            table = Table(1, columns)
        cells = [f"{cell:.9g}" if isinstance(cell, float) else str(cell).replace(" ", "_") for cell in result.values()]
        table.body.append(Line(next(numbers, 1), " ".join(cells)))
    if table is not None:
        yield table
