"""One collective on torch.distributed, timed in one of three modes.

isolated   all ranks aligned by a one-element all_reduce, then one call. On a GPU both are queued on one stream
           without waiting in between, so the time holds the launch of that call, as a training step pays it.
pipelined  aligned, then calls back to back, the time shared out among them.
graph      the calls are captured once in a CUDA graph; aligned, then the graph is replayed. No launches from Python.
"""

import time
from collections.abc import Sequence
from itertools import pairwise
from math import inf

import torch

from commbench.dtypes import ELEMENT_BYTES
from commbench.measuring.payload import Payload
from commbench.measuring.seam import Case
from commbench.measuring.torch_buffers import POISON, Slabs, count_wrong, fill
from commbench.measuring.torch_calls import Call, Seat, bind
from commbench.measuring.torch_compute import Compute

DTYPES = {
    "float8_e4m3": torch.uint8, "float8_e5m2": torch.uint8,  # moved as bytes
    **{name: getattr(torch, name) for name in ELEMENT_BYTES if not name.startswith("float8")},
}  # fmt: skip


def laps_in_place(case: Case, ranks: int) -> float:
    """Calls on one slice before its values could overflow; inf where calls do not change their input."""
    if case.placement != "in" or not case.definition.reduces or case.dtype is None:
        return inf
    return Payload(case.dtype, case.op, ranks).calls_in_place


class TorchOperation:
    """One collective on slices of the backend's slabs.

    Args:
        compute: what keeps the device busy meanwhile, None for nothing. `alone` counts samples that it did not last.
    """

    def __init__(self, case: Case, seat: Seat, slabs: Slabs, compute: Compute | None = None) -> None:
        self._case, self._seat, self._slabs, self._compute = case, seat, slabs, compute
        self._seconds_each, self.alone = 0.0, 0
        self._dtype = DTYPES[case.dtype or "float32"]
        self._ranks = len(seat.ranks)
        self._payload = Payload(case.dtype or "float32", case.op, self._ranks).telling(case.root)
        definition = case.definition
        self._sent = definition.buffer_elements("send", case.elements, self._ranks)
        self._received = definition.buffer_elements("receive", case.elements, self._ranks)
        self._graph: torch.cuda.CUDAGraph | None = None
        self._replayed: tuple[torch.Tensor, torch.Tensor] | None = None
        self._laps = laps_in_place(case, self._ranks)
        slab = slabs.send
        if slab.filled_with != (self._payload.timed, seat.rank):
            slab.fill(self._payload.timed, seat.rank, self._dtype)
        slab.begin()
        self._slices = slabs.slices(case, self._ranks)
        self.most_calls = self._most_calls()
        if case.mode == "graph":
            self._capture()

    def _most_calls(self) -> float:
        """Calls of one sample that no slice takes badly: laps times slices, in whole graphs."""
        if self._laps == inf:
            return inf
        if self._case.mode == "graph":
            return max(1.0, self._laps // self._laps_of(self._case.calls_in_graph)) * self._case.calls_in_graph
        return max(1.0, self._laps * self._slices)

    def _laps_of(self, calls: int) -> int:
        """How often `calls` calls come back to the same slice, the first time included."""
        return -(-calls // self._slices)

    def _buffers(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The next send and receive slices."""
        rotate = self._slabs.rotate
        if self._case.placement != "in":
            return (
                self._slabs.send.take(self._sent, self._dtype, rotate=rotate),
                self._slabs.receive.take(self._received, self._dtype, rotate=rotate),
            )
        whole = self._slabs.send.take(max(self._sent, self._received), self._dtype, rotate=rotate)
        shard = whole[self._seat.rank * min(self._sent, self._received) :][: min(self._sent, self._received)]
        match self._case.definition.send, self._case.definition.receive:
            case "shard", "whole":
                return shard, whole
            case "whole", "shard":
                return whole, shard
        return whole, whole

    def _bind(self, buffers: tuple[torch.Tensor, torch.Tensor]) -> Call:
        return bind(self._case, *buffers, self._seat)

    def _calls(self, calls: int) -> list[Call]:
        """What one sample runs, bound beforehand; refills the slab first where in-place results could overflow."""
        slab, replays = self._slabs.send, calls // self._case.calls_in_graph
        laps = self._laps_of(calls) if self._graph is None else replays * self._laps_of(self._case.calls_in_graph)
        if slab.laps + laps + self._slabs.rotate > self._laps:  # a lap that has begun counts, too
            slab.fill(self._payload.timed, self._seat.rank, self._dtype)
        if self._graph is not None:
            slab.laps += laps
            return [self._graph.replay] * replays
        return [self._bind(self._buffers()) for _ in range(calls)]

    def time(self, calls: int) -> float:
        """Align, make `calls` calls, return this rank's seconds for all of them."""
        bound = self._calls(calls)
        if self._seat.device.type != "cuda":
            self._seat.align()
            begun = time.perf_counter()
            for call in bound:
                call()
            return time.perf_counter() - begun
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        if self._compute is not None:
            self._compute.run_for(calls * self._seconds_each)
        self._seat.align()
        begin.record()
        for call in bound:
            call()
        end.record()
        end.synchronize()
        seconds = float(begin.elapsed_time(end)) * 1e-3
        if self._compute is not None:
            self.alone = self.alone + 1 if self._compute.ended_early() and self._seconds_each else self.alone
            self._seconds_each = seconds / calls
        return seconds

    def take(self) -> Call:
        """One call, bound to the next slices."""
        return self._calls(1)[0]

    def _capture(self) -> None:
        """Capture the case's calls on successive slices."""
        slices = [self._buffers() for _ in range(self._case.calls_in_graph)]
        bound = [self._bind(buffers) for buffers in slices]
        if self._case.placement != "in" or not any(_overlap(slices[-1], before) for before in slices[:-1]):
            self._replayed = slices[-1]
        bound[0]()  # NCCL connects at the first call, which must not happen while capturing
        torch.cuda.synchronize()
        self._graph = torch.cuda.CUDAGraph()
        # thread_local: NCCL's watchdog thread asks for events meanwhile, which a global capture would forbid
        with torch.cuda.graph(self._graph, capture_error_mode="thread_local"):
            for call in bound:
                call()

    def wrong(self) -> int:
        """One checked call on fresh slices; in graph mode one replay, checked on the slices of its last call.

        Where calls in place share slices, more than one call's result stands there after a replay: then an ordinary
        call is checked instead.
        """
        send, receive = self._replayed or self._buffers()
        rank, elements = self._seat.rank, self._case.elements
        receive.view(torch.uint8).fill_(POISON)
        fill(send, self._payload.table(rank))
        if self._graph is not None and self._replayed:
            self._graph.replay()
        else:
            self._bind((send, receive))()
        if self._seat.device.type == "cuda":
            torch.cuda.synchronize()
        wrong = position = 0
        for piece in self._case.definition.expected(rank, self._ranks, self._case.root or 0, elements):
            part = receive[position : position + piece.length]
            wrong += count_wrong(part, self._payload.expected(piece), self._payload.tolerance)
            position += piece.length
        return wrong

    def close(self) -> None:
        """Give the slab's payload back where in-place results have replaced it."""
        self._graph = None
        if self._case.placement == "in":
            self._slabs.send.restore(self._dtype)


def _overlap(one: tuple[torch.Tensor, torch.Tensor], other: tuple[torch.Tensor, torch.Tensor]) -> bool:
    """Whether buffers of two calls in place share memory. Slices of a slab overlap where a lap ends in between."""
    (low, size), (start, length) = (min((part.data_ptr(), -part.nbytes) for part in pair) for pair in (one, other))
    return low < start - length and start < low - size


def time_in_order(operations: Sequence[TorchOperation], seat: Seat) -> list[float]:
    """Align, make one call of each operation back to back, return this rank's seconds of each.

    On a GPU an event stands between two calls: the time of a call is then from the end of the one before.
    """
    bound = [operation.take() for operation in operations]
    if seat.device.type != "cuda":
        seat.align()
        readings = [time.perf_counter()]
        for call in bound:
            call()
            readings.append(time.perf_counter())
        return [after - before for before, after in pairwise(readings)]
    events = [torch.cuda.Event(enable_timing=True) for _ in range(len(bound) + 1)]  # type: ignore[no-untyped-call]
    seat.align()
    events[0].record()
    for call, event in zip(bound, events[1:], strict=True):
        call()
        event.record()
    events[-1].synchronize()
    return [float(before.elapsed_time(after)) * 1e-3 for before, after in pairwise(events)]
