"""Which lines of a log with several tools each reader gets: those below the last line that begins what it reads.

A table has no end of its own in most formats, so that its reader would go on into the table of the next tool.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from commbench.importing.foreign import Line

_OTHERS = ""  # the readers of nccl-tests and its relatives, which get all lines and know their own rows
_NCCL = re.compile(r"\bnThread|\b[nr]ccl-tests|Collective test starting|out-of-place|\balgbw +busbw\b")


def shares(lines: Sequence[Line], beginnings: Mapping[str, Callable[[str], bool]]) -> dict[str, list[Line]]:
    """The lines of each reader: those that stand below one of its beginnings, and those above any.

    Args:
        beginnings: by reader, whether a line begins what it reads.
    """
    found: dict[str, list[Line]] = {name: [] for name in beginnings}
    owner: str | None = None
    for line in lines:
        begun = next((name for name, begins in beginnings.items() if begins(line.text)), None) if line.text else None
        if begun is None and _NCCL.search(line.text):
            begun = _OTHERS
        owner = owner if begun is None else begun
        for name in beginnings if owner is None else (owner,):
            if name != _OTHERS:
                found[name].append(line)
    return found
