"""The usual row, read at once: a line that is whole and plain, as nearly all are. All others take the careful way.

Both ways give the same figures; tests compare them. Without this one a log of 10 MB takes three times as long.
"""

import re

from commbench.importing.nccl_kinds import Kind
from commbench.importing.nccl_layout import Layout
from commbench.importing.nccl_rows import UNCHECKED

_SIZE = r"(\d{1,18})"
_FIGURE = r"(\d+(?:\.\d*)?)"
_CHECK = r"(\d+|N/A)"
_OF_PREAMBLE = {"size": _SIZE, "count": _SIZE, "type": r"([a-z]\w*)", "redop": r"([a-z]\w*)", "root": r"(-?\d{1,7})"}
_LONGEST = 15  # characters of a figure
_LATEST = 1e9  # seconds
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

    def read(self, text: str) -> tuple[int, int, Kind, tuple[int, int], tuple[float, ...]] | None:
        """Size, count, kind, wrong values and figures of both placements, as `RowTable.add_pair` takes them; None for
        a line that is not a plain whole row."""
        match = self._match(text) if self._match is not None else None
        if match is None:
            return None
        tokens = match.groups()
        size = int(tokens[0])
        if size == 0:
            return None
        behind = 2 + len(self._names)
        kind = self._kind(tokens[2:behind])
        time, algbw, busbw, check, other_time, other_algbw, other_busbw, other_check = tokens[behind:]
        if max(map(len, tokens[behind:])) > _LONGEST:
            return None
        seconds, other_seconds = float(time + "e-6"), float(other_time + "e-6")
        if seconds > _LATEST or other_seconds > _LATEST:
            return None
        figures = (
            seconds, float(algbw), float(busbw), _half(time) * 1e-6, _half(algbw), _half(busbw),
            other_seconds, float(other_algbw), float(other_busbw),
            _half(other_time) * 1e-6, _half(other_algbw), _half(other_busbw),
        )  # fmt: skip
        wrong = UNCHECKED if check == "N/A" else int(check), UNCHECKED if other_check == "N/A" else int(other_check)
        return size, int(tokens[1]), kind, wrong, figures

    def _kind(self, words: tuple[str, ...]) -> Kind:
        kind = self._kinds.get(words)
        if kind is None:
            said = dict(zip(self._names, words, strict=True))
            root = said.get("root")
            kind = Kind(said.get("type"), said.get("redop"), None if root is None else int(root))
            self._kinds[words] = kind
        return kind


def _half(token: str) -> float:
    point = token.find(".")
    return 0.5 if point < 0 else _HALVES[len(token) - point - 1]
