"""Tables of several writers in one log, taken apart before they are read.

A launcher's prefix says which process wrote a line. Where several of them printed tables of their own, the lines of
one never stand in a table of another.
"""

from collections.abc import Callable, Sequence

from commbench.importing.foreign import Line


def apart(lines: Sequence[Line], recognises: Callable[[Sequence[Line]], bool]) -> list[Sequence[Line]]:
    """The lines of each stream that holds a table of its own, with the lines of no stream; all of them if one does."""
    streams: dict[str, list[Line]] = {}
    for line in lines:
        if line.stream:
            streams.setdefault(line.stream, []).append(line)
    if len(streams) < 2:
        return [lines]
    with_table = [name for name, written in streams.items() if recognises(written)]
    if len(with_table) < 2:
        return [lines]
    others = {name for name in streams if name not in with_table}
    return [
        [line for line in lines if line.stream in ("", name) or (line.stream in others and place == 0)]
        for place, name in enumerate(with_table)
    ]
