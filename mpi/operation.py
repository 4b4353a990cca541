"""One collective on MPI, timed on the host's clock.

isolated   all ranks aligned, then one call.
pipelined  aligned, then calls back to back, the time shared out among them.

Ranks are aligned by `Seat.align`; the skew that it leaves is in the file, in the gap between slowest and fastest rank.
The clock is perf_counter: nanoseconds everywhere, where MPI_Wtime may tick in microseconds; ranks never compare
readings, only differences.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from math import inf
from time import perf_counter

from commbench.measuring.payload import Payload
from commbench.measuring.seam import Case
from mpi.calls import Arguments, Seat, call_of
from mpi.implementation import MPI
from mpi.memory import Array, Memory, Slabs

Call = Callable[[], object]

RING = 64  # calls that are kept: persistent ones, which are meant to be started again, and those of few, large slices


class MpiOperation:
    """One collective on slices of the backend's slabs.

    Args:
        memory: where the slabs are.
        persistent: call by MPI_Start and MPI_Wait on requests that MPI_…_init made beforehand, each bound to its slice.
    """

    def __init__(self, case: Case, seat: Seat, memory: Memory, slabs: Slabs, *, persistent: bool = False) -> None:
        self._case, self._seat, self._memory, self._slabs = case, seat, memory, slabs
        self._dtype = memory.dtype(case.dtype or "uint8")
        self._payload = Payload(case.dtype or "uint8", case.op, seat.size, wraps=False).telling(case.root)
        self._sent = case.definition.buffer_elements("send", case.elements, seat.size)
        self._received = case.definition.buffer_elements("receive", case.elements, seat.size)
        self._grows = case.placement == "in" and case.definition.reduces
        self._laps = self._payload.calls_in_place if self._grows else inf
        slab = slabs.send
        if slab.filled_with != (self._payload.timed, seat.rank):
            slab.fill(self._payload.timed, seat.rank, self._dtype)
        slab.begin()
        self._slices = slabs.slices(case, seat.size)
        self._requests: list[MPI.Prequest] = []
        self._ring: list[Call] = []
        self._next = 0  # place in the ring
        if persistent:
            self._slices = min(RING, self._slices)
            self._requests = [self._request(self._buffers()) for _ in range(self._slices)]
            self._ring = [partial(_start_and_wait, request.Start, request.Wait) for request in self._requests]
        elif self._slices <= RING:
            self._ring = [self._bind(self._buffers()) for _ in range(self._slices)]
        self.most_calls = max(1.0, self._laps * self._slices)

    def _buffers(self) -> tuple[Array, Array]:
        """The next send and receive slices."""
        rotate, rank = self._slabs.rotate, self._seat.rank
        if self._case.placement != "in":
            return (
                self._slabs.send.take(self._sent, self._dtype, rotate=rotate),
                self._slabs.receive.take(self._received, self._dtype, rotate=rotate),
            )
        whole = self._slabs.send.take(max(self._sent, self._received), self._dtype, rotate=rotate)
        shard = min(self._sent, self._received)
        match self._case.collective:
            case "reduce_scatter":
                return whole, whole[:shard]
            case "all_gather" | "gather":
                return whole[rank * shard :][:shard], whole
            case "scatter":
                return whole, whole[rank * shard :][:shard]
        return whole, whole

    def _prepared(self, buffers: tuple[Array, Array]) -> tuple[str, Arguments]:
        send, receive = map(self._memory.words, buffers)
        return call_of(self._case, send, receive, self._seat)

    def _bind(self, buffers: tuple[Array, Array]) -> Call:
        name, arguments = self._prepared(buffers)
        return partial(getattr(self._seat.group, name), *arguments)

    def _request(self, buffers: tuple[Array, Array]) -> MPI.Prequest:
        name, arguments = self._prepared(buffers)
        request: MPI.Prequest = getattr(self._seat.group, f"{name}_init")(*arguments)
        return request

    def _calls(self, calls: int) -> list[Call]:
        """What one sample runs, bound beforehand; refills the slab first where in-place results could overflow."""
        slab, laps = self._slabs.send, -(-calls // self._slices)
        if slab.laps + laps + self._slabs.rotate > self._laps:  # a lap that has begun counts, too
            slab.fill(self._payload.timed, self._seat.rank, self._dtype)
        if not self._ring:
            return [self._bind(self._buffers()) for _ in range(calls)]
        slab.laps += laps
        first, self._next = self._next, (self._next + calls) % self._slices
        return [self._ring[(first + number) % self._slices] for number in range(calls)]

    def time(self, calls: int) -> float:
        """Align, make `calls` calls, return this rank's seconds for all of them."""
        bound = self._calls(calls)
        self._memory.settle()
        if calls == 1:  # without the loop's tenth of a microsecond
            call = bound[0]
            self._seat.align()
            begun = perf_counter()
            call()
            return perf_counter() - begun
        self._seat.align()
        begun = perf_counter()
        for call in bound:
            call()
        return perf_counter() - begun

    def take(self) -> Call:
        """One call, bound to the next slices."""
        return self._calls(1)[0]

    def wrong(self) -> int:
        """One checked call on fresh slices."""
        memory = self._memory
        send, receive = self._buffers()
        rank, elements = self._seat.rank, self._case.elements
        memory.poison(receive)
        memory.fill(send, self._payload.table(rank))
        memory.settle()
        self._call_once((send, receive))
        wrong = position = 0
        for piece in self._case.definition.expected(rank, self._seat.size, self._case.root or 0, elements):
            part = receive[position : position + piece.length]
            wrong += memory.count_wrong(part, self._payload.expected(piece), self._payload.tolerance)
            position += piece.length
        return wrong

    def _call_once(self, buffers: tuple[Array, Array]) -> None:
        if not self._requests:
            self._bind(buffers)()
            return
        request = self._request(buffers)
        _start_and_wait(request.Start, request.Wait)
        request.Free()

    def close(self) -> None:
        """Give the slab's payload back where in-place results have replaced it."""
        for request in self._requests:
            request.Free()
        self._requests, self._ring = [], []
        if self._case.placement == "in":
            self._slabs.send.restore(self._dtype)


def _start_and_wait(start: Call, wait: Call) -> None:
    start()
    wait()


def time_in_order(operations: Sequence[MpiOperation], seat: Seat) -> list[float]:
    """Align, make one call of each operation back to back, return this rank's seconds of each."""
    bound = [operation.take() for operation in operations]
    seat.align()
    readings = [perf_counter()]
    for call in bound:
        call()
        readings.append(perf_counter())
    return [after - before for before, after in pairwise(readings)]
