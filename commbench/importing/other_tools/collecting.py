"""The rows of one run while its table is read, and what is said of each line that does not become a row."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from commbench.importing.figures import LARGEST
from commbench.importing.foreign import Reading, Reject, Row, Run, Skipped
from commbench.sweepfile.records import Placement

_LONGEST = 1e9  # of a time (s) in a sweep file

NO_WORLD = (
    "the printed size is one rank's block, and the whole message is that times the ranks, whose number the log does"
    " not tell: state --world-size"
)

MIXED = "sizes repeat or fall inside the table: two tables are printed into each other, and which row is whose is lost"


class Collector:
    """Rows, points left out and rejects of one run.

    Args:
        world_size: ranks, None if not known.
        block: the printed size is the block of one rank, so that the message is `world_size` times as much.
    """

    def __init__(self, world_size: int | None = None, block: bool = False) -> None:
        self.world_size, self.block = world_size, block
        self.rows: list[Row] = []
        self.left_out: list[Skipped] = []
        self.rejects: list[Reject] = []
        self._seen: Counter[tuple[object, ...]] = Counter()

    def row(
        self,
        line: int,
        printed_bytes: int,
        seconds: float,
        *,
        dtype: str | None = None,
        op: str | None = None,
        placement: Placement | None = None,
        moves: bool = True,
        **fields: Any,
    ) -> None:
        """Take a printed point. `moves` is False for a barrier, whose size of 0 means nothing."""
        message = self.whole(printed_bytes)
        if message is None:
            self.reject(line, NO_WORLD)
        elif message == 0 and moves:
            self.leave_out(line, 0, "a size of 0 moves nothing: it is the cost of the call")
        elif not 0 < seconds <= _LONGEST or message > LARGEST:
            self.leave_out(line, message, "the printed time is 0 or the size beyond any memory")
        else:
            key = (message, dtype, op, placement)
            self.rows.append(
                Row(
                    line=line,
                    message_bytes=message,
                    seconds=seconds,
                    dtype=dtype,
                    op=op,
                    placement=placement,
                    cycle=self._seen[key],
                    **fields,
                )
            )
            self._seen[key] += 1

    def drop(self, line: int) -> None:
        """Take back the row of a line that turns out to be cut."""
        self.rows = [row for row in self.rows if row.line != line]

    def unmix(self) -> None:
        """Refuse all rows where the sizes show that two tables were printed into each other.

        Sizes of one table grow, or start again from the first; where one repeats or falls otherwise, nothing tells
        which row is whose.
        """
        last: dict[tuple[str | None, str | None], int] = {}
        first: dict[tuple[str | None, str | None], int] = {}
        for row in self.rows:
            kind = (row.dtype, row.op)
            if row.message_bytes <= last.get(kind, -1) and row.message_bytes != first[kind]:
                for mixed in self.rows:
                    self.reject(mixed.line, MIXED)
                self.rows = []
                return
            first.setdefault(kind, row.message_bytes)
            last[kind] = row.message_bytes

    def whole(self, printed_bytes: int) -> int | None:
        """The whole message in bytes, None where that needs a number of ranks that is not known."""
        if not self.block:
            return printed_bytes
        return None if self.world_size is None else printed_bytes * self.world_size

    def leave_out(self, line: int, message_bytes: int, reason: str) -> None:
        """A point that the tool names and that is no measurement."""
        self.left_out.append(Skipped(line, min(message_bytes, LARGEST), reason))

    def reject(self, line: int, reason: str, matters: bool = True) -> None:
        """A line that looks like data and cannot be read."""
        self.rejects.append(Reject(line, reason, matters))

    @property
    def lines(self) -> tuple[int, int]:
        """First and last line of the rows and of what was left out."""
        numbers = [row.line for row in self.rows] + [point.line for point in self.left_out]
        return (min(numbers), max(numbers)) if numbers else (0, 0)


def gathered(tables: Iterable[tuple[Run | None, list[Reject]]]) -> Reading:
    """The runs and rejects of several tables as one reading, the rejects in the order of their lines."""
    runs: list[Run] = []
    rejects: list[Reject] = []
    for run, refused in tables:
        rejects += refused
        if run is not None:
            runs.append(run)
    return Reading(tuple(runs), tuple(sorted(rejects, key=lambda reject: reject.line or 0)))
