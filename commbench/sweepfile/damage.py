"""Say what is wrong with one line of a sweep file: the field, the rule it breaks, the value that is there.

Only called once reading has failed, so it may take its time; what it looks at is broken by definition.
"""

import json
import re
from typing import Any, get_args

import msgspec

from commbench.errors import SweepFileError
from commbench.sweepfile.opening import excerpt
from commbench.sweepfile.records import FORMAT, Clock, Mode, Placement, Status

# msgspec's messages: "Expected `int` >= 0 - at `$.seconds[2]`", "JSON is malformed: invalid character (byte 17)".
_PLACE = re.compile(r"(?P<rule>.*?)(?: - at `\$(?P<path>.*)`)?", re.DOTALL)
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")
_BYTE = re.compile(r"(?P<rule>.*) \(byte (?P<byte>\d+)\)")
_WORDS = {
    "mode": get_args(Mode),
    "placement": get_args(Placement),
    "clock": get_args(Clock),
    "status": get_args(Status),
    "moment": ("before", "after"),
}


class _Number(str):
    """A number as it is written in the file (1e999, NaN and a thousand digits have no other faithful form)."""


def is_cut(line: bytes) -> bool:
    """The line was never finished: no newline at its end, and not a whole JSON object.

    After a power loss the rest of the last line may be anything, such as NUL bytes.
    """
    return not line.endswith(b"\n") and not isinstance(_loosely(line), dict)


def damaged(name: str, number: int, line: bytes, error: Exception) -> SweepFileError:
    """The error for a line that cannot be read."""
    expected, found = _explain(line, error)
    return at_line(name, number, expected, found)


def at_line(name: str, number: int, expected: str, found: str) -> SweepFileError:
    """The error for a rule that line `number` breaks."""
    return SweepFileError(
        f"a sweep file is damaged at line {number}",
        expected=expected,
        found=f"{name}:{number}: {found}",
        fix="restore the file, or delete that line if you know what it was",
    )


def other_format(name: str, number: int, found: object) -> SweepFileError:
    """The error for a header of another format version."""
    return SweepFileError(
        "this sweep file has a format this version does not read",
        expected=f"format {FORMAT}",
        found=f"{name}:{number}: format {_shown(found)}",
        fix="read it with the commbench that wrote it, or a newer one",
    )


def _explain(line: bytes, error: Exception) -> tuple[str, str]:
    """(expected, found) for a line that msgspec refused."""
    text = str(error)
    if isinstance(error, RecursionError):
        return "a record of a few levels", f"objects or lists nested too deeply: {excerpt(line)}"
    if not isinstance(error, msgspec.ValidationError):
        return "one strict JSON object a line, in UTF-8", _syntax(line, text)
    place = _PLACE.fullmatch(text)
    rule, path = (place["rule"], place["path"] or "") if place else (text, "")
    if rule.startswith("Object missing required field"):
        return "a record with every required field (commbench schema)", f"no field {rule.rpartition(' ')[2]}"
    if not path:
        whole = rule.startswith("Expected `object`")
        return "one JSON object a line" if whole else "a record that agrees with itself (commbench schema)", rule
    field, inside, _ = path.removeprefix(".").partition("[...]")
    if inside:  # the rest of the path is not known: an object with fields of the user's own
        return f"`{field}`: {_requirement(rule)}", f"`{field}` holds a value that is not"
    found = f"`{field}` is {_shown(_value_at(_loosely(line), path))}"
    if rule.startswith("Invalid enum value"):
        return f"`{field}`: one of {', '.join(_WORDS.get(field, ('the words of commbench schema',)))}", found
    if rule.startswith("Invalid value"):
        return "one `record` field a line", f"a second one, which {found.removeprefix('`record` ')}"
    return f"`{field}`: {_requirement(rule)}", found


def _syntax(line: bytes, text: str) -> str:
    try:
        line.decode()
    except UnicodeDecodeError as error:
        return f"byte {error.start + 1} is not UTF-8: {excerpt(line, error.start)}"
    if at := _BYTE.fullmatch(text):
        byte = int(at["byte"])
        return f"{at['rule'].removeprefix('JSON is malformed: ')} at byte {byte + 1}: {excerpt(line, byte)}"
    if _loosely(line) is not None:
        return f"an escape that stands for no character (\\ud800 to \\udfff): {excerpt(line)}"
    return f"it ends inside a record: {excerpt(line, len(line))}"


def _requirement(rule: str) -> str:
    if rule.endswith("out of range"):
        return "a number within range"
    return rule.removeprefix("Expected ").partition(", got ")[0].replace("`", "")


def _loosely(line: bytes) -> Any:
    """The line as lenient JSON, numbers as they are written; None when it is not JSON at all."""
    try:
        return json.loads(line, parse_int=_Number, parse_float=_Number, parse_constant=_Number)
    except (ValueError, RecursionError):
        return None


def _value_at(document: Any, path: str) -> Any:
    for key, index in _STEP.findall(path):
        if isinstance(document, dict):
            document = document.get(key)
        elif isinstance(document, list) and index and int(index) < len(document):
            document = document[int(index)]
    return document


def _shown(value: object) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else f"a list of {len(value)}"
    text = str(value) if isinstance(value, _Number) else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
