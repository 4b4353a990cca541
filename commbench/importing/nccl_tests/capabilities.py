"""What a version of nccl-tests can do, from its own --help.

An option it does not know makes nccl-tests print its usage and end with exit code 0: so it is asked first.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_OPTION = re.compile(r"\[-(\w),\s*--(\w+)")

# what every version has had since 2017
_OLDEST = dict.fromkeys("tgbeifnwpcodrz", "")


@dataclass(frozen=True)
class Capabilities:
    """The options of one binary.

    Attributes:
        options: long name by letter.
        known: False where --help said nothing, and only what all versions have is assumed.
        slowest: `-a 3` reports the slowest rank.
        json: `-J FILE` writes JSON.
    """

    options: Mapping[str, str]
    known: bool
    slowest: bool
    json: bool


def read_help(text: str) -> Capabilities:
    """Read what `--help` printed (by one process or several)."""
    options = dict(_OPTION.findall(text))
    if "b" not in options or "e" not in options:
        return Capabilities(_OLDEST, known=False, slowest=False, json=False)
    return Capabilities(
        options,
        known=True,
        slowest="a" in options and re.search(r"\b3=MAX\b", text, re.IGNORECASE) is not None,
        json="J" in options and "json" in text.lower(),
    )
