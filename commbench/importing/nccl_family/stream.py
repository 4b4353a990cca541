"""The tables that one writer printed, line by line: where each begins, its rows, and rows that came in pieces.

A table begins at a banner, at a header, at a footer's end or at the bare name of a test.
"""

import numpy as np

from commbench.importing.foreign import Reject, Skipped
from commbench.importing.nccl_family.banner import bare_name, begins_run, read_line
from commbench.importing.nccl_family.command_lines import Command, command_in
from commbench.importing.nccl_family.fast_rows import FastRows, Tokens, fast_rows_of
from commbench.importing.nccl_family.intruders import without_intruder
from commbench.importing.nccl_family.layout import Layout, from_header, from_row, is_header
from commbench.importing.nccl_family.row_parsing import (
    Pending,
    begun,
    figures_of,
    groups_of,
    is_consistent,
    is_figure,
    is_full,
    is_whole_row,
    starts_row,
    take,
)
from commbench.importing.nccl_family.table import Table

_AT_ONCE = 1000  # rows that are read together


class Stream:
    """The tables of one stream."""

    def __init__(self, name: str, shell: "Stream | None" = None) -> None:
        self.name = name
        self.tables = [Table(stream=name)]
        self.shell = shell  # whose lines no launcher tagged
        self.said: Command | None = None  # the latest command line
        self._taken: Command | None = None  # and that of a table
        self.pending: Pending | None = None
        self.above = ""
        self.foreign = False
        self.banned = False
        self._fast: FastRows | None = None
        self._fast_layout: Layout | None = None
        self._waiting: list[tuple[int, Tokens]] = []

    @property
    def table(self) -> Table:
        return self.tables[-1]

    def new_table(self) -> None:
        self.flush()
        self.tables.append(Table(stream=self.name))
        self.above = ""

    def take(self, number: int, text: str) -> None:
        start = text.lstrip()
        if not start:
            return
        if start[0].isdigit() and (not self.foreign or self.pending or (not self.banned and is_whole_row(start))):
            if self._queue(number, text):
                return
            self.settle()
            if self._row(number, text):
                return
        elif self.pending is not None and start[:3] == "N/A":
            self._continue(number, text.split())
            return
        if start == "#" and self.pending is None:
            return  # frames of the tool's own text, a third of the lines around a table
        self.settle()
        self._other(number, text)

    # ---- rows

    def _queue(self, number: int, text: str) -> bool:
        """Keep a whole plain row below its header until it is read with its neighbours. Returns False for a line that
        needs care."""
        table = self.tables[-1]
        layout = table.layout
        if layout is None or self.pending is not None or table.banner.averages or table.banner.out_of_bounds:
            return False
        if layout is not self._fast_layout:
            self._fast_layout, self._fast = layout, fast_rows_of(layout)
        tokens = self._fast.tokens(text) if self._fast is not None else None
        if tokens is None:
            return False
        self._waiting.append((number, tokens))
        if len(self._waiting) == _AT_ONCE:
            self.settle()
        return True

    def settle(self) -> None:
        """Read the rows that wait for their neighbours."""
        if not self._waiting:
            return
        assert self._fast is not None
        assert self._fast_layout is not None
        numbers, tokens = zip(*self._waiting, strict=True)
        self._waiting.clear()
        table, block = self.table, self._fast.block(tokens)
        kinds = [table.rows.kind_number(kind) for kind in block.kinds]
        cycles = []
        for key in zip(block.sizes, kinds, strict=True):
            cycle = table.seen.get(key, 0)
            table.seen[key] = cycle + 1
            cycles.append(cycle)
        whole = np.empty((len(numbers), 2, 6), dtype=np.int64)
        for place, column in enumerate((numbers, block.sizes, block.counts, None, cycles, kinds)):
            whole[:, :, place] = block.wrong if column is None else np.array(column)[:, None]
        table.rows.add_pairs(whole, block.figures, self._fast_layout.placements)
        table.first, table.last = table.first or numbers[0], numbers[-1]

    def _row(self, number: int, text: str) -> bool:
        if ":" in text or "NCCL" in text or "#" in text:
            mine, intruder = without_intruder(text)
            if intruder:
                if not mine.strip():
                    return False
                text = mine
                read_line(self.table.banner, number, intruder)
        tokens = text.split()
        if starts_row(tokens, self.table.layout):
            self._start(number, text, tokens)
            return True
        if not all(map(is_figure, tokens)):
            return self._odd(number, text, tokens)
        if self.pending is not None:
            self._continue(number, tokens)
            return True
        table = self.table
        if not (table.headed or table.began) or table.banner.footed:
            return False
        if len(tokens) <= 2 and all(token.isdigit() for token in tokens) and table.layout is not None:
            self.pending = begun(number, text, tokens, table.layout)
            return True
        table.orphans.append(Reject(number, f"{len(tokens)} figures that belong to no row: {_excerpt(text)}"))
        return True

    def _odd(self, number: int, text: str, tokens: list[str]) -> bool:
        """A line that begins with a number and is neither a row nor figures alone."""
        table = self.table
        in_table = (table.headed or table.began) and not table.banner.footed
        if self.pending is not None and is_figure(tokens[0]) and not tokens[0].isdigit():
            figures = [token for token in tokens if is_figure(token)]
            if table.layout is not None and table.layout.tail_tokens:
                figures = tokens
            self._continue(number, figures)
            return True
        if not in_table or not tokens[0].isdigit() or len(tokens) < 2 or not tokens[1][0].isdigit():
            return False
        self.flush()
        table.rejects.append(Reject(number, f"a row that cannot be read: {_excerpt(text)}"))
        return True

    def _start(self, number: int, text: str, tokens: list[str]) -> None:
        self.flush()
        table = self.table
        if table.banner.footed and table.banner.copies < 2:
            self.new_table()
            table = self.table
        layout = table.layout
        if layout is None:
            layout = from_row(tokens[3:])
            if layout is not None:
                table.layout = layout
        row = begun(number, text, tokens, layout)
        if row is None:
            table.rejects.append(Reject(number, f"a size or count that no buffer has: {_excerpt(text)}"))
            return
        self.pending = row
        if row.excess is not None and layout is not None and is_full(row, layout) and is_consistent(row, layout):
            table.banner.unnamed.append(row.excess)
            self._finish_row(row, layout)
        elif row.excess is not None and all(map(is_figure, tokens[-2:])):  # figures go on behind it: no library's line
            self._refuse(row, _misfit(row.excess))
        elif layout is not None and is_full(row, layout):
            self._finish_row(row, layout)

    def _continue(self, number: int, tokens: list[str]) -> None:
        row, layout = self.pending, self.table.layout
        assert row is not None
        room = layout.groups * layout.width + layout.tail_tokens if layout else 8
        if len(row.figures) + len(row.tail) + len(tokens) > room:
            self.table.orphans.append(
                Reject(
                    number, f"{len(tokens)} figures that do not fit the row of line {row.line}: {' '.join(tokens)[:60]}"
                )
            )
            return
        row.excess = None
        take(row, tokens, layout)
        if layout is not None and is_full(row, layout):
            self._finish_row(row, layout)

    def _refuse(self, row: Pending, why: str) -> None:
        self.pending = None
        self.table.rejects.append(Reject(row.line, f"the row of {row.size} B: {why}"))

    def flush(self) -> None:
        """End the row in progress, if any: what is complete of it stays, the rest is refused."""
        self.settle()
        row, self.pending = self.pending, None
        if row is None:
            return
        table, layout = self.table, self.table.layout
        if layout is None or len(row.figures) < layout.width:
            words = f"is cut after {len(row.figures)} figures" if row.figures else "is cut before its first figure"
            words = _misfit(row.excess) if row.excess is not None else words
            table.rejects.append(Reject(row.line, f"the row of {row.size} B: {words}"))
            table.cut = row.line
            return
        self._finish_row(row, layout)

    def _finish_row(self, row: Pending, layout: Layout) -> None:
        self.pending = None
        table = self.table
        table.first, table.last = table.first or row.line, row.line
        groups, rest = groups_of(row, layout)
        if rest:
            table.rejects.append(Reject(row.line, f"{rest} figures of the other placement of {row.size} B, cut"))
            table.cut = row.line
        elif len(groups) < layout.groups and row.gap < 24 and not _prints_one_side(table, layout):
            table.cut = row.line
            table.rejects.append(Reject(row.line, f"the row of {row.size} B has one placement only: cut"))
        if row.size == 0:
            table.left_out.append(Skipped(row.line, 0, "a row of size 0: nothing was sent"))
            table.zero_busbw += len(groups)
            return
        number = table.rows.kind_number(row.kind)
        cycle = table.seen.get((row.size, number), 0)
        table.seen[row.size, number] = cycle + 1
        for placement, group in groups:
            figures = figures_of(group, layout, row)
            if isinstance(figures, str):
                which = {"out": "out of place", "in": "in place", None: "row"}[placement]
                table.left_out.append(Skipped(row.line, row.size, f"{which}: {figures}"))
            else:
                table.rows.add(row.line, row.size, row.count, number, cycle, placement, figures)

    # ---- everything else

    def say(self, command: Command) -> None:
        """A line that names a program: above a table it is that table's, below one it may start the next."""
        table = self.table
        above = not (table.began or self.pending or table.banner.footed)
        if above or command.starts:
            self.said = command
        if above:
            table.banner.command = self._taken = command

    def _command(self) -> Command | None:
        """The command line that stands above the table that begins, one of the shell's where the stream has none."""
        for said in (self.said, self.shell.said if self.shell else None):
            if said is not None and said is not self._taken:
                self._taken = said
                return said
        return None

    def _other(self, number: int, text: str) -> None:
        table = self.table
        if "ubx_bench" in text:
            self.flush()
            self.foreign = self.banned = True
        elif self.banned and not begins_run(text):
            return
        elif is_header(text):
            self._header(text)
        elif "algbw(" in text.lower():
            self.flush()
            self.foreign = True
        elif "(elements)" in text and "(B)" in text:
            table.headed = True
            if table.layout and "(ms)" in text and not table.layout.milliseconds:
                table.layout = from_header(self.above, "") or table.layout
        elif begins_run(text):
            self._begins(text)
            read_line(self.table.banner, number, text)
        elif bare_name(text) and (table.began or table.headed):
            self.new_table()
            self.table.banner.notes.append(f"named by the line {text.strip()!r}")
        else:
            failed = len(table.banner.failures)
            if read_line(table.banner, number, text) and len(table.banner.failures) > failed and self.pending:
                self._refuse(self.pending, "the program failed while it ran")
            if command := command_in(text):
                self.say(command)
            if "out-of-place" in text or "in-place" in text:
                self.above = text
            if "mscclpp" in text.lower():
                table.banner.tool = "mscclpp-test"
            if table.banner.footed:
                self.flush()

    def _begins(self, text: str) -> None:
        table = self.table
        banner = table.banner
        self.foreign = self.banned = False
        if table.began or self.pending or banner.footed or banner.failures:
            if banner.copies > 1 and not banner.failures and not banner.concluded and "nThread" in text:
                banner.copies -= 1  # a copy that started late
                return
            self.new_table()

    def _header(self, text: str) -> None:
        table = self.table
        self.foreign = False
        layout = from_header(text, self.above)
        if layout is None:
            self.foreign = True
            return
        if table.began or self.pending or table.banner.footed:
            if table.banner.copies > 1 and not table.banner.concluded:
                return
            self.new_table()
            table = self.table
        table.layout, table.headed = layout, True
        table.banner.command = table.banner.command or self._command()


def _prints_one_side(table: Table, layout: Layout) -> bool:
    """Whether a row with its first half only may be whole: mscclpp-test leaves the second blank in every row."""
    if layout.placements[:1] != ("in",):
        return False
    return len(table.rows) == 0 or table.rows[len(table.rows) - 1].placement == "in"


def _misfit(words: str) -> str:
    comma = "; a decimal comma is not guessed" if "," in words else ""
    return f"{words!r} stands where a figure is expected{comma}"


def _excerpt(text: str) -> str:
    return repr(" ".join(text.split())[:60])
