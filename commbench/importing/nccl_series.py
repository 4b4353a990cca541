"""Which rows of one table belong together: sizes ascend within a series, repeats are cycles, and two programs that
print into one terminal give themselves away because their series overlap.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

_OPEN = 64  # series that may still go on; more programs than that do not share a terminal


@dataclass(eq=False)
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
        ambiguous: a row could go on more than one of them.
    """

    series: tuple[Series, ...]
    overlapping: bool
    ambiguous: bool


def split(sizes: Sequence[int], kinds: Sequence[int], step: tuple[str, int] | None) -> Split:
    """Sort rows into series.

    Args:
        sizes, kinds: of every row, in the order of printing.
        step: ("factor", 2) or ("bytes", 1048576) as the banner says, None where there is none.
    """
    steps = [found for found in (step, _step(sizes)) if found is not None]
    all_series: list[Series] = []
    by_kind: dict[int, list[Series]] = {}
    latest: dict[int, Series] = {}
    overlapping = ambiguous = False
    for place, (size, kind) in enumerate(zip(sizes, kinds, strict=True)):
        open_series = by_kind.setdefault(kind, [])
        current = latest.get(kind)
        expecting = _expecting(open_series, size, steps)
        chosen = expecting[0] if expecting else None
        ambiguous = ambiguous or len(expecting) > 1
        if chosen is None and current is not None and size > current.last_size:
            chosen = current
        if chosen is None:
            chosen = Series(kind)
            all_series.append(chosen)
            open_series.append(chosen)
            del open_series[:-_OPEN]
        elif chosen is not current:
            overlapping = True
        if chosen in open_series[:-1]:  # the one that waited longest stands first
            open_series.remove(chosen)
            open_series.append(chosen)
        latest[kind] = chosen
        chosen.rows.append(place)
        chosen.last_size = size
    return Split(tuple(all_series), overlapping, ambiguous)


def _expecting(open_series: list[Series], size: int, steps: Sequence[tuple[str, int]]) -> list[Series]:
    """The series that this size goes on, the one that has waited longest first."""
    return [
        series
        for series in open_series
        if series.last_size
        and any(size == (series.last_size * by if how == "factor" else series.last_size + by) for how, by in steps)
    ]


def _step(sizes: Sequence[int]) -> tuple[str, int] | None:
    """The step of the sizes, where nearly all of them follow one."""
    distinct = sorted({size for size in sizes[:512] if size})
    pairs = list(pairwise(distinct))
    factors = Counter(second // first for first, second in pairs if second % first == 0)
    amounts = Counter(second - first for first, second in pairs)
    for how, found in (("factor", factors), ("bytes", amounts)):
        if found:
            by, times = found.most_common(1)[0]
            if times * 4 >= len(pairs) * 3:
                return how, by
    return None
