"""Which rows of one table belong together: sizes ascend within a series, repeats are cycles, and two programs that
print into one terminal give themselves away because their series overlap.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

_OPEN = 64  # series that may still go on; more programs than that do not share a terminal


@dataclass
class Series:
    """Rows whose sizes ascend.

    Attributes:
        rows: their places in the table, in order.
    """

    kind: int
    rows: list[int] = field(default_factory=list)
    last_size: int = 0


@dataclass(frozen=True)
class Split:
    """The series of a table, in the order of their first rows.

    Attributes:
        overlapping: a series goes on after a later one of the same kind has begun.
    """

    series: tuple[Series, ...]
    overlapping: bool


def split(sizes: Sequence[int], kinds: Sequence[int], step: tuple[str, int] | None) -> Split:
    """Sort rows into series.

    Args:
        sizes, kinds: of every row, in the order of printing.
        step: ("factor", 2) or ("bytes", 1048576) as the banner says, None where there is none.
    """
    step = step or _step(sizes)
    all_series: list[Series] = []
    by_kind: dict[int, list[Series]] = {}  # the most recent last
    overlapping = False
    for place, (size, kind) in enumerate(zip(sizes, kinds, strict=True)):
        open_series = by_kind.setdefault(kind, [])
        current = open_series[-1] if open_series else None
        chosen = _expecting(open_series, size, step)
        if chosen is None and current is not None and size > current.last_size:
            chosen = current
        if chosen is None:
            chosen = Series(kind)
            all_series.append(chosen)
            open_series.append(chosen)
            del open_series[:-_OPEN]
        elif chosen is not current:
            overlapping = True
            open_series.remove(chosen)
            open_series.append(chosen)
        chosen.rows.append(place)
        chosen.last_size = size
    return Split(tuple(all_series), overlapping)


def _expecting(open_series: list[Series], size: int, step: tuple[str, int] | None) -> Series | None:
    if step is None:
        return None
    how, amount = step
    for series in reversed(open_series):
        if series.last_size and size == (series.last_size * amount if how == "factor" else series.last_size + amount):
            return series
    return None


def _step(sizes: Sequence[int]) -> tuple[str, int] | None:
    """The step of the first rising sizes, where they show one."""
    rising = [size for size in sizes[:64] if size]
    for first, second, third in zip(rising, rising[1:], rising[2:], strict=False):
        if first < second < third:
            if second % first == 0 and third == second * (second // first):
                return "factor", second // first
            if third - second == second - first:
                return "bytes", second - first
    if len(rising) > 1 and rising[0] < rising[1] and rising[1] % rising[0] == 0:
        return "factor", rising[1] // rising[0]
    return None
