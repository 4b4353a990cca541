"""What the measuring core relies on, checked on any backend: the fake here, torch and MPI under their launchers.

`check_backend` is collective. Failures are AssertionErrors that name the case; a rank that fails alone leaves the
others waiting, so run it under a launcher that ends them.
"""

from collections.abc import Callable, Iterator
from math import inf, isfinite
from typing import cast

from commbench.collectives import COLLECTIVES, Collective, Placement
from commbench.dtypes import ELEMENT_BYTES
from commbench.measuring.seam import Backend, Case, Operation
from commbench.sweepfile.records import Mode

Finite = Callable[[Operation], bool]  # whether an operation's buffers hold finite numbers only, where a test can see


def check_backend(
    backend: Backend,
    *,
    dtypes: tuple[str, ...] = ("float32",),
    modes: tuple[Mode, ...] = ("isolated", "pipelined"),
    message_bytes: int = 4096,
    finite: Finite | None = None,
) -> list[Case]:
    """Check every collective and placement that the backend has. Collective.

    Args:
        message_bytes: size before rounding; the backend's buffers must hold it.
        finite: looks into an operation's buffers after many in-place calls.

    Returns:
        The cases that ran, so that a caller can see that those it counts on are among them.
    """
    _check_world(backend)
    ran = []
    for case in cases(backend, dtypes, modes, message_bytes):
        refusals = backend.world.exchange(backend.refusal(case))
        assert len(set(refusals)) == 1, f"{case}: ranks answer differently: {refusals}"
        assert refusals[0] != "", f"{case}: a refusal without a reason"
        if refusals[0] is None:
            _check_case(backend, case, finite)
            ran.append(case)
    return ran


def cases(backend: Backend, dtypes: tuple[str, ...], modes: tuple[Mode, ...], message_bytes: int) -> Iterator[Case]:
    """Every combination, also those that the backend refuses."""
    ranks = len(backend.groups[0])
    for mode in modes:
        for collective in COLLECTIVES.values():
            for dtype in dtypes if collective.moves else (None,):
                op = "sum" if collective.reduces else None
                elements = collective.elements(message_bytes, ELEMENT_BYTES[dtype] if dtype else 1, ranks)
                for placement in (*cast(tuple[Placement, ...], ("in", "out")), None):
                    for root in _roots(collective, ranks):
                        in_graph = 4 if mode == "graph" else 1
                        yield Case(collective.name, elements, dtype, op, root, placement, mode, in_graph)


def _roots(collective: Collective, ranks: int) -> tuple[int | None, ...]:
    return tuple({0, ranks - 1}) if collective.rooted else (None,)


def _check_world(backend: Backend) -> None:
    world = backend.world
    ours = [[float(rank), 10.0 * rank] for rank in range(world.size)]
    assert ours == world.gather([world.rank, 10.0 * world.rank]).tolist(), "gather: a row per rank, a column per value"
    items = [{"rank": rank} for rank in range(world.size)]
    assert items == world.exchange({"rank": world.rank}), "exchange: an item per rank"
    assert sorted(rank for group in backend.groups for rank in group) == list(range(world.size)), (
        "groups: each rank once"
    )
    assert 0.0 < backend.resolution() < 1e-3, "resolution: seconds of a clock that can time a collective"
    assert backend.clock in ("host", "device")


def _check_case(backend: Backend, case: Case, finite: Finite | None) -> None:
    unit = case.calls_in_graph
    for attempt in ("first", "second"):  # what the first one leaves in the buffers must not disturb the second
        operation = backend.prepare(case)
        assert operation.most_calls >= 1, f"{case}: an operation that may not be called"
        assert operation.wrong() == 0, f"{case}: wrong elements before timing ({attempt} time)"
        for calls in (unit, 3 * unit):
            if calls <= max(unit, operation.most_calls):
                seconds = operation.time(calls)
                assert isfinite(seconds), f"{case}: {seconds} s"
                assert seconds > 0.0, f"{case}: {seconds} s"
        _call_often(operation, case, finite)
        assert operation.wrong() == 0, f"{case}: wrong elements after timing ({attempt} time)"
        operation.close()
    assert all(isinstance(note, str) and note for note in backend.notes(case)), f"{case}: an empty note"


def _call_often(operation: Operation, case: Case, finite: Finite | None) -> None:
    """Many samples as large as allowed: in place, sums grow with each call and must be refilled in time."""
    calls = case.calls_in_graph
    if case.mode != "graph" and operation.most_calls != inf:
        calls = int(min(operation.most_calls, 50))
    for _ in range(10):
        operation.time(calls)
        assert finite is None or finite(operation), f"{case}: buffers overflowed after samples of {calls} calls"
