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
from mpi.buffers import POISON, Array, Slabs, count_wrong, fill
from mpi.calls import KINDS, Seat, call_of
from mpi.implementation import MPI

Call = Callable[[], object]

RING = 64  # requests of a persistent collective: each is started again and again, as it is meant to be


class MpiOperation:
    """One collective on slices of the backend's slabs.

    Args:
        persistent: call by MPI_Start and MPI_Wait on requests that MPI_…_init made beforehand, each bound to its slice.
    """

    def __init__(self, case: Case, seat: Seat, slabs: Slabs, *, persistent: bool = False) -> None:
        self._case, self._seat, self._slabs = case, seat, slabs
        self._dtype = KINDS[case.dtype or "uint8"].array
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
        if persistent:
            self._slices = min(RING, self._slices)
            self._requests = [self._request(self._buffers()) for _ in range(self._slices)]
            self._ring = [partial(_start_and_wait, request.Start, request.Wait) for request in self._requests]
            self._next = 0
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

    def _bind(self, buffers: tuple[Array, Array]) -> Call:
        name, arguments = call_of(self._case, *buffers, self._seat)
        return partial(getattr(self._seat.group, name), *arguments)

    def _request(self, buffers: tuple[Array, Array]) -> MPI.Prequest:
        name, arguments = call_of(self._case, *buffers, self._seat)
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
        send, receive = self._buffers()
        rank, elements = self._seat.rank, self._case.elements
        receive.view("uint8").fill(POISON)
        fill(send, self._payload.table(rank))
        self._call_once((send, receive))
        wrong = position = 0
        for piece in self._case.definition.expected(rank, self._seat.size, self._case.root or 0, elements):
            part = receive[position : position + piece.length]
            wrong += count_wrong(part, self._payload.expected(piece), self._payload.tolerance)
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
