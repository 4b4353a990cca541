"""Which sweeps are launches of their own, and which are copies of one."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import msgspec

from commbench.sweepfile.reader import Sweep


def each_once(sweeps: Sequence[Sweep]) -> tuple[Sweep, ...]:
    """Each sweep once, the longest where a file and its copy were given: a copy is no second launch.

    Sweeps that only share an id (a file that was copied and then changed) are no copies: all but the first get an id
    of their own.
    """
    kept: dict[str, list[Sweep]] = {}
    for sweep in sweeps:
        same = kept.setdefault(sweep.header.sweep, [])
        if any(_holds(known, sweep) for known in same):
            continue
        copies = [place for place, known in enumerate(same) if _holds(sweep, known)]
        if copies:
            same[copies[0]] = sweep
        else:
            same.append(sweep)
    return tuple(one for same in kept.values() for one in _told_apart(same))


def _holds(whole: Sweep, part: Sweep) -> bool:
    """Every record of `part` stands in `whole`: it is a copy, or one taken while the run still went on."""
    return whole.header == part.header and all(
        longer[: len(shorter)] == shorter
        for longer, shorter in (
            (whole.measurements, part.measurements),
            (whole.left_out, part.left_out),
            (whole.transports, part.transports),
            (whole.voids, part.voids),
        )
    )


def _told_apart(same: Sequence[Sweep]) -> Iterator[Sweep]:
    for number, sweep in enumerate(same, 1):
        if number == 1:
            yield sweep
            continue
        name = f"{sweep.header.sweep} ({number})"
        yield replace(
            sweep,
            header=msgspec.structs.replace(sweep.header, sweep=name),
            measurements=tuple(msgspec.structs.replace(m, sweep=name) for m in sweep.measurements),
        )
