"""Usual rows, many at once: whole and plain lines, as nearly all of a large log are. All others take the careful way.

Both ways give the same figures; tests compare them. Without this one a log of 10 MB takes three times as long.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from operator import add

import numpy as np

from commbench.importing.nccl_family.kinds import Kind
from commbench.importing.nccl_family.layout import Layout
from commbench.importing.nccl_family.rows import UNCHECKED, Floats

Tokens = tuple[str, ...]

_SIZE = r"([1-9]\d{0,17})"
_COUNT = r"(\d{1,18})"
_FIGURE = r"(\d{1,9}(?:\.\d{0,5})?)"  # as a time it is below the longest that a sweep holds
_CHECK = r"(\d{1,15}|N/A)"
_OF_PREAMBLE = {
    "size": _SIZE, "count": _COUNT, "type": r"([a-z]\w*)", "redop": r"([a-z]\w*)", "root": r"(-?\d{1,7})",
}  # fmt: skip
_PLAIN = (("time", "algbw", "busbw", "#wrong"), ("time", "algbw", "busbw", "wrong"))
_MICRO = 1e-6
_HALVES = tuple(0.5 * 10.0**-decimals for decimals in range(6))


@dataclass(frozen=True)
class Block:
    """Rows of one table, column by column, n of them.

    Attributes:
        wrong: of each row the wrong values out of place and in place, or UNCHECKED.
        figures: (n, 2, 6), of each row and placement the six that `Figures` begins with.
    """

    sizes: list[int]
    counts: list[int]
    kinds: list[Kind]
    wrong: list[tuple[int, int]]
    figures: Floats


class FastRows:
    """Reads the whole rows of one layout that is usual."""

    def __init__(self, layout: Layout) -> None:
        parts = [_OF_PREAMBLE[name] for name in layout.preamble]
        parts += [_CHECK if place == layout.check else _FIGURE for place in range(layout.width)] * layout.groups
        self._match = re.compile(" *" + " +".join(parts) + " *", re.ASCII).fullmatch
        self._names = layout.preamble[2:]

    def tokens(self, text: str) -> Tokens | None:
        """The words of a line that is a plain whole row, None for any other."""
        match = self._match(text)
        return None if match is None else match.groups()

    def block(self, rows: Sequence[Tokens]) -> Block:
        """The figures of rows by their words."""
        columns = list(zip(*rows, strict=True))
        sizes, counts = list(map(int, columns[0])), list(map(int, columns[1]))
        behind = 2 + len(self._names)
        words = list(zip(*columns[2:behind], strict=True))
        known = {word: self._kind(word) for word in set(words)}
        figures = np.empty((len(rows), 2, 6))
        for place, (time, algbw, busbw) in enumerate((columns[behind : behind + 3], columns[behind + 4 : behind + 7])):
            figures[:, place, 0] = list(map(float, map(add, time, repeat("e-6"))))  # rounded once
            figures[:, place, 1] = list(map(float, algbw))
            figures[:, place, 2] = list(map(float, busbw))
            figures[:, place, 3] = _half_digits(time, _MICRO)
            figures[:, place, 4] = _half_digits(algbw)
            figures[:, place, 5] = _half_digits(busbw)
        wrong = zip(_wrong(columns[behind + 3]), _wrong(columns[behind + 7]), strict=True)
        return Block(sizes, counts, [known[word] for word in words], list(wrong), figures)

    def _kind(self, words: Tokens) -> Kind:
        said = dict(zip(self._names, words, strict=True))
        root = said.get("root")
        return Kind(said.get("type"), said.get("redop"), None if root is None else int(root))


@lru_cache(maxsize=64)  # a log of many runs has few layouts
def fast_rows_of(layout: Layout) -> FastRows | None:
    """What reads the usual rows of a layout, None for a layout that has none."""
    usual = (
        set(layout.preamble) <= set(_OF_PREAMBLE)
        and layout.preamble[:2] == ("size", "count")
        and layout.has_type
        and layout.groups == 2
        and not layout.tail
        and layout.columns in _PLAIN
        and not layout.milliseconds
    )
    return FastRows(layout) if usual else None


def _half_digits(tokens: Tokens, unit: float = 1.0) -> list[float]:
    """Half of the last printed digit of each figure, in a unit."""
    halves = [half * unit for half in _HALVES]
    return [halves[len(token.partition(".")[2])] for token in tokens]


def _wrong(tokens: Tokens) -> list[int]:
    return [UNCHECKED if token == "N/A" else int(token) for token in tokens]
