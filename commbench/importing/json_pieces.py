"""JSON that a crashed or careless program wrote: bare nan and inf, a cut end, several documents in one file."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

_DECODER = json.JSONDecoder(parse_constant=lambda _: None)
_BARE = re.compile(r"(?<=[:,\[ ])(?:-?nan(?:\(ind\))?|[-+]?inf(?:inity)?|-?NaN|-?Infinity)(?=\s*[,}\]])", re.IGNORECASE)
_OPENS = re.compile(r"\{|\[\s*[{\]]")  # what a launcher or a logger prints in brackets holds no object
_OBJECT = re.compile(r"^[ \t]*\[?[ \t]*\{", re.MULTILINE)  # the first of a list too: its end is passed over
_MOST = 1 << 30  # characters
_ERRORS = (ValueError, RecursionError)


class Document(NamedTuple):
    """One JSON value of a file.

    Attributes:
        value: what could be read.
        cut: the rest of it is missing or cannot be read.
    """

    value: Any
    cut: bool = False


def documents(text: str, array: str) -> Iterator[Document]:
    """The JSON values of a file, in order; lines of other text between them are passed over.

    Args:
        array: the key of the list whose whole elements are saved when a document is cut.
    """
    text = _BARE.sub("null", text)
    place = _next(text, 0)
    while place < len(text):
        if not _OPENS.match(text, place):
            object_below = _OBJECT.search(text, place)
            if object_below is None:
                return
            place = object_below.end() - 1
        try:
            value, place = _DECODER.raw_decode(text, place)
        except _ERRORS:
            yield Document(_saved(text, place, array), cut=True)
            return
        yield Document(value)
        place = _next(text, place)


def _next(text: str, place: int) -> int:
    while place < len(text) and text[place] in " \t\r\n,\x00\ufeff":
        place += 1
    return place


def _saved(text: str, start: int, array: str) -> dict[str, Any]:
    """The keys before the array, and its whole elements."""
    found = re.compile(rf'"{array}"\s*:\s*\[').search(text, start)
    if found is None:
        return _closed(text[start:])
    head = _closed(text[start : found.start()])
    elements: list[Any] = []
    place = _next(text, found.end())
    while place < len(text) and text[place] != "]":
        try:
            element, place = _DECODER.raw_decode(text, place)
        except _ERRORS:
            break
        elements.append(element)
        place = _next(text, place)
    return {**head, array: elements}


def _closed(text: str) -> dict[str, Any]:
    """The object that begins here, up to the last key that is whole."""
    for end in _ends(text):
        try:
            value = _DECODER.decode(text[:end].rstrip().rstrip(",") + "}")
        except _ERRORS:
            continue
        return value if isinstance(value, dict) else {}
    return {}


def _ends(text: str) -> Iterator[int]:
    """Where a cut object could be closed, the latest first; a bounded number of tries."""
    end = len(text)
    for _ in range(200):
        yield end
        end = text.rfind(",", 0, end)
        if end < 0:
            return
