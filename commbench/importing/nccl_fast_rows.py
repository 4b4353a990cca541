"""The usual row, read at once: a line that is whole and plain, as nearly all are. All others take the careful way.

Both ways give the same figures; tests compare them. Without this one a log of 10 MB takes three times as long.
"""

import re

from commbench.importing.nccl_kinds import Figures, Kind
from commbench.importing.nccl_layout import Layout

_SIZE = r"(\d{1,18})"
_FIGURE = r"(\d+(?:\.\d*)?)"
_CHECK = r"(\d+|N/A)"
_OF_PREAMBLE = {"size": _SIZE, "count": _SIZE, "type": r"([a-z]\w*)", "redop": r"([a-z]\w*)", "root": r"(-?\d{1,7})"}
_HALVES = tuple(0.5 * 10.0**-decimals for decimals in range(20))


class FastRows:
    """Reads the whole rows of one layout.

    Attributes:
        usual: whether rows of this layout can be read so.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._kinds: dict[tuple[str, ...], Kind] = {}
        self._plain = layout.columns in (("time", "algbw", "busbw", "#wrong"), ("time", "algbw", "busbw", "wrong"))
        self.usual = (
            set(layout.preamble) <= set(_OF_PREAMBLE)
            and layout.preamble[:2] == ("size", "count")
            and layout.has_type
            and layout.groups == 2
            and not layout.tail
            and self._plain
            and not layout.milliseconds
        )
        parts = [_OF_PREAMBLE.get(name, "") for name in layout.preamble]
        parts += [_CHECK if place == layout.check else _FIGURE for place in range(layout.width)] * layout.groups
        self._match = re.compile(r"\s*" + r"\s+".join(parts) + r"\s*", re.ASCII).fullmatch if self.usual else None
        self._names = layout.preamble[2:]

    def read(self, text: str) -> tuple[int, int, Kind, tuple[Figures, Figures]] | None:
        """Size, count, kind and both placements of a row; None for a line that is not a plain whole row."""
        match = self._match(text) if self._match is not None else None
        if match is None:
            return None
        tokens = match.groups()
        size = int(tokens[0])
        if size == 0:
            return None
        behind = 2 + len(self._names)
        kind = self._kind(tokens[2:behind])
        first, second = _figures(tokens[behind : behind + 4]), _figures(tokens[behind + 4 :])
        if first is None or second is None:
            return None
        return size, int(tokens[1]), kind, (first, second)

    def _kind(self, words: tuple[str, ...]) -> Kind:
        kind = self._kinds.get(words)
        if kind is None:
            said = dict(zip(self._names, words, strict=True))
            root = said.get("root")
            kind = Kind(said.get("type"), said.get("redop"), None if root is None else int(root))
            self._kinds[words] = kind
        return kind


def _figures(tokens: tuple[str, ...]) -> Figures | None:
    time, algbw, busbw, wrong = tokens
    if len(time) > 15 or len(algbw) > 18 or len(busbw) > 18:
        return None
    if wrong == "0":
        count: int | None = 0
    elif wrong == "N/A":
        count = None
    elif len(wrong) < 19:
        count = int(wrong)
    else:
        return None
    seconds = float(time + "e-6")
    if seconds > 1e9:
        return None
    return Figures(
        seconds, float(algbw), float(busbw), _half(time) * 1e-6, _half(algbw), _half(busbw),
        count, None if count is None else count == 0, None,
    )  # fmt: skip


def _half(token: str) -> float:
    point = token.find(".")
    return 0.5 if point < 0 else _HALVES[len(token) - point - 1]
