"""Limits files that ship with commbench: an example of every key, and starting points for well-known machines."""

from importlib.resources import files

from commbench.errors import UsageError

_FOLDER = files("commbench.judging") / "references"
_EXAMPLE = "example"


def example() -> str:
    """A limits file with every kind of limit."""
    return (_FOLDER / f"{_EXAMPLE}.toml").read_text(encoding="utf-8")


def names() -> tuple[str, ...]:
    """The names of the starting points."""
    found = (entry.name.removesuffix(".toml") for entry in _FOLDER.iterdir() if entry.name.endswith(".toml"))
    return tuple(sorted(name for name in found if name != _EXAMPLE))


def reference(name: str) -> str:
    """The limits file of a well-known machine.

    Raises:
        UsageError: for a name that none has.
    """
    if name not in names():
        raise UsageError("an unknown reference was asked for", expected=", ".join(names()), found=repr(name),
                         fix="commbench accept --reference list")  # fmt: skip
    return (_FOLDER / f"{name}.toml").read_text(encoding="utf-8")
