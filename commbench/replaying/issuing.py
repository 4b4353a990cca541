"""A schedule's calls as cases of the seam, on the groups of ranks that each of them needs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from commbench.collectives import Placement
from commbench.dtypes import ELEMENT_BYTES
from commbench.errors import LaunchError
from commbench.measuring.plan import Memory
from commbench.measuring.seam import Backend, Case, World
from commbench.measuring.session import Buffers, Session
from commbench.sweepfile.records import Mode
from commbench.training.call import Call, Group
from commbench.training.sources import placement

Placements = Mapping[str, tuple[Placement | None, ...]]


def ranks_of(group: Group, world_size: int) -> tuple[tuple[int, ...], ...]:
    """All groups of this kind: ranks `stride` apart, `size` of them together."""
    size, stride = group.size, group.stride
    span = size * stride
    return tuple(
        tuple(range(base + first, base + span, stride))
        for base in range(0, world_size, span)
        for first in range(stride)
    )


def open_backends(
    session: Session, world: World, calls: Sequence[Call], cases: Sequence[Case], memory: Memory
) -> dict[Group, Backend]:
    """A backend for each kind of group, its buffers allocated. Collective.

    Raises:
        LaunchError: the buffers do not fit.
    """
    backends = {}
    for group in dict.fromkeys(call.group for call in calls):
        own = [case for call, case in zip(calls, cases, strict=True) if call.group == group]
        send, receive = memory.slabs(own, group.size)
        if refused := memory.refusals(own, group.size):
            raise LaunchError("the step's buffers do not fit", expected="memory for its largest message",
                              found=next(iter(refused.values())), fix="replay a smaller model")  # fmt: skip
        groups = ranks_of(group, world.size)
        part = session.part(world, world.size, groups)
        assert part is not None, "every rank is in every part of a replay"
        backends[group] = session.open(part, groups, Buffers(send, receive, memory.rotate))
    return backends


def case_of(call: Call, strategy: str, placements: Placements, mode: Mode) -> Case:
    """The case that a call is, placed as the framework does where the backend can."""
    wanted, exist = placement(call.collective, strategy), placements[call.collective]
    place = wanted if wanted in exist else exist[0]
    return Case(call.collective, call.elements, call.dtype, call.op, call.root, place, mode)


def possible(backend: Backend, case: Case) -> Case:
    """The case, or the nearest one of the same bytes that the backend can run. Collective.

    Raises:
        LaunchError: it can run none.
    """
    reason = None
    for candidate in _candidates(case, len(backend.groups[0])):
        refusal = backend.refusal(candidate)
        if refusal is None:
            return candidate
        reason = reason or refusal
    raise LaunchError(f"{case.collective} cannot be replayed here", expected="a backend that has it",
                      found=f"{backend.name}: {reason}", fix="choose another --backend")  # fmt: skip


def _candidates(case: Case, ranks: int) -> Iterator[Case]:
    yield case
    operators = dict.fromkeys((case.op, "sum")) if case.op else [None]
    for op in operators:
        yield replace(case, op=op)
    whole = case.definition.elements(case.message_bytes, ELEMENT_BYTES["float32"], ranks)
    for op in operators:
        yield replace(case, op=op, dtype="float32", elements=whole)


def as_issued(call: Call, case: Case) -> Call:
    """The call as it is replayed."""
    return replace(call, op=case.op, dtype=case.dtype or call.dtype, elements=case.elements)


def differs(call: Call, issued: Call) -> str | None:
    """In words, where a call is replayed otherwise than the framework issues it."""
    before, after = (" ".join(word for word in (each.op, each.dtype) if word) for each in (call, issued))
    return f"{call.collective}: {before} replayed as {after}" if before != after else None
