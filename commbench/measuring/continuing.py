"""Continue a sweep file: what it holds already, and whether this run may add to it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from commbench.errors import CommbenchError
from commbench.measuring.seam import World
from commbench.sweepfile.reader import read_sweeps
from commbench.sweepfile.records import Header
from commbench.sweepfile.resume import PointKey, point_key, refuse_unlike

T = TypeVar("T")


@dataclass(frozen=True)
class Stored:
    """A sweep of the file: its header and the points it has, measured or left out."""

    header: Header
    finished: frozenset[PointKey]


def stored_in(path: Path) -> tuple[Stored, ...]:
    """The sweeps of a file.

    Raises:
        SweepFileError: the file cannot be read.
    """
    return tuple(
        Stored(sweep.header, frozenset({*map(point_key, sweep.measurements), *map(point_key, sweep.left_out)}))
        for sweep in read_sweeps(path)
    )


def to_continue(stored: Sequence[Stored], new: Header, *, may_add: bool) -> Stored | None:
    """The stored sweep that a new one continues; None where there is none yet.

    Args:
        may_add: this run may add sweeps of other world sizes to the file (--world-sizes).

    Raises:
        SweepFileError: the file is from another machine, backend or settings.
    """
    same = [s for s in stored if (s.header.world_size, s.header.groups) == (new.world_size, new.groups)]
    for candidate in same[:1] or stored[:1]:
        header = candidate.header
        if not same and may_add:
            header = msgspec.structs.replace(
                header, world_size=new.world_size, ranks_per_host=new.ranks_per_host, groups=new.groups,
                environment={**header.environment, "hosts": new.environment.get("hosts")},
            )  # fmt: skip
        refuse_unlike(header, new)
    return same[0] if same else None


def on_rank_0(world: World, act: Callable[[], T]) -> T | None:
    """Let rank 0 do something with its files; what goes wrong there is raised on every rank alike.

    Returns:
        The result on rank 0, None on the others.
    """
    result, problem = None, None
    if world.rank == 0:
        try:
            result = act()
        except CommbenchError as error:
            problem = error
    if problem := world.exchange(problem)[0]:
        raise problem
    return result
