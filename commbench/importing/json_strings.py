"""Logs that stand inside the strings of a JSON document, as CI systems and regression suites keep them.

Each string of several lines is opened in its place: its lines carry the number of the line where the string stands.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from commbench.importing.foreign import Line
from commbench.importing.lines import normalised

_STRING = re.compile(r'"((?:[^"\\]|\\.)*+)"')
_NAMES = re.compile(r"(?:num|n)_?(?:procs?|processes|ranks|tasks)|world_?size|ranks|np|ntasks", re.IGNORECASE)
_DEEPEST = 40
_MANY = 10_000_000  # ranks, from which on a number is none of them


def opened(lines: Iterable[Line]) -> Iterator[Line]:
    """The same lines, and in place of a JSON string that holds line ends, the lines inside it."""
    for line in lines:
        if "\\n" not in line.text or '"' not in line.text:
            yield line
            continue
        for literal in _STRING.findall(line.text):
            if "\\n" not in literal:
                continue
            try:
                inside = msgspec.json.decode(f'"{literal}"')
            except (msgspec.MsgspecError, UnicodeError):
                continue
            for raw in str(inside).split("\n"):
                stream, text = normalised(raw)
                yield Line(line.number, text, f"{line.stream} {stream}".strip())


class OpenedLines(list[Line]):
    """The lines of a JSON document with its strings opened, and the document as it stands."""

    def __init__(self, lines: Iterable[Line], text: str) -> None:
        super().__init__(opened(lines))
        self.text = text


def ranks_beside(document: str, *texts: str) -> int | None:
    """The number of ranks that the fields around a string of a JSON document state.

    Args:
        document: the whole file: one document, or one a line.
        texts: what stands in the string.

    Returns:
        The number, where the innermost object around the string that names one names only one; None otherwise.
    """
    found = [around for root in _documents(document) for around in _objects_around(root, texts, ())]
    if len(found) != 1:
        return None
    for holder in reversed(found[0]):
        counts = set(_counts(holder, 0))
        if counts:
            return counts.pop() if len(counts) == 1 else None
    return None


def _documents(text: str) -> Iterator[Any]:
    for document in (text,), text.splitlines():
        try:
            yield from [msgspec.json.decode(part) for part in document if part.strip()]
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            continue
        return


def _objects_around(value: Any, texts: tuple[str, ...], around: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if len(around) > _DEEPEST:
        return
    if isinstance(value, str):
        if all(text in value for text in texts):
            yield around
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _objects_around(inner, texts, (*around, value))
    elif isinstance(value, list):
        for inner in value:
            yield from _objects_around(inner, texts, (*around, value))


def _counts(value: Any, depth: int) -> Iterator[int]:
    """Numbers of ranks among the fields of an object and of the objects in it, but not in its lists."""
    if not isinstance(value, dict) or depth > _DEEPEST:
        return
    for name, inner in value.items():
        if isinstance(inner, dict):
            yield from _counts(inner, depth + 1)
        elif isinstance(inner, int) and not isinstance(inner, bool) and 0 < inner < _MANY and _NAMES.fullmatch(name):
            yield inner
