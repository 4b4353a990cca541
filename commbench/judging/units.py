"""What is judged by itself: sweeps of one setting on the same hosts. A bad node among many keeps its name that way."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from commbench.collectives import COLLECTIVES
from commbench.dtypes import ELEMENT_BYTES
from commbench.judging.limits import Limit
from commbench.sweepfile.curves import CurveKey, Launch
from commbench.sweepfile.reader import Sweep
from commbench.sweepfile.records import Measurement
from commbench.sweepfile.sets import SetKey, SweepSet, set_key

_ALIGNMENT = 16  # bytes a rank: nccl-tests rounds shards to so many
_ANY_ELEMENT = (1, 2, 4, 8)  # bytes, where the dtype is not stated
_NAMED = 3
_NO_TIME = "no time above 0"


@dataclass(frozen=True)
class Unit:
    """Sweeps that are judged together.

    Attributes:
        name: tells units of one acceptance apart; empty where there is one.
        hosts: where the ranks were, None where a foreign file does not say.
    """

    key: SetKey
    hosts: tuple[str, ...] | None
    sweeps: tuple[Sweep, ...]
    name: str = field(default="", compare=False)

    @property
    def sweep_set(self) -> SweepSet:
        """As models want it."""
        return SweepSet(self.key, self.sweeps)

    @cached_property
    def points(self) -> dict[CurveKey, dict[int, list[Measurement]]]:
        """The measurements of each curve, by message size; those without collective or message are left out."""
        found: dict[CurveKey, dict[int, list[Measurement]]] = {}
        last: tuple[object, ...] = ()
        sizes: dict[int, list[Measurement]] = {}
        for sweep in self.sweeps:
            for m in sweep.measurements:
                key = (m.collective, m.op, m.dtype, m.placement, m.mode, m.beside)
                if key != last:
                    last = key
                    if m.collective not in COLLECTIVES:
                        last = ()
                        continue
                    sizes = found.setdefault(CurveKey(*key), {})  # type: ignore[arg-type]  # a collective with a name
                if m.message_bytes:
                    sizes.setdefault(m.message_bytes, []).append(m)
        return found

    def curves(self, limit: Limit) -> list[CurveKey]:
        """The curves that a limit is about; never one measured beside a computation."""
        return [
            key
            for key, sizes in self.points.items()
            if sizes
            and key.collective == limit.collective
            and key.beside is None
            and limit.mode in (None, key.mode)
            and limit.op in (None, key.op)
            and limit.dtype in (None, key.dtype)
            and limit.placement in (None, key.placement)
        ]

    def size_near(self, key: CurveKey, size: int) -> int | None:
        """The measured size that stands for a wanted one: equal, or what rounding to elements and shards makes of it.

        A neighbour that no rounding explains does not: 8 B and 64 B of an all_reduce are two questions.
        """
        sizes = self.points[key]
        if size in sizes:
            return size
        rounded = (one for one in _rounded(size, key, self.key.world_size or 1) if one in sizes)
        return min(rounded, key=lambda one: abs(one - size), default=None)


def units_of(sweeps: Iterable[Sweep]) -> tuple[Unit, ...]:
    """Sort sweeps into units, in the order of their first sweeps, each with a name of its own."""
    grouped: dict[tuple[SetKey, tuple[str, ...] | None], list[Sweep]] = {}
    for sweep in sweeps:
        grouped.setdefault((set_key(sweep), hosts_of(sweep)), []).append(sweep)
    names = _names(list(grouped))
    return tuple(
        Unit(key, hosts, tuple(members), name)
        for ((key, hosts), members), name in zip(grouped.items(), names, strict=True)
    )


def hosts_of(sweep: Sweep) -> tuple[str, ...] | None:
    """The hosts of a sweep, sorted."""
    hosts = sweep.header.environment.get("hosts")
    return tuple(sorted(map(str, hosts))) if isinstance(hosts, list) and hosts else None


def launches_of(measurements: Sequence[Measurement]) -> tuple[Launch, ...]:
    """One launch a measurement."""
    return tuple(Launch(m.sweep, m.cycle, m.seconds, m.statistic) for m in measurements)


def wanted_sizes(limit: Limit) -> tuple[int, ...]:
    """The sizes of a limit that must have been measured: its first, every `factor` above it, and its last."""
    if limit.sizes is None:
        return ()
    first, last = limit.sizes
    wanted: dict[int, None] = {}
    exact = float(first)
    while exact < last:
        wanted[int(exact)] = None
        exact *= limit.factor
    wanted[last] = None
    return tuple(wanted)


def _rounded(size: int, key: CurveKey, world_size: int) -> Iterator[int]:
    """What tools make of a size: up to equal shards (we), or down to these or to aligned ones (nccl-tests)."""
    sharded = COLLECTIVES[key.collective].sharded
    elements = (ELEMENT_BYTES[key.dtype],) if key.dtype in ELEMENT_BYTES else _ANY_ELEMENT
    grains = [element * world_size for element in elements] + [_ALIGNMENT * world_size] if sharded else elements
    for grain in grains:
        yield size // grain * grain
        yield -(-size // grain) * grain


def _names(keys: Sequence[tuple[SetKey, tuple[str, ...] | None]]) -> list[str]:
    """What tells them apart: the hosts, where these differ, else what else does."""
    if len(keys) == 1:
        return [""]
    labels = [key.label or "" for key, _ in keys]
    hosts = [_host_name(where) for _, where in keys]
    parts = [part for part in (labels, hosts) if len(set(part)) > 1]
    names = [" ".join(filter(None, words)) for words in zip(*parts, strict=True)] if parts else [""] * len(keys)
    if len(set(names)) == len(names):
        return names
    return [f"{name} {_rest(key)}".strip() for name, (key, _) in zip(names, keys, strict=True)]


def _host_name(hosts: tuple[str, ...] | None) -> str:
    if hosts is None:
        return "hosts not stated"
    return ",".join(hosts[:_NAMED]) + (f"+{len(hosts) - _NAMED}" if len(hosts) > _NAMED else "")


def _rest(key: SetKey) -> str:
    ranks = "? ranks" if key.world_size is None else f"{key.world_size} ranks"
    return " ".join(str(part) for part in (key.tool, key.backend, ranks, key.device, key.buffers) if part is not None)
