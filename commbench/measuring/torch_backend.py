"""The Backend on torch.distributed: gloo on CPUs with the host's clock, NCCL on GPUs with the device's."""

import time
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import cast

import torch

from commbench.measuring.seam import Case, Operation
from commbench.measuring.session import Buffers
from commbench.measuring.torch_buffers import Slabs
from commbench.measuring.torch_calls import PLACEMENTS, Seat
from commbench.measuring.torch_compute import Compute
from commbench.measuring.torch_operation import TorchOperation, laps_in_place, time_in_order
from commbench.measuring.torch_world import TorchWorld
from commbench.sweepfile.records import Clock

EVENT_RESOLUTION = 0.5e-6  # seconds; CUDA documents it for cudaEventElapsedTime


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
        self.name, self.world = backend, world
        self.clock: Clock = "device" if device.type == "cuda" else "host"
        self.groups = tuple(tuple(group) for group in groups) or (tuple(range(world.size)),)
        group = next(group for group in self.groups if world.rank in group)
        assert world.collective, "a backend measures in the groups of a part"
        assert world.together, "whose ranks start together"
        ranks = tuple(world.ranks[rank] for rank in group)
        self._seat = Seat(world.collective, ranks, group.index(world.rank), device, world.together)
        self._slabs = Slabs(device, buffers)
        self._beside: TorchOperation | None = None  # the last operation beside a matrix product
        self._refusals: dict[tuple[str | None, ...], str | None] = {}
        self._seat.align()  # connects the ranks: what goes wrong in that should not be taken for a point's fault

    def refusal(self, case: Case) -> str | None:
        """Why this backend cannot run the case. Found by running it once on one element a rank."""
        size, in_graph = len(self._seat.ranks), case.calls_in_graph
        if case.placement not in PLACEMENTS[case.collective]:
            return f"torch.distributed has no {case.collective} with placement {case.placement!r}"
        if case.beside and self._seat.device.type != "cuda":
            return "beside a matrix product only on a GPU: on CPUs both would share the cores"
        if case.mode == "graph" and self._seat.device.type != "cuda":
            return "graph mode replays CUDA graphs and needs a GPU"
        if case.mode == "graph" and case.collective == "barrier":
            return "torch's barrier waits on the host, which a CUDA graph cannot capture"
        if case.mode == "graph" and (most := self._slabs.slices(case, size) * laps_in_place(case, size)) < in_graph:
            return f"{in_graph} in-place calls in one graph would overflow {case.dtype}: -m {most:.0f} fits"
        if case.collective == "send_recv" and size < 2:
            return "send_recv needs two ranks"
        if case.dtype and case.dtype.startswith("float8") and case.op:
            return "fp8 is moved, not reduced: no backend defines its sum"
        key = (case.collective, case.dtype, case.op, case.placement)
        if key not in self._refusals:
            self._refusals[key] = self._probe(case)
        return self._refusals[key]

    def _probe(self, case: Case) -> str | None:
        definition, size = case.definition, len(self._seat.ranks)
        tiny = Case(case.collective, definition.elements(1, 1, size), case.dtype, case.op, case.root, case.placement,
                    "pipelined")  # fmt: skip
        failure = ""
        try:
            TorchOperation(tiny, self._seat, Slabs.tiny(self._seat.device, size)).wrong()
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
        if case.beside:
            alone = self._beside.alone if self._beside else 0
            said.append(
                "beside a running matrix product" + (f", which ended before {alone} samples did" if alone else "")
            )
        return tuple(said)

    def prepare(self, case: Case) -> TorchOperation:
        """The operation with its buffers; captures the graph in graph mode. Collective."""
        operation = TorchOperation(case, self._seat, self._slabs, self._compute if case.beside else None)
        self._beside = operation if case.beside else self._beside
        return operation

    def time_in_order(self, operations: Sequence[Operation]) -> list[float]:
        """This rank's seconds of one call of each, made back to back in this order after an aligned start."""
        return time_in_order(cast(Sequence[TorchOperation], operations), self._seat)

    @cached_property
    def _compute(self) -> Compute:
        return Compute(self._seat.device)

    def resolution(self) -> float:
        """Of CUDA events, or of the host clock as two readings show it (s)."""
        if self._seat.device.type == "cuda":
            return EVENT_RESOLUTION
        readings = [time.perf_counter() for _ in range(200)]
        return min(b - a for a, b in pairwise(readings) if b > a)
