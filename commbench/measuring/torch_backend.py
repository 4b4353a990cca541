"""The Backend on torch.distributed: gloo on CPUs with the host's clock, NCCL on GPUs with the device's.

isolated   all ranks aligned by a one-element all_reduce, then one call. On a GPU both are queued on one stream
           without waiting in between, so the time holds the launch of that call, as a training step pays it.
pipelined  aligned, then calls back to back, the time shared out among them.
graph      the calls are captured once in a CUDA graph; aligned, then the graph is replayed. No launches from Python.
"""

import time
from collections.abc import Sequence
from itertools import pairwise
from math import inf
from typing import Literal

import torch
import torch.distributed as dist

from commbench.collectives import ELEMENT_BYTES
from commbench.measuring.payload import Payload
from commbench.measuring.seam import Case
from commbench.measuring.session import Buffers
from commbench.measuring.torch_buffers import ALIGNMENT, POISON, Slab, count_wrong, fill
from commbench.measuring.torch_calls import PLACEMENTS, Call, bind
from commbench.measuring.torch_world import TorchWorld
from commbench.sweepfile.records import Clock

DTYPES = {
    "float8_e4m3": torch.uint8, "float8_e5m2": torch.uint8,  # moved as bytes
    **{name: getattr(torch, name) for name in ELEMENT_BYTES if not name.startswith("float8")},
}  # fmt: skip


class TorchBackend:
    """torch.distributed on one device.

    Args:
        world: all ranks that take part and agree.
        buffers: sizes of the two slabs, which must hold every buffer that will be asked for.
        groups: ranks (of the world) of each collective, as they were formed with the world; one of all if empty.
    """

    def __init__(
        self,
        world: TorchWorld,
        backend: str,
        device: torch.device,
        *,
        buffers: Buffers,
        groups: Sequence[Sequence[int]] = (),
    ) -> None:
        self.name, self.world, self.device, self.rotate = backend, world, device, buffers.rotate
        self.clock: Clock = "device" if device.type == "cuda" else "host"
        self.groups = tuple(tuple(group) for group in groups) or (tuple(range(world.size)),)
        group = next(group for group in self.groups if world.rank in group)
        self.rank, self.ranks = group.index(world.rank), [world.ranks[rank] for rank in group]
        assert world.collective is not None, "a backend measures in the groups of a part"
        self.group = world.collective
        self._align = torch.zeros(1, device=device)
        self._refusals: dict[tuple[str, str | None, str | None, str | None, str], str | None] = {}
        self._sizes = {"send": buffers.send_bytes, "receive": buffers.receive_bytes}
        self._slabs: dict[str, Slab] = {}
        self.align()  # connects the ranks: what goes wrong in that should not be taken for a point's fault

    def slab(self, side: Literal["send", "receive"]) -> Slab:
        """The slab of a side, allocated at its first use."""
        if side not in self._slabs:
            self._slabs[side] = Slab(-(-self._sizes[side] // ALIGNMENT) * ALIGNMENT, self.device)
        return self._slabs[side]

    def align(self) -> None:
        """Leave no rank before all are here: on the device's queue on GPUs, on the host on CPUs."""
        dist.all_reduce(self._align, group=self.group)

    def refusal(self, case: Case) -> str | None:
        """Why this backend cannot run the case. Found by running it once on one element a rank."""
        if case.placement not in PLACEMENTS[case.collective]:
            return f"torch.distributed has no {case.collective} with placement {case.placement!r}"
        if case.mode == "graph" and self.device.type != "cuda":
            return "graph mode replays CUDA graphs and needs a GPU"
        if case.mode == "graph" and case.collective == "barrier":
            return "torch's barrier waits on the host, which a CUDA graph cannot capture"
        if case.collective == "send_recv" and len(self.ranks) < 2:
            return "send_recv needs two ranks"
        if case.dtype and case.dtype.startswith("float8") and case.op:
            return "fp8 is moved, not reduced: no backend defines its sum"
        key = (case.collective, case.dtype, case.op, case.placement, "")
        if key not in self._refusals:
            self._refusals[key] = self._probe(case)
        return self._refusals[key]

    def _probe(self, case: Case) -> str | None:
        definition, size = case.definition, len(self.ranks)
        tiny = Case(case.collective, definition.elements(1, 1, size), case.dtype, case.op, case.root, case.placement,
                    "pipelined")  # fmt: skip
        failure = ""
        try:
            TorchOperation(self, tiny, probing=True).wrong()
        except (RuntimeError, ValueError, TypeError, NotImplementedError, AttributeError) as error:
            failure = str(error).strip().splitlines()[0][:200]
            if "closed by peer" in failure or "Connection" in failure:
                raise  # a rank died: that is no answer about the dtype
        failures = [f for f in self.world.exchange(failure) if f]
        return f"{self.name} cannot run it: {failures[0]}" if failures else None

    def notes(self, case: Case) -> tuple[str, ...]:
        """What differs from the collective's name."""
        said = []
        if self.name == "gloo" and case.collective == "reduce_scatter":
            said.append("emulated: gloo runs reduce_scatter as an all_reduce and keeps one shard")
        if case.dtype and case.dtype.startswith("float8"):
            said.append("fp8 is moved as bytes")
        return tuple(said)

    def prepare(self, case: Case) -> "TorchOperation":
        """The operation with its buffers; captures the graph in graph mode. Collective."""
        return TorchOperation(self, case)

    def resolution(self) -> float:
        """Of CUDA events (documented as about 0.5 us), or of the host clock as two readings show it (s)."""
        if self.device.type == "cuda":
            return 0.5e-6
        readings = [time.perf_counter() for _ in range(200)]
        return min(b - a for a, b in pairwise(readings) if b > a)


class TorchOperation:
    """One collective on slices of the backend's slabs."""

    def __init__(self, backend: TorchBackend, case: Case, *, probing: bool = False) -> None:
        self._backend, self._case = backend, case
        self._dtype = DTYPES[case.dtype or "float32"]
        self._ranks = len(backend.ranks)
        self._payload = Payload(case.dtype or "float32", case.op, self._ranks)
        definition = case.definition
        self._sent = definition.buffer_elements("send", case.elements, self._ranks)
        self._received = definition.buffer_elements("receive", case.elements, self._ranks)
        self._graph: torch.cuda.CUDAGraph | None = None
        grows = case.placement == "in" and definition.reduces
        self._laps = self._payload.calls_in_place if grows else inf
        self._private = Slab(4 * ALIGNMENT * max(8, self._ranks), backend.device) if probing else None
        slab = self._source
        if slab.filled_with != (self._payload.timed, backend.rank):
            slab.fill(self._payload.timed, backend.rank, self._dtype)
        slab.begin()
        self.most_calls = self._most_calls()
        if case.mode == "graph" and not probing:
            self._capture()

    @property
    def _source(self) -> Slab:
        return self._private or self._backend.slab("send")

    def _most_calls(self) -> float:
        if self._laps == inf:
            return inf
        slots = 1
        if self._backend.rotate:
            size = max(self._sent, self._received) * self._dtype.itemsize
            slots = max(1, self._source.memory.numel() // (-(-size // ALIGNMENT) * ALIGNMENT))
        return max(1.0, self._laps * slots)

    def _buffers(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The next send and receive slices."""
        rotate = self._backend.rotate
        if self._case.placement != "in":
            target = self._private or self._backend.slab("receive")
            return (
                self._source.take(self._sent, self._dtype, rotate=rotate),
                target.take(self._received, self._dtype, rotate=rotate),
            )
        whole = self._source.take(max(self._sent, self._received), self._dtype, rotate=rotate)
        shard = whole[self._backend.rank * min(self._sent, self._received) :][: min(self._sent, self._received)]
        match self._case.definition.send, self._case.definition.receive:
            case "shard", "whole":
                return shard, whole
            case "whole", "shard":
                return whole, shard
        return whole, whole

    def _bind(self, buffers: tuple[torch.Tensor, torch.Tensor]) -> Call:
        return bind(self._case, *buffers, self._backend.group, self._backend.ranks)

    def _calls(self, calls: int) -> list[Call]:
        """What one sample runs, bound beforehand; refills the slab first where in-place results could overflow."""
        if self._source.laps + 1 >= self._laps:
            self._source.fill(self._payload.timed, self._backend.rank, self._dtype)
        if self._graph is not None:
            self._source.laps += calls // self._case.calls_in_graph
            return [self._graph.replay] * (calls // self._case.calls_in_graph)
        return [self._bind(self._buffers()) for _ in range(calls)]

    def time(self, calls: int) -> float:
        """Align, make `calls` calls, return this rank's seconds for all of them."""
        bound = self._calls(calls)
        if self._backend.device.type != "cuda":
            self._backend.align()
            begun = time.perf_counter()
            for call in bound:
                call()
            return time.perf_counter() - begun
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        self._backend.align()
        begin.record()
        for call in bound:
            call()
        end.record()
        end.synchronize()
        return float(begin.elapsed_time(end)) * 1e-3

    def _capture(self) -> None:
        """Capture the case's calls on successive slices."""
        bound = [self._bind(self._buffers()) for _ in range(self._case.calls_in_graph)]
        bound[0]()  # NCCL connects at the first call, which must not happen while capturing
        torch.cuda.synchronize()
        self._graph = torch.cuda.CUDAGraph()
        # thread_local: NCCL's watchdog thread asks for events meanwhile, which a global capture would forbid
        with torch.cuda.graph(self._graph, capture_error_mode="thread_local"):
            for call in bound:
                call()

    def wrong(self) -> int:
        """One checked call on fresh slices (in graph mode too: a graph replays the same call)."""
        send, receive = self._buffers()
        rank, elements = self._backend.rank, self._case.elements
        receive.view(torch.uint8).fill_(POISON)
        fill(send, self._payload.table(rank))
        self._bind((send, receive))()
        if self._backend.device.type == "cuda":
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
        if self._case.placement == "in" and self._private is None:
            self._source.restore(self._dtype)
