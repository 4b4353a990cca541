"""Tables that lost their header: where a run begins that nothing announces, and the row that the log's head cuts.

Who keeps only the rows of a log (`grep -v '#'`) glues runs together. Rows of one program have an operator or none, a
root or none, one ratio of size to count and one bus factor; where these change, another program wrote on.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from commbench.importing.foreign import Reject
from commbench.importing.nccl_family.banner import Banner
from commbench.importing.nccl_family.checks import algbw_mismatches
from commbench.importing.nccl_family.kinds import Kind
from commbench.importing.nccl_family.proof import row_factors
from commbench.importing.nccl_family.rows import RowTable
from commbench.importing.nccl_family.table import Table

_FEWEST = 2  # printed rows of a run; fewer may be a damaged line
_MOST = 64  # runs in one table; more are programs that write into each other
HEADLESS = "no header stands between these rows and those of another run above; told apart by what both print"


def pieces(table: Table) -> list[Table]:
    """A table as it is, or each run that its rows show with what stands around it: the header belongs to the first,
    the footer to the last."""
    starts = _starts(table.rows)
    if not starts or table.layout is None or "cputime" in table.layout.columns or table.banner.copies > 1:
        return [table]
    ends = [*starts, len(table.rows)]
    found = []
    for place, (start, end) in enumerate(zip([0, *starts], ends, strict=True)):
        rows = _renumbered(table.rows, range(start, end))
        first, last = place == 0, end == len(table.rows)
        found.append(
            replace(
                table,
                rows=rows,
                banner=_share(table.banner, first=first, last=last),
                first=rows.lines[0],
                last=rows.lines[len(rows) - 1],
                left_out=[skipped for skipped in table.left_out if _within(skipped.line, rows, first, last)],
                rejects=[reject for reject in table.rejects if _within(reject.line or 0, rows, first, last)],
                orphans=list(table.orphans) if last else [],
                cut=table.cut if last else None,
            )
        )
    return found


def cut_head(table: Table) -> Reject | None:
    """Take the first row away where the log begins inside its size, and say so."""
    rows, layout = table.rows, table.layout
    if not rows or layout is None or not layout.inferred or "cputime" in layout.columns or len(set(rows.lines)) < 2:
        return None
    behind = next(place for place, line in enumerate(rows.lines) if line != rows.lines[0])
    ratios, wrong = _ratios(rows), algbw_mismatches(rows)
    others = set(ratios[behind:])
    other_ratio = len(others) == 1 and None not in {ratios[0], *others} and ratios[0] not in others
    if not other_ratio and not (wrong[:behind].any() and not wrong[behind:].any()):
        return None
    row = rows[0]
    table.rows = _renumbered(rows, range(behind, len(rows)))
    table.first = table.rows.lines[0]
    return Reject(row.line, f"the log begins inside this row: {row.message_bytes} B do not fit its other figures")


def _starts(rows: RowTable) -> list[int]:
    """The places at which another program's rows begin."""
    if len(rows) < 2 * _FEWEST:
        return []
    shapes = [_shape(kind) for kind in rows.kinds]
    lines, sizes, kinds = rows.lines, rows.sizes, rows.kind_numbers
    changes, falls = [], []
    for place in range(1, len(rows)):
        if lines[place] == lines[place - 1]:
            continue
        if shapes[kinds[place]] != shapes[kinds[place - 1]]:
            changes.append(place)
        elif sizes[place] <= sizes[place - 1]:
            falls.append(place)
    if len(changes) > _MOST:
        return []
    starts = sorted({*changes, *_by_factor(rows, sorted([*changes, *falls]))})
    parts = zip([0, *starts], [*starts, len(rows)], strict=True)
    if any(len(set(lines[start:end])) < _FEWEST for start, end in parts):
        return []
    return starts


def _shape(kind: Kind) -> tuple[bool, bool]:
    return kind.our_op is not None, kind.root is not None and kind.root >= 0


def _by_factor(rows: RowTable, begins: Sequence[int]) -> list[int]:
    """Those of the places where sizes begin anew, behind which the bus factor or size over count is another."""
    if not begins:
        return []
    low, high = row_factors(rows, every=True)
    at = np.array([0, *begins])
    lows, highs = np.maximum.reduceat(low, at), np.minimum.reduceat(high, at)
    ratios = _ratios(rows)
    ends = [*begins, len(rows)]
    starts = []
    least, most, ratio = lows[0], highs[0], set(ratios[: ends[0]])
    for number, place in enumerate(begins, 1):
        here = set(ratios[place : ends[number]])
        other = len(here) == len(ratio) == 1 and None not in here | ratio and here != ratio
        apart = lows[number] <= highs[number] and least <= most and (lows[number] > most or highs[number] < least)
        if other or apart:
            starts.append(place)
            least, most, ratio = lows[number], highs[number], here
        elif lows[number] <= highs[number]:
            least, most = max(least, lows[number]), min(most, highs[number])
    return starts if len(starts) <= _MOST else []


def _ratios(rows: RowTable) -> list[tuple[int, int] | None]:
    """Of each row size over the bytes of `count` elements, and what is left over; None where that is not known."""
    widths = [kind.element_bytes for kind in rows.kinds]
    return [
        divmod(size, count * width) if (width := widths[kind]) and count > 0 else None
        for size, count, kind in zip(rows.sizes, rows.counts, rows.kind_numbers, strict=True)
    ]


def _renumbered(rows: RowTable, places: range) -> RowTable:
    seen: dict[tuple[int, int, int], int] = {}
    cycles = []
    sizes, kinds, placements = rows.sizes, rows.kind_numbers, rows.placements
    for place in places:
        key = (sizes[place], kinds[place], placements[place])
        cycles.append(seen.get(key, 0))
        seen[key] = cycles[-1] + 1
    return rows.chosen(places, cycles)


def _within(line: int, rows: RowTable, first: bool, last: bool) -> bool:
    return (first or line >= rows.lines[0]) and (last or line <= rows.lines[len(rows) - 1])


def _share(banner: Banner, *, first: bool, last: bool) -> Banner:
    """What of the lines around a table belongs to one of its runs."""
    mine = banner if first else Banner(tool=banner.tool, ranks=banner.ranks)
    mine = replace(mine, notes=[*mine.notes, *(() if first else (HEADLESS,))])
    if not last:
        return replace(mine, averages=[], out_of_bounds=[], failures=[], concluded=False, named_below=None)
    return replace(
        mine, averages=banner.averages, out_of_bounds=banner.out_of_bounds, failures=banner.failures,
        concluded=banner.concluded, named_below=banner.named_below, ended=banner.ended,
    )  # fmt: skip
