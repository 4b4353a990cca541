"""What a reader of somebody else's log hands back, before it becomes a sweep.

A reader is a module with

    NAME: str                                                 the tool, as in the table of docs/importing.md
    recognises(lines: Sequence[Line]) -> bool                 by content, never by the file's name
    read(lines: Sequence[Line], stated: Stated) -> Reading    all runs of that tool, and what it could not read

and is listed in `detecting.READERS`. Readers print nothing and raise nothing: whatever bytes they get, they return a
`Reading`. Sizes and times are converted here and once: `message_bytes` is the whole, unsharded buffer of one rank,
`seconds` the time of one call. What the tool printed stays in `Row.reported` under the tool's own column names.

Reading while a program still runs (the nccl-tests runner):

    from commbench.importing.nccl_family.text import TableReader
    table = TableReader(stated)
    rows = table.feed(Line(number, text))     # the rows that this line completed, placement by placement
    reading = table.finish()                  # the whole Reading; footer, world size and tests are known only now

`lines.normalised(text)` makes the (stream, text) of a raw line. A JSON file of nccl-tests, whole or cut:

    from commbench.importing.nccl_family.json_schemas import read_document
    reading = read_document(text, stated)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from commbench.sweepfile.records import Mode, Placement


class Line(NamedTuple):
    """A line of a log without the wrapping that launchers and terminals put around it.

    Attributes:
        number: 1-based in the file.
        text: without prefixes, colours, carriage returns and byte-order mark.
        stream: which rank or process wrote it, as its prefix says; "" without a prefix.
    """

    number: int
    text: str
    stream: str = ""


# A struct and not a dataclass: a log of 10 MB holds 200 000 of them, and they are part of no cycle.
class Row(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One printed time.

    Attributes:
        line: where it stands.
        message_bytes: the whole, unsharded buffer of one rank.
        seconds: of one call.
        statistic: what the value is ("mean over ranks", ...).
        correct, wrong: None when nobody checked.
        reported: what the tool printed, by its own column names and in its own units.
        cycle: counts the repeats of a key (size, dtype, operator, root, placement).
    """

    line: int
    message_bytes: int
    seconds: float
    placement: Placement | None = None
    dtype: str | None = None
    op: str | None = None
    root: int | None = None
    correct: bool | None = None
    wrong: int | None = None
    statistic: str = ""
    reported: Mapping[str, Any] = {}
    notes: tuple[str, ...] = ()
    cycle: int = 0


class Skipped(NamedTuple):
    """A data line that is read and still no measurement, such as a row of size 0."""

    line: int
    message_bytes: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run of a foreign program; becomes one sweep.

    Attributes:
        variant: the format, as the table of docs/importing.md names it ("nccl-tests C3").
        collective: None where the log does not prove one; then `candidates` are those that it allows.
        collective_basis, world_size_basis: how they are known: "header", "named", "columns", "device list", "log
            line", "count", "factor", "stated by the user" ..., joined by " + "; None where they are not.
        world_size: ranks of one collective; None where the log does not prove one.
        world_size_range: the ranks that the printed figures allow, where they allow several.
        groups: global ranks of each group when disjoint groups ran at once.
        lines: first and last line of its rows.
        complete: whether the tool's own end stands below the rows; None where the tool prints none.
        footer: what stands below the table, such as {"average": 57.1, "average_is_of_these_rows": True}.
        environment: of the log, already reduced to what may leave it.
    """

    tool: str
    variant: str
    version: str | None = None
    collective: str | None = None
    candidates: tuple[str, ...] = ()
    collective_basis: str | None = None
    world_size: int | None = None
    world_size_basis: str | None = None
    world_size_range: tuple[int, int] | None = None
    ranks_per_host: tuple[int, ...] | None = None
    groups: tuple[tuple[int, ...], ...] | None = None
    mode: Mode | None = None
    backend: str | None = None
    device: str | None = None
    rows: Sequence[Row] = ()
    left_out: tuple[Skipped, ...] = ()
    lines: tuple[int, int] = (0, 0)
    complete: bool | None = None
    reason: str | None = None
    footer: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)
    transport: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    started_at: str | None = None
    finished_at: str | None = None


class Reject(NamedTuple):
    """What looked like data and could not be read.

    Attributes:
        line: None where it concerns the whole file.
        matters: without it the result may mislead (cut, mixed): exit code 3.
    """

    line: int | None
    reason: str
    matters: bool = True


@dataclass(frozen=True)
class Reading:
    """All that one reader made of a file.

    Attributes:
        by_line: False where rows are numbered by their place in a document and not by the lines of the file.
    """

    runs: tuple[Run, ...] = ()
    rejects: tuple[Reject, ...] = ()
    warnings: tuple[str, ...] = ()
    by_line: bool = True


class Stated(NamedTuple):
    """What the user says about a log; None where the user says nothing."""

    world_size: int | None = None
    collective: str | None = None
    label: str | None = None


NOTHING_STATED = Stated()
