"""The columns of a table of the OSU benchmarks, from its own header, and one row read by them.

Names contain single blanks (`P50 Tail Lat(us)`), so they are found by their own words and not by blanks.
"""

import re
from dataclasses import dataclass

from commbench.importing.figures import whole
from commbench.importing.other_tools.printed import Printed, figure, reported

_NAME = re.compile(
    r"(?P<size>Size(?: ?[(\[]B[)\]])?(?=\s|$))"
    r"|(?P<avg>(?:Avg )?Lat(?:ency)? ?[(\[]us[)\]])"
    r"|(?P<min>Min Lat(?:ency)? ?\(us\))|(?P<max>Max Lat(?:ency)? ?\(us\))"
    r"|(?P<iterations>Iterations)|(?P<validation>Validation)"
    r"|(?P<tail>P[\d.]+ Tail Lat(?:ency)? ?\(us\))"
    r"|(?P<overall>Overall ?\(us\))|(?P<pure>Pure Comm\. ?\(us\))"
    r"|(?P<rate>(?:Bandwidth ?)?\(?[MG]B/s\)?|Messages/s)"
    r"|(?P<other>Compute ?\(us\)|Coll\. ?Init ?\(us\)|MPI_\w+ ?\(us\)|(?:Min|Max) Comm\. ?\(us\)|Overlap ?\(%\)"
    r"|(?:Wait|Init) avg ?\(us\)|Transmit Size|\S+(?: \S+)*)"
)
_LEAST = (("size",), ("overall",), ("avg",))
_FULL = ("Min Latency(us)", "Max Latency(us)", "Iterations")


@dataclass(frozen=True)
class Columns:
    """The columns of a table.

    Attributes:
        names: as printed.
        kinds: "size", "avg", "min", "max", "iterations", "validation", "tail", "overall", "pure", "rate" or "other".
    """

    names: tuple[str, ...]
    kinds: tuple[str, ...]

    @property
    def time(self) -> int | None:
        """Where the time of one call stands; None in a table of bandwidths."""
        for kind in ("pure", "avg"):
            if kind in self.kinds:
                return self.kinds.index(kind)
        return None

    @property
    def sized(self) -> bool:
        """Whether the first column is the size; a barrier has none."""
        return self.kinds[0] == "size"


@dataclass(frozen=True)
class Values:
    """One row: its size (0 for a barrier), the time of a call as printed, the check, and all columns by name."""

    size: int
    time: Printed | None
    time_text: str
    correct: bool | None
    reported: dict[str, object]


def header(text: str) -> Columns | None:
    """The columns of a header line, with or without its `#`; None if it is none."""
    words = text.lstrip("# \t")
    if not words.startswith(("Size", "Avg Lat", "Lat", "Overall")):
        return None
    words = re.sub(r"\s", " ", words.rstrip())
    found = list(_NAME.finditer(words))
    kinds = tuple(match.lastgroup or "other" for match in found)
    if kinds[:1] not in _LEAST or (kinds[0] == "size" and len(kinds) < 2):
        return None
    return Columns(tuple(match[0] for match in found), kinds)


def looks_like_data(text: str) -> bool:
    """Whether a line claims to be a row or a part of one: a whole number at its start, or nothing but numbers."""
    words = text.split()
    if not words or not words[0][0].isdigit():
        return False
    return (words[0].isascii() and words[0].isdigit()) or all(figure(word) is not None for word in words)


def row(text: str, columns: Columns) -> Values | str:
    """The values of a row, or why it cannot be read."""
    words = text.split()
    names, kinds = columns.names, columns.kinds
    if len(words) == len(names) + len(_FULL) and kinds == ("size", "avg"):
        # builds exist whose header forgets what -f adds
        names, kinds = (*names, *_FULL), (*kinds, "min", "max", "iterations")
        if whole(words[-1]) is None:
            return "five values under a header of two, and the last is no number of iterations"
    if len(words) < len(names):
        return f"the row is cut: {len(words)} of {len(names)} columns"
    if len(words) > len(names):
        return f"{len(words)} values under a header of {len(names)} columns"
    size = whole(words[0]) if columns.sized else 0
    if size is None:
        return "the size is no whole number"
    shown: dict[str, object] = {}
    correct: bool | None = None
    for name, kind, word in zip(names, kinds, words, strict=True):
        shown[name] = reported(word)
        if kind == "validation":
            correct = {"pass": True, "fail": False}.get(word.lower())
    time = columns.time
    read = figure(words[time]) if time is not None else None
    if time is not None and read is None:
        return f"{names[time]} is {words[time]!r}, no number"
    return Values(size, read, words[time] if time is not None else "", correct, shown)
