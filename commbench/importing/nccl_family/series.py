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
        following: the sizes that would go on it.
    """

    kind: int
    rows: list[int] = field(default_factory=list)
    last_size: int = 0
    following: tuple[int, ...] = ()


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
    if kinds and all(one < another for one, another in pairwise(sizes)) and len(set(kinds)) == 1:
        return Split((Series(kinds[0], list(range(len(sizes))), sizes[-1]),), False, False)
    steps = [found for found in (step, _step(sizes)) if found is not None]
    all_series: list[Series] = []
    by_kind: dict[int, _Open] = {}
    latest: dict[int, Series] = {}
    overlapping = ambiguous = False
    for place, (size, kind) in enumerate(zip(sizes, kinds, strict=True)):
        still_open = by_kind.get(kind)
        if still_open is None:
            still_open = by_kind[kind] = _Open(steps)
        current = latest.get(kind)
        expecting = still_open.expecting(size)
        chosen = expecting[0] if expecting else None
        ambiguous = ambiguous or len(expecting) > 1
        if chosen is None and current is not None and size > current.last_size:
            chosen = current
        if chosen is None:
            chosen = Series(kind)
            all_series.append(chosen)
        elif chosen is not current:
            overlapping = True
        latest[kind] = chosen
        chosen.rows.append(place)
        chosen.last_size = size
        still_open.keep(chosen)
    return Split(tuple(all_series), overlapping, ambiguous)


class _Open:
    """The series of one kind that may still go on, by the size that would go on each; a log has many cycles."""

    def __init__(self, steps: Sequence[tuple[str, int]]) -> None:
        self._steps = steps
        self._waiting: dict[int, list[Series]] = {}
        self._order: dict[Series, None] = {}

    def expecting(self, size: int) -> list[Series]:
        """The series that this size goes on, the one that has waited longest first."""
        return self._waiting.get(size, [])

    def keep(self, series: Series) -> None:
        """Note what goes on a series from its last size on; the one that waited longest is given up where many wait."""
        self._forget(series)
        if series.last_size:
            last = series.last_size
            series.following = tuple({last * by if how == "factor" else last + by for how, by in self._steps})
            for size in series.following:
                self._waiting.setdefault(size, []).append(series)
        self._order[series] = None
        if len(self._order) > _OPEN:
            self._forget(next(iter(self._order)))

    def _forget(self, series: Series) -> None:
        if series in self._order:
            del self._order[series]
            for size in series.following:
                self._waiting[size].remove(series)


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
