"""One printed row of the nccl-tests family: from its words to figures, also when it is cut or came in pieces."""

import re
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from commbench.importing.figures import LARGEST, NOT_CHECKED, agrees, half_digit, number, whole
from commbench.importing.nccl_family.kinds import Figures, Kind
from commbench.importing.nccl_family.layout import Layout, from_row
from commbench.sweepfile.records import Placement

_DTYPES = frozenset(
    {
        *("int8", "char", "uint8", "int32", "int", "uint32", "int64", "uint64", "half", "float", "double", "bfloat16"),
        *("float16", "float32", "float64", "bf16", "fp16", "fp32", "fp8_e4m3", "fp8_e5m2", "f8e4m3", "f8e5m2"),
        *("float8_e4m3", "float8_e5m2", "fp8e4m3", "fp8e5m2"),
    }
)
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_GLUED = re.compile(r"(-1|N/A|\d{1,40}(?:\.\d{1,40})?)(?=[A-Za-z]{3}|\[)")
_ROOT = re.compile(r"-?\d{1,7}")
_WIDE_GAP = 24  # blanks that stand for a group which was not printed
_LONGEST = 1e9  # seconds


@dataclass
class Pending:
    """A row whose first words are there and whose figures may still come.

    Attributes:
        excess: words that do not fit, such as columns that no header names.
        extra: columns before the figures that only a fork has.
        gap: blanks between the preamble and the first figure on the row's own line.
    """

    line: int
    size: int
    count: int
    kind: Kind
    figures: list[str] = field(default_factory=list)
    tail: list[str] = field(default_factory=list)
    gap: int = 0
    excess: str | None = None
    extra: dict[str, str] = field(default_factory=dict)


def is_figure(token: str) -> bool:
    """Whether a token may stand in a group of figures."""
    if token in NOT_CHECKED:
        return True
    try:
        number(token)
    except ValueError:
        return False
    return True


def starts_row(tokens: list[str], layout: Layout | None) -> bool:
    """Whether words begin a row: size, count and, where the table has one, a type."""
    if len(tokens) < 2 or not (tokens[0].isdigit() and tokens[1].isdigit()):
        return False
    if layout is None:
        return len(tokens) > 3 and tokens[2] in _DTYPES
    if not layout.has_type:
        return "." not in tokens[1]
    place = layout.preamble.index("type")
    return len(tokens) > place and _is_word(tokens[place])


def is_whole_row(text: str) -> bool:
    """Whether a line is a row of the family by its look alone: size, count, a type and groups of figures."""
    tokens = text.split()
    return len(tokens) > 6 and starts_row(tokens, None) and from_row(tokens[3:]) is not None


def begun(line: int, text: str, tokens: list[str], layout: Layout | None) -> Pending | None:
    """The row that a line begins, with the figures that it already has; None for an impossible size."""
    size, count = whole(tokens[0]), whole(tokens[1]) if len(tokens) > 1 else 0
    if size is None or count is None:
        return None
    names = ["type", "redop"] if layout is None else list(layout.preamble[2:])
    if layout is None and _root_is_next([token for token in tokens[3:] if not _is_word(token)]):
        names.append("root")
    found: dict[str, str] = {}
    place = 2
    for name in names:
        if place >= len(tokens):
            break
        token = tokens[place]
        if name == "root" and (glued := _GLUED.match(token)):
            tokens = [*tokens[:place], glued[1], token[glued.end() :], *tokens[place + 1 :]]
            token = glued[1]
        if (name == "redop" and not _is_word(token)) or (name == "root" and not _ROOT.fullmatch(token)):
            continue  # printed blank
        found[name] = token
        place += 1
    root = found.get("root")
    kind = Kind(found.get("type"), found.get("redop"), int(root) if root is not None else None)
    extra = {name: word for name, word in found.items() if name not in ("type", "redop", "root")}
    row = Pending(line, size, count, kind, extra=extra)
    if place < len(tokens):
        row.gap = _gap(text, tokens, place)
    take(row, tokens[place:], layout)
    return row


def _is_word(token: str) -> bool:
    return _WORD.fullmatch(token) is not None and token.lower() not in ("nan", "inf", "na")


def _root_is_next(tokens: list[str]) -> bool:
    figures = [token for token in tokens if is_figure(token)]
    return len(figures) % 4 == 1 and _ROOT.fullmatch(figures[0]) is not None


def _gap(text: str, tokens: list[str], place: int) -> int:
    end = 0
    for token in tokens[:place]:
        end = text.find(token, end) + len(token)
    return len(text) - end - len(text[end:].lstrip())


def take(row: Pending, tokens: list[str], layout: Layout | None) -> None:
    """Add figures, then the words of the row's tail, to a row; whatever does not fit is remembered as its excess."""
    room = layout.groups * layout.width if layout else 64
    for place, token in enumerate(tokens):
        if len(row.figures) < room and is_figure(token):
            row.figures.append(token)
        elif len(row.figures) < room and (glued := _GLUED.match(token)):  # a library's line began right behind it
            row.figures.append(glued[1])
            row.excess = token[glued.end() :][:40]
            return
        elif layout and layout.tail_tokens > len(row.tail) and len(row.figures) in (room, layout.width):
            row.tail.append(token)
        else:
            row.excess = " ".join(tokens[place : place + 4])[:60]
            return


def is_full(row: Pending, layout: Layout) -> bool:
    """Whether nothing of the row is missing."""
    return len(row.figures) >= layout.groups * layout.width and len(row.tail) >= layout.tail_tokens


def groups_of(row: Pending, layout: Layout) -> tuple[list[tuple[Placement | None, list[str]]], int]:
    """The complete groups of a row with their placements, and how many figures are left over."""
    complete, rest = divmod(len(row.figures), layout.width)
    groups = [row.figures[i * layout.width : (i + 1) * layout.width] for i in range(complete)]
    placements = list(layout.placements)
    if complete == 1 and len(placements) == 2 and row.gap >= _WIDE_GAP:
        placements = placements[1:]  # the first side is blank
    return list(zip(placements, groups, strict=False)), rest


def is_consistent(row: Pending, layout: Layout) -> bool:
    """Whether every group of a full row says algbw = size / time, so that its columns are what the header says."""
    for _, group in groups_of(row, layout)[0]:
        figures = figures_of(group, layout, row)
        if isinstance(figures, str) or not figures.seconds > 0.0:
            return False
        low = row.size / (figures.seconds + figures.seconds_half) / 1e9
        high = row.size / max(figures.seconds - figures.seconds_half, 1e-30) / 1e9
        if not agrees(figures.algbw, figures.algbw_half, low, high):
            return False
    return True


def figures_of(group: list[str], layout: Layout, row: Pending) -> Figures | str:
    """The figures of one group of a row, or why it is none."""
    tail = row.tail
    try:
        printed = number(group[layout.time])
        seconds = _scaled(group[layout.time], printed, layout)
        algbw, algbw_half = _bandwidth(group[layout.algbw])
        busbw, busbw_half = _bandwidth(group[layout.busbw])
        extra: dict[str, Any] = {**row.extra, **{layout.columns[i]: _maybe(group[i]) for i in _extra_columns(layout)}}
    except (ValueError, KeyError):
        return f"no time in {' '.join(group)[:60]!r}"
    if not isfinite(seconds) or not 0 <= seconds <= _LONGEST:
        return f"its time is {group[layout.time]}"
    if tail:
        extra.update(zip(layout.tail, _tail_values(layout, tail), strict=False))
    wrong: int | None = None
    correct: bool | None = None
    if layout.check is not None:
        token = group[layout.check]
        if layout.error_is_magnitude:
            extra["error"] = _maybe(token)
            correct = False if token.endswith("*") else None
        elif token not in NOT_CHECKED:
            wrong, correct = _wrong(token)
    half = half_digit(group[layout.time]) / (1e3 if layout.milliseconds else 1e6)
    return Figures(seconds, algbw, busbw, half, algbw_half, busbw_half, wrong, correct, extra or None)


def _scaled(token: str, printed: float, layout: Layout) -> float:
    """The printed time in seconds, rounded once: 48.51 us are 4.851e-05 s."""
    if not token[-1].isdigit() or "e" in token.lower():
        return printed / (1e3 if layout.milliseconds else 1e6)
    return float(token + ("e-3" if layout.milliseconds else "e-6"))


def _wrong(token: str) -> tuple[int | None, bool | None]:
    value = number(token)
    if value != value:
        return None, None
    return min(max(0, round(min(value, 9.2e18))), LARGEST), value == 0 and not token.endswith("*")


def _bandwidth(token: str) -> tuple[float, float]:
    if token in NOT_CHECKED:
        return float("nan"), 0.0
    value = number(token)
    return (value, half_digit(token)) if isfinite(value) else (float("nan"), 0.0)


def _maybe(token: str) -> float | None:
    if token in NOT_CHECKED:
        return None
    value = number(token)
    return value if isfinite(value) else None


def _extra_columns(layout: Layout) -> list[int]:
    usual = {layout.time, layout.algbw % layout.width, layout.busbw % layout.width, layout.check}
    return [place for place in range(layout.width) if place not in usual]


def _tail_values(layout: Layout, tail: list[str]) -> list[str]:
    if "timestamp" not in layout.tail:
        return tail
    place = layout.tail.index("timestamp")
    return [*tail[:place], " ".join(tail[place : place + 2]), *tail[place + 2 :]]
