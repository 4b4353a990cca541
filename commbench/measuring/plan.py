"""Which points are measured, in which order, and what they need: decided before anything is allocated."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from commbench.collectives import COLLECTIVES
from commbench.dtypes import ELEMENT_BYTES
from commbench.errors import UsageError
from commbench.measuring.seam import Case
from commbench.sweepfile.records import Mode, Placement
from commbench.units import GIB, MIB, format_size, format_size_short

ASSUMED_RATE = 1 * GIB  # bytes per second, for the time a plan prints before anything was measured
ASSUMED_LATENCY = 200e-6  # seconds, as gloo's on one host; NCCL's and MPI's are shorter
AROUND = 0.05  # seconds a point takes for filling, checking and agreeing
BESIDE_FROM = (
    1 * MIB
)  # the size from which --with-compute repeats: smaller calls end before a kernel of the product does
USABLE = 0.9  # of the free memory: the library needs some for itself


@dataclass(frozen=True)
class Choices:
    """What was asked for; every combination that exists is a point."""

    collectives: tuple[str, ...]
    sizes: tuple[int, ...]
    dtypes: tuple[str, ...]
    operators: tuple[str, ...]
    root: int
    placements: tuple[Placement, ...] | None
    modes: tuple[Mode, ...]
    cycles: int = 1
    shuffle: int | None = None
    calls_in_graph: int = 1
    with_compute: bool = False


@dataclass(frozen=True)
class Point:
    """A case in one cycle of the plan."""

    case: Case
    cycle: int


def sizes_between(first: int, last: int, *, factor: int | None, step: int | None) -> tuple[int, ...]:
    """Sizes from `first` to at most `last` bytes, multiplied by `factor`, or `step` bytes apart.

    Raises:
        UsageError: an empty range, a factor below 2 or a step below 1.
    """
    if first < 0 or last < first:
        raise UsageError(
            "the range of sizes is empty",
            expected="-b at most -e",
            found=f"-b {format_size(first)} -e {format_size(last)}",
            fix="swap them, or set both",
        )
    if step is not None and factor is None:
        if step < 1:
            raise UsageError("the step between sizes is 0", expected="-i of 1 byte or more", found=f"-i {step}",
                             fix="set -i, or use -f 2")  # fmt: skip
        return tuple(range(first, last + 1, step))
    factor = 2 if factor is None else factor
    if factor < 2:
        raise UsageError("sizes do not grow", expected="-f of 2 or more", found=f"-f {factor}",
                         fix="use -f 2, or -i for equal steps")  # fmt: skip
    sizes = [first]
    while (size := max(sizes[-1], 1) * factor) <= last:
        sizes.append(size)
    return tuple(sizes)


def points(choices: Choices, world_size: int, placements_of: Mapping[str, tuple[Placement | None, ...]]) -> list[Point]:
    """Every point once per cycle: sizes rounded up to equal shards, equal effective sizes once.

    Args:
        placements_of: the placements that the backend has for each collective.
    """
    cases = [
        case
        for name in choices.collectives
        for mode in choices.modes
        for dtype, op in _kinds(choices, name)
        for placement in _placements(choices, placements_of[name])
        for case in _of_sizes(choices, name, mode, dtype, op, placement, world_size)
    ]
    order = [[Point(case, cycle) for case in cases] for cycle in range(choices.cycles)]
    if choices.shuffle is not None:
        for cycle, row in enumerate(order):
            random.Random(choices.shuffle * 1_000_003 + cycle).shuffle(row)
    return [point for row in order for point in row]


def _kinds(choices: Choices, name: str) -> list[tuple[str | None, str | None]]:
    """The (dtype, operator) pairs of a collective: no dtype for barrier, no operator where nothing is reduced."""
    collective = COLLECTIVES[name]
    if not collective.moves:
        return [(None, None)]
    return [(dtype, op) for dtype in choices.dtypes for op in (choices.operators if collective.reduces else (None,))]


def _placements(choices: Choices, exist: tuple[Placement | None, ...]) -> tuple[Placement | None, ...]:
    """Those asked for, also where the backend lacks them (they are then left out with that reason), else all."""
    return exist if None in exist or choices.placements is None else choices.placements


def _of_sizes(
    choices: Choices, name: str, mode: Mode, dtype: str | None, op: str | None, placement: Placement | None, n: int
) -> list[Case]:
    collective = COLLECTIVES[name]
    width = ELEMENT_BYTES[dtype] if dtype else 1
    elements = dict.fromkeys(collective.elements(size, width, n) for size in choices.sizes)
    root = choices.root if collective.rooted else None
    in_graph = choices.calls_in_graph if mode == "graph" else 1
    cases = [Case(name, count, dtype, op, root, placement, mode, in_graph) for count in elements]
    if not choices.with_compute or mode == "graph":
        return cases
    return [*cases, *(replace(case, beside="compute") for case in cases if case.message_bytes >= BESIDE_FROM)]


def buffer_bytes(case: Case, world_size: int) -> tuple[int, int]:
    """Bytes of a rank's send and receive buffer (0 and the whole message when in place); the root's, if it has more."""
    width = ELEMENT_BYTES[case.dtype] if case.dtype else 0
    send = case.definition.buffer_elements("send", case.elements, world_size) * width
    receive = case.definition.buffer_elements("receive", case.elements, world_size) * width
    return (max(send, receive), 0) if case.placement == "in" else (send, receive)


@dataclass(frozen=True)
class Memory:
    """What a rank may allocate and what the two slabs take (bytes).

    Attributes:
        copied: collectives whose whole message the library copies for itself during a call.
    """

    available: int
    cache: int
    rotate: bool
    copied: frozenset[str] = frozenset()

    def slabs(self, cases: Sequence[Case], world_size: int) -> tuple[int, int]:
        """The size of the send and of the receive slab that hold every one of the cases."""
        pairs = [buffer_bytes(case, world_size) for case in cases]
        floor = 2 * self.cache if self.rotate else 0
        send = max([floor, *(pair[0] for pair in pairs)])
        receive = max((max(floor, pair[1]) for pair in pairs if pair[1]), default=0)
        return send, receive

    def refusals(self, cases: Iterable[Case], world_size: int) -> dict[Case, str]:
        """The cases that are left out, with the numbers: the largest first, until the slabs of the others fit."""
        left = sorted(set(cases), key=lambda case: (sum(buffer_bytes(case, world_size)), case.elements))
        refused = {}
        while left and (needed := self._needed(left, world_size)) > self.available * USABLE:
            refused[left.pop()] = self._reason(needed)
        return refused

    def _needed(self, cases: Sequence[Case], world_size: int) -> int:
        copies = (case.message_bytes for case in cases if case.collective in self.copied)
        return sum(self.slabs(cases, world_size)) + max(copies, default=0)

    def _reason(self, needed: int) -> str:
        what = "buffers and the library's copies" if self.copied else "buffers"
        words = f"{what} up to this size need {format_size_short(needed)} a rank"
        rotating = 4 * self.cache if self.rotate else 0
        if rotating > self.available * USABLE:
            words += f" (rotating past the cache alone {format_size_short(rotating)}: --buffers same needs none of it)"
        free = format_size_short(self.available)
        return f"{words}, and may take {100 * USABLE:.0f} % of the {free} a rank that are free"


def expected_seconds(case: Case, limit: float, samples: int | None) -> float:
    """About how long a point takes before anything is known: its limit, or its calls, and what goes around them."""
    call = ASSUMED_LATENCY + case.message_bytes / ASSUMED_RATE
    return max(limit if samples is None else 0.0, (samples or 6) * call) + 4 * call + AROUND
