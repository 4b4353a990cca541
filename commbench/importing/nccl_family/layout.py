"""The columns of a table of the nccl-tests family, from the words of its own header or from the look of a row.

A fixed number of columns is what made other readers drop rows: -S, -I, blank operators, cpu times and vendor forks all
change it. Size, count and type are found from the left, the groups of figures by the header's words.
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache

from commbench.sweepfile.records import Placement

_TIMES = {"time": "time", "cputime": "cputime", "cpu_time": "cputime"}
_CHECKS = frozenset({"#wrong", "wrong", "error", "res"})
_OF_GROUP = frozenset(
    {*_CHECKS, "algbw", "busbw", "copybw", "hipevt", "hip_event", "i_min", "i_max", "i_p99", "i_cv%", "i_avg", "i_p50"}
)
_OF_TAIL = frozenset({"timestamp", "algo", "proto", "nchannels", "channels"})
_PREAMBLE = {"bytes": "size", "n": "count", "op": "redop", "#elements": "count", "elements": "count"}
_WORDS = re.compile(r"[^\s|]+")


@dataclass(frozen=True)
class Layout:
    """Where the figures of a row stand.

    Attributes:
        preamble: the names before the first group, such as size count type redop root.
        columns: the names of one group, such as time algbw busbw #wrong.
        placements: of each group, in the order of printing.
        tail: names after the last group.
        milliseconds: the times are in ms (2017 and 2018).
        inferred: from a row, because there is no header.
    """

    preamble: tuple[str, ...]
    columns: tuple[str, ...]
    placements: tuple[Placement | None, ...]
    tail: tuple[str, ...] = ()
    milliseconds: bool = False
    inferred: bool = False
    time: int = field(init=False)
    algbw: int = field(init=False)
    busbw: int = field(init=False)
    check: int | None = field(init=False)
    width: int = field(init=False)
    tail_tokens: int = field(init=False)
    has_type: bool = field(init=False)
    has_root: bool = field(init=False)
    extra: tuple[tuple[int, str], ...] = field(init=False)

    def __post_init__(self) -> None:
        """The positions that every row needs."""
        found = {name: position for position, name in reversed(list(enumerate(self.columns)))}
        derived = {
            "time": found.get("time", found.get("cputime", 0)),
            "algbw": found.get("algbw", -1),
            "busbw": found.get("busbw", -1),
            "check": next((found[name] for name in self.columns if name in _CHECKS), None),
            "width": len(self.columns),
            "tail_tokens": len(self.tail) + ("timestamp" in self.tail),  # date and time of day
            "has_type": "type" in self.preamble,
            "has_root": "root" in self.preamble,
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)
        usual = {self.time, self.algbw, self.busbw, self.check}
        extra = tuple((place, name) for place, name in enumerate(self.columns) if place not in usual)
        object.__setattr__(self, "extra", extra)

    @property
    def groups(self) -> int:
        """Groups of figures in a full row."""
        return len(self.placements)

    @property
    def error_is_magnitude(self) -> bool:
        """The check column holds the largest difference, not a count of wrong values (before August 2022)."""
        return self.check is not None and self.columns[self.check] in ("error", "res")

    @property
    def generation(self) -> str:
        """Which generation of nccl-tests prints such a table, as far as the columns tell (see docs/importing.md)."""
        if self.milliseconds:
            return "A"
        if self.error_is_magnitude:
            return "B"
        if "copybw" in self.columns:
            return "X"
        return "C4" if "i_min" in self.columns else "C"


def is_header(text: str) -> bool:
    """Whether a line names the columns of such a table, with or without its `#`."""
    return "algbw" in text and "busbw" in text and ("size" in text or "bytes" in text) and "time" in text


@lru_cache(maxsize=64)  # a log of many runs repeats few headers
def from_header(names: str, above: str) -> Layout | None:
    """The layout that a header promises.

    Args:
        names: the line with the column names.
        above: the line before it, which names the placements.
    """
    words = [word.lower() for word in _WORDS.findall(names.strip().lstrip("#"))]
    starts = [place for place, word in enumerate(words) if word in _TIMES]
    if not starts or starts[0] == 0 or "algbw" not in words:
        return None
    preamble = tuple(_PREAMBLE.get(word, word) for word in words[: starts[0]])
    groups = [words[start:end] for start, end in zip(starts, [*starts[1:], len(words)], strict=True)]
    last = groups[-1]
    cut = len(groups[0]) if len(groups) > 1 else next((i for i, w in enumerate(last) if w in _OF_TAIL), len(last))
    tail = tuple(last[cut:])
    columns = tuple(_TIMES.get(word, word) for word in (groups[0] if len(groups) > 1 else last[:cut]))
    if len(groups) > 2 or "busbw" not in columns:
        return None
    return Layout(preamble, columns, _placements(above, len(groups)), tail, milliseconds=words[0] == "bytes")


def _placements(above: str, groups: int) -> tuple[Placement | None, ...]:
    named: list[Placement] = [
        "out" if word == "out-of-place" else "in" for word in re.findall(r"out-of-place|in-place", above)
    ]
    if len(named) >= groups and groups:
        return tuple(named[:groups])
    return ("out", "in") if groups == 2 else ("out",)


def from_row(after_type: list[str]) -> Layout | None:
    """The layout of a table whose header is missing, from the tokens behind the type of a row.

    Args:
        after_type: operator, root and figures. Two groups of four and one of four can be told; -S and -I add to them.
    """
    names = ["size", "count", "type"]
    tokens = list(after_type)
    if tokens and tokens[0].isalpha() and tokens[0] not in ("nan", "inf"):
        names.append("redop")
        tokens = tokens[1:]
    tail: tuple[str, ...] = ()
    if len(tokens) > 2 and re.fullmatch(r"\d{4}-\d\d-\d\d", tokens[-2]):
        tail, tokens = ("timestamp",), tokens[:-2]
    per_group, rest = divmod(len(tokens), 4)
    if rest == 1 and re.fullmatch(r"-?\d+", tokens[0]):
        names.append("root")
        tokens = tokens[1:]
    elif rest or not per_group:
        return None
    columns: tuple[str, ...] = ("time", "algbw", "busbw", "#wrong")
    if per_group == 4:
        columns = (*columns, "i_min", "i_max", "i_p99", "i_cv%")
    elif per_group not in (1, 2):
        return None
    if re.fullmatch(r"\de[+-]\d\d", tokens[3]) and float(tokens[3]) < 1e6:
        columns = (*columns[:3], "error", *columns[4:])
    return Layout(tuple(names), columns, ("out", "in"), tail, inferred=True)
