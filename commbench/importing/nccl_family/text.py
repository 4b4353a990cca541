"""Read text of nccl-tests, rccl-tests, mscclpp-test and their forks, of every generation, row by row.

Each stream (launcher prefix) is read on its own; rows are put together again where a library printed into them.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from commbench.importing.foreign import NOTHING_STATED, Line, Reading, Row, Run, Stated
from commbench.importing.nccl_family.layout import from_header, is_header
from commbench.importing.nccl_family.row_parsing import is_whole_row
from commbench.importing.nccl_family.runs import reading_of
from commbench.importing.nccl_family.stream import Stream
from commbench.importing.nccl_family.table import Table

NAME = "nccl-tests"


class TableReader:
    """Takes the lines of a log as they come; the streams of a launcher may be mixed line by line."""

    def __init__(self, stated: Stated = NOTHING_STATED) -> None:
        self._stated = stated
        self._streams = {"": Stream("")}

    def take(self, line: Line) -> None:
        """Read one line."""
        stream = self._streams.get(line.stream)
        if stream is None:
            stream = self._streams[line.stream] = Stream(line.stream, self._streams[""])
        stream.take(line.number, line.text)

    def feed(self, line: Line) -> tuple[Row, ...]:
        """Read one line. Returns the rows that it completed, one a placement; nothing is tested yet."""
        before = self._streams.get(line.stream)
        table, have = (before.table, len(before.table.rows)) if before else (None, 0)
        self.take(line)
        self._streams[line.stream].settle()
        now = self._streams[line.stream].table
        new = tuple(table.rows[have:]) if table is not None else tuple(now.rows)
        return new if now is table or table is None else (*new, *now.rows)

    def tables(self) -> list[Table]:
        """All tables of all streams, after the last line."""
        for stream in self._streams.values():
            stream.flush()
        tables = [table for stream in self._streams.values() for table in stream.tables]
        started = Counter(id(table.banner.command) for table in tables if table.rows)
        for table in tables:  # ranks that each print a table of their own do not say how many met in one
            command = table.banner.command
            if command is not None and started[id(command)] > 1:
                table.banner.command = command._replace(ranks=None)
        return tables

    def finish(self) -> Reading:
        """Everything that was read, tested: the log has ended."""
        return reading_of(self.tables(), self._stated)


def recognises(lines: Sequence[Line]) -> bool:
    """Whether a header, banner, footer or row of the family stands anywhere."""
    return any(_of_family(line.text) for line in lines)


def _of_family(text: str) -> bool:
    start = text.lstrip(" #")
    if not start:
        return False
    if start[0].isdigit():
        return is_whole_row(start)
    if "algbw" in text:
        return is_header(text) and from_header(text, "") is not None
    return (
        ("nThread" in text and "minBytes" in text)
        or "Collective test starting" in text
        or ("Avg bus bandwidth" in text and "Avg bus bandwidth:" not in text)
        or "Out of bounds values" in text
        or "nccl-tests version" in text
        or "nGpus(perProc)" in text
    )  # fmt: skip


def read(lines: Iterable[Line], stated: Stated) -> Reading:
    """All runs of a log."""
    reader = TableReader(stated)
    for line in lines:
        reader.take(line)
    return reader.finish()


def runs_of(text: str, stated: Stated = NOTHING_STATED) -> tuple[Run, ...]:
    """The runs of a piece of text without launcher prefixes."""
    return read([Line(number, line) for number, line in enumerate(text.splitlines(), 1)], stated).runs
