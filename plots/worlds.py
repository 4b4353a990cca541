"""Settings at several numbers of ranks, for figures over ranks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from commbench.sweepfile.sets import SweepSet
from plots.choosing import Choice, Line, lines_of


@dataclass(frozen=True)
class Family:
    """One setting's curves of one collective, ascending in ranks, with the sizes that all of them have."""

    name: str
    lines: tuple[Line, ...]
    sizes: tuple[int, ...]

    @property
    def ranks(self) -> tuple[int, ...]:
        """The measured numbers of ranks, ascending."""
        return tuple(line.curve.world_size or 0 for line in self.lines)

    def seconds(self, message_bytes: int) -> tuple[float, ...]:
        """The median time of one size at each number of ranks (s)."""
        return tuple(
            next(point.seconds for point in line.curve.points if point.message_bytes == message_bytes)
            for line in self.lines
        )


def families_of(sets: Sequence[SweepSet], choice: Choice) -> dict[str, tuple[Family, ...]]:
    """The families of each collective, of those settings that have several numbers of ranks."""
    known = [one for one in sets if one.key.world_size]
    columns = {name: _families(lines) for name, lines in (lines_of(known, choice) if known else {}).items()}
    return {name: families for name, families in columns.items() if families}


def _families(lines: Sequence[Line]) -> tuple[Family, ...]:
    grouped: dict[tuple[object, ...], dict[int, Line]] = {}
    for line in lines:
        key = line.sweep_set.key._replace(world_size=None, ranks_per_host=None)
        own = replace(line, name=line.sweep_set.name, legend=line.sweep_set.name)
        grouped.setdefault(key, {}).setdefault(line.curve.world_size or 0, own)
    found = []
    for by_ranks in grouped.values():
        members = tuple(by_ranks[ranks] for ranks in sorted(by_ranks))
        sizes = sorted(set.intersection(*({p.message_bytes for p in line.curve.points} for line in members)))
        if len(members) > 1 and sizes:
            found.append(Family(members[0].name, members, tuple(sizes)))
    return tuple(found)
