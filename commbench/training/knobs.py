"""Settings of a strategy, by the framework's own names: text of `--set name=value` read strictly into a frozen record.

A record of knobs is a frozen dataclass whose fields are made by `knob`; its annotations say what a value may be.
"""

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from difflib import get_close_matches
from math import isfinite
from typing import Any, TypeVar, get_args, get_type_hints

from commbench.dtypes import dtype_named
from commbench.errors import UsageError

Record = TypeVar("Record")


def knob(default: Any, help_text: str, *, at_least: float = 0, choices: tuple[str, ...] = (), dtype: bool = False,
         also: str = "") -> Any:  # fmt: skip
    """A field of a record of knobs.

    Args:
        default: the framework's own default.
        help_text: what it does, in a few words.
        at_least: the smallest number it may be.
        choices: the words it may be, where it is one of a few.
        dtype: it names an element type.
        also: another name that the framework has for it.
    """
    notes = {"help": help_text, "at_least": at_least, "choices": choices, "dtype": dtype, "also": also}
    return field(default=default, metadata=notes)


@dataclass(frozen=True)
class Described:
    """One knob for a help text: its name, default and meaning."""

    name: str
    default: object
    meaning: str


def described(record: type[Any]) -> tuple[Described, ...]:
    """The knobs of a record, in order."""
    return tuple(Described(each.name, each.default, each.metadata["help"]) for each in fields(record))


def read_knobs(record: type[Record], strategy: str, settings: Mapping[str, str]) -> Record:
    """Read settings, each a text, into a record of knobs.

    Raises:
        UsageError: for a name that the strategy does not have, or a value that the knob cannot be.
    """
    known: dict[str, Field[Any]] = {}
    for each in fields(record):  # type: ignore[arg-type]  # a TypeVar cannot say that it is a dataclass
        known |= {each.name: each} | ({each.metadata["also"]: each} if each.metadata["also"] else {})
    kinds = get_type_hints(record)
    values: dict[str, Any] = {}
    for name, text in settings.items():
        if name not in known:
            raise _unknown(name, strategy, known)
        target = known[name].name
        if target in values:
            raise UsageError(
                f"the setting {target} of {strategy} was given twice", expected="each setting once",
                found=f"{name}={text!r} beside another value", fix=f"give only one of {target} and {name}",
            )  # fmt: skip
        values[target] = _value(name, text, known[name], kinds[target])
    return record(**values)


def _value(name: str, text: str, target: Field[Any], kind: Any) -> Any:
    word = text.strip().lower()
    kinds = get_args(kind) or (kind,)
    if type(None) in kinds and word in ("none", "null"):
        return None
    if target.metadata["dtype"]:
        return dtype_named(word)
    if target.metadata["choices"]:
        if word in target.metadata["choices"]:
            return word
        raise _wrong(name, text, "one of " + ", ".join(target.metadata["choices"]))
    if tuple[float, ...] in kinds:
        return tuple(_number(name, part, True, target.metadata["at_least"], False) for part in text.split(","))
    if bool in kinds and word in _TRUTH:
        return _TRUTH[word]
    if int in kinds or float in kinds:
        return _number(name, text, float in kinds, target.metadata["at_least"], bool in kinds)
    raise _wrong(name, text, "true or false")


_TRUTH = {"true": True, "false": False}


def _number(name: str, text: str, fractional: bool, least: float, truth: bool) -> float:
    expected = f"{'a number' if fractional else 'a whole number'} of at least {least:g}, such as 4 or 4e5"
    try:
        value = float(text)
    except ValueError:
        raise _wrong(name, text, ("true, false or " if truth else "") + expected) from None
    if not isfinite(value) or value < least or abs(value) >= 2**62 or not (fractional or value.is_integer()):
        raise _wrong(name, text, expected)
    return value if fractional else int(value)


def _unknown(name: str, strategy: str, known: Mapping[str, Field[Any]]) -> UsageError:
    close = get_close_matches(name, known, n=1)
    return UsageError(
        f"an unknown setting of {strategy} was given",
        expected="one of " + ", ".join(known),
        found=repr(name),
        fix=f"did you mean {close[0]}?" if close else "use one of these names, which are the framework's own",
    )


def _wrong(name: str, text: str, expected: str) -> UsageError:
    return UsageError(
        f"the setting {name} cannot be read", expected=expected, found=repr(text), fix=f"write --set {name}=VALUE"
    )
