"""Which lines of a log with several tools each reader gets: those below the last line that begins what it reads.

A table has no end of its own in most formats, so that its reader would go on into the table of the next tool.
"""

from collections.abc import Callable, Mapping, Sequence

from commbench.importing.foreign import Line


def shares(lines: Sequence[Line], beginnings: Mapping[str, Callable[[str], bool]]) -> dict[str, list[Line]]:
    """The lines of each reader: those that stand below one of its beginnings, and those above any.

    Args:
        beginnings: by reader, whether a line begins what it reads.
    """
    found: dict[str, list[Line]] = {name: [] for name in beginnings}
    owner: str | None = None
    for line in lines:
        if line.text:
            owner = next((name for name, begins in beginnings.items() if begins(line.text)), owner)
        for name in beginnings if owner is None else (owner,):
            found[name].append(line)
    return found
