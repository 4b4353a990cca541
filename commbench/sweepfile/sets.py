"""Which sweeps answer together: one file a collective is normal, and several launches of one setting are too.

Sweeps that share label (else the transport setting), tool, backend, world size, ranks per host, device, buffers and
groups are one set. Different sets stand side by side and are never mixed.
"""

from collections.abc import Iterable
from typing import NamedTuple

from commbench.sweepfile.reader import Sweep


class SetKey(NamedTuple):
    """What all sweeps of a set have in common; None where a foreign file does not say.

    Attributes:
        label: the user's name of the setting, else the transport setting.
        groups: disjoint groups that ran at once, 1 when there was one.
    """

    label: str | None
    tool: str
    backend: str | None
    world_size: int | None
    ranks_per_host: tuple[int, ...] | None
    device: str | None
    buffers: str | None
    groups: int


class SweepSet(NamedTuple):
    """Sweeps that answer together, in the order they were given."""

    key: SetKey
    sweeps: tuple[Sweep, ...]

    @property
    def name(self) -> str:
        """A word for tables and legends: the label, else the proved paths, else backend or tool."""
        first = self.sweeps[0]
        proved = {path for sweep in self.sweeps for path in sweep.proved or ()}
        return self.key.label or "+".join(sorted(proved)) or self.key.backend or first.header.source.tool


def set_key(sweep: Sweep) -> SetKey:
    """The key of the set that a sweep belongs to."""
    header = sweep.header
    return SetKey(
        label=header.label or _text(header.transport.get("setting")),
        tool=header.source.tool,
        backend=header.backend,
        world_size=header.world_size,
        ranks_per_host=header.ranks_per_host,
        device=_text(header.environment.get("device")),
        buffers=_text(header.settings.get("buffers")),
        groups=len(header.groups or ()) or 1,
    )


def sets_of(sweeps: Iterable[Sweep]) -> tuple[SweepSet, ...]:
    """Sort sweeps into sets, in the order of each set's first sweep."""
    sets: dict[SetKey, list[Sweep]] = {}
    for sweep in sweeps:
        sets.setdefault(set_key(sweep), []).append(sweep)
    return tuple(SweepSet(key, tuple(members)) for key, members in sets.items())


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
