"""Imports the bytes of a log as `commbench import` does, and holds the result to what it must be for any bytes."""

import json
from math import isfinite
from typing import Any

import msgspec

from commbench.importing.foreign import NOTHING_STATED
from commbench.importing.imported import Imported, exit_code
from commbench.importing.imported_json import pieces
from commbench.importing.imported_text import summary, warnings
from commbench.importing.reading import read_content
from commbench.sweepfile.reader import parse_sweeps

_ENCODER = msgspec.json.Encoder()


def outcome(content: bytes) -> str:
    """The exit code and the tools that were found.

    Raises:
        AssertionError: the document is no strict JSON, a record cannot be read again, or a run has no row.
    """
    imported = Imported.of([read_content("x.log", content, NOTHING_STATED)], NOTHING_STATED, None)
    document: dict[str, Any] = json.loads("".join(pieces(imported)), parse_constant=_refuse)
    assert set(document) == {"sweeps", "rejects", "warnings"}
    code = exit_code(imported, strict=False)
    assert any(sweep["measurements"] for sweep in document["sweeps"]) == (code != 1)
    assert document["sweeps"] or document["rejects"]
    for sweep in document["sweeps"]:
        assert sweep["measurements"] or sweep["left_out"]
        assert all(isfinite(m["seconds"][0]) and m["message_bytes"] >= 0 for m in sweep["measurements"])
    lines = b"".join(_ENCODER.encode(record) + b"\n" for one in imported.runs for record in one.records())
    if lines:
        assert len(parse_sweeps(lines)) == len(imported.runs)
    assert (summary(imported, None) + warnings(imported)).count("\n") > 0
    return f"{code} {'+'.join(sorted({sweep['tool'] for sweep in document['sweeps']}))}"


def _refuse(word: str) -> None:
    raise AssertionError(f"{word} is no strict JSON")
