"""A library that needs no processes: ranks are threads of one process, and calls take the time that a law says.

Nothing sleeps: `FakeOperation.time` returns what the call would have taken. `gather` and `exchange` are real
collectives between the threads, so a rank that takes another decision than the others is caught as it would be in a
job, only sooner: after PATIENCE seconds.
"""

import pickle
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from commbench.collectives import COLLECTIVES, Placement
from commbench.measuring.payload import Payload
from commbench.measuring.seam import Case, Operation, World
from commbench.sweepfile.records import Clock

PATIENCE = 10.0  # seconds after which ranks that wait for each other have diverged
T = TypeVar("T")


class Meeting:
    """Where the threads of `size` ranks meet."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.barrier = threading.Barrier(size, timeout=PATIENCE)
        self._slots: list[Any] = [None] * size

    def share(self, rank: int, item: Any) -> list[Any]:
        """Every rank's item."""
        self._slots[rank] = item
        self.barrier.wait()
        items = list(self._slots)
        self.barrier.wait()
        return items


class FakeWorld:
    """One rank's view of a meeting; see `commbench.measuring.seam.World`."""

    def __init__(self, rank: int, meeting: Meeting) -> None:
        self.rank, self.meeting = rank, meeting
        self.size = meeting.size

    def gather(self, values: Sequence[float]) -> npt.NDArray[np.float64]:
        rows = self.meeting.share(self.rank, [float(value) for value in values])
        assert len({len(row) for row in rows}) == 1, f"ranks gather different numbers of values: {rows}"
        return np.array(rows)

    def exchange(self, item: Any) -> list[Any]:
        return [pickle.loads(post) for post in self.meeting.share(self.rank, pickle.dumps(item))]


def on_ranks(size: int, function: Callable[[FakeWorld], T]) -> list[T]:
    """Run `function` on `size` ranks, a thread each; returns their results, or raises what one of them raised first."""
    meeting = Meeting(size)
    results: list[Any] = [None] * size
    raised: list[BaseException] = []

    def run(rank: int) -> None:
        try:
            results[rank] = function(FakeWorld(rank, meeting))
        except BaseException as error:
            raised.append(error)
            meeting.barrier.abort()

    threads = [threading.Thread(target=run, args=(rank,), daemon=True) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise next((error for error in raised if not isinstance(error, threading.BrokenBarrierError)), raised[0])
    return results


@dataclass(frozen=True)
class Law:
    """How long a call takes, and what goes wrong.

    Attributes:
        latency, rate: seconds and bytes per second of a call.
        noise: standard deviation over the time.
        late: this rank enters `delay` seconds after the others, which wait for it: its own call is the shortest.
        slow: this rank's call takes `delay` seconds longer than the others'.
        wrong: elements that come out wrong, by rank.
        most_calls: of every operation.
        refuses: collectives that the backend cannot run.
    """

    latency: float = 20e-6
    rate: float = 10e9
    noise: float = 0.0
    late: int | None = None
    slow: int | None = None
    delay: float = 5e-6
    wrong: Mapping[int, int] = field(default_factory=dict)
    most_calls: float | None = None
    refuses: tuple[str, ...] = ()

    def seconds(self, rank: int, message_bytes: int) -> float:
        """One call on `rank`, without noise."""
        waiting = self.delay if self.late not in (None, rank) or self.slow == rank else 0.0
        return self.latency + message_bytes / self.rate + waiting


class FakeOperation:
    """See `commbench.measuring.seam.Operation`. `samples` holds the calls of each sample that was asked for."""

    def __init__(self, backend: "FakeBackend", case: Case) -> None:
        self._backend, self.case = backend, case
        grows = case.placement == "in" and case.definition.reduces
        ranks = len(backend.groups[0])
        limit = Payload(case.dtype or "float32", case.op, ranks).calls_in_place if grows else inf
        self.most_calls = limit if backend.law.most_calls is None else backend.law.most_calls
        self.samples: list[int] = []
        self.closed = False

    def time(self, calls: int) -> float:
        assert not self.closed
        self.samples.append(calls)
        backend = self._backend
        one = backend.law.seconds(backend.world.rank, self.case.message_bytes)
        return calls * one * float(np.exp(backend.law.noise * backend.random.standard_normal()))

    def wrong(self) -> int:
        return self._backend.law.wrong.get(self._backend.world.rank, 0)

    def close(self) -> None:
        self.closed = True


class FakeBackend:
    """See `commbench.measuring.seam.Backend`. `operations` holds everything that was prepared."""

    name = "fake"
    clock: Clock = "host"

    def __init__(self, world: World, law: Law, groups: tuple[tuple[int, ...], ...] = ()) -> None:
        self.world, self.law = world, law
        self.groups = groups or (tuple(range(world.size)),)
        self.random = np.random.default_rng(world.rank)
        self.operations: list[FakeOperation] = []

    def refusal(self, case: Case) -> str | None:
        if case.collective in self.law.refuses:
            return f"the fake has no {case.collective}"
        if case.placement not in PLACEMENTS[case.collective]:
            return f"the fake has no {case.collective} with placement {case.placement!r}"
        return None

    def notes(self, case: Case) -> tuple[str, ...]:
        return ("nothing was sent",)

    def prepare(self, case: Case) -> FakeOperation:
        self.operations.append(FakeOperation(self, case))
        return self.operations[-1]

    def time_in_order(self, operations: Sequence[Operation]) -> list[float]:
        return [operation.time(1) for operation in operations]

    def resolution(self) -> float:
        return 1e-7


PLACEMENTS: dict[str, tuple[Placement | None, ...]] = {
    name: (None,) if name == "barrier" else ("in",) if name == "all_reduce" else ("in", "out") for name in COLLECTIVES
}
