"""The table of torch-dist-bench.py with all collectives side by side.

The header is `| payload | all_reduce busbw | all_reduce median | all_gather busbw | ...`. It is read as one table for
each collective. An empty cell is a payload that this collective did not measure.
"""

from collections.abc import Sequence

from commbench.importing.foreign import Line
from commbench.importing.other_tools.stas00_rows import LATENCY, cells

COLUMNS = ("payload", "busbw", "algbw", LATENCY)  # of each of them; algbw is not printed


def collectives_of(columns: Sequence[str]) -> tuple[str, ...] | None:
    """The names of the collectives side by side; None for any other header."""
    names = tuple(column.removesuffix(" busbw") for column in columns[1::2])
    wanted = [f"{name} {figure}" for name in names for figure in ("busbw", "median")]
    return names if names and list(columns) == ["payload", *wanted] else None


def apart(lines: Sequence[Line], collectives: int) -> tuple[list[list[Line]], list[Line]]:
    """The rows of each collective under COLUMNS, and the lines that have other columns than the header."""
    bodies: list[list[Line]] = [[] for _ in range(collectives)]
    odd = []
    for line in lines:
        payload, *figures = cells(line.text)
        if len(figures) != 2 * collectives:
            odd.append(line)
            continue
        for body, busbw, median in zip(bodies, figures[::2], figures[1::2], strict=True):
            if busbw or median:
                rate = f"{busbw}GBps" if busbw else ""
                body.append(line._replace(text=f"| {payload} | {rate} | | {median} |"))
    return bodies, odd
