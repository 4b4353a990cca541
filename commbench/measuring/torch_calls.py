"""The torch.distributed call of each collective, in its tensor form, bound to buffers.

torch has no out-of-place all_reduce, reduce and broadcast, and no in-place all_to_all; those placements do not exist
here. gather and scatter have list forms only: their lists are views of one buffer.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
import torch.distributed as dist

from commbench.collectives import Placement
from commbench.measuring.seam import Case
from commbench.measuring.torch_world import all_gather_tensor, reduce_scatter_tensor

Call = Callable[[], object]

PLACEMENTS: dict[str, tuple[Placement | None, ...]] = {
    "all_reduce": ("in",), "reduce": ("in",), "broadcast": ("in",),
    "reduce_scatter": ("in", "out"), "all_gather": ("in", "out"),
    "all_to_all": ("out",), "gather": ("out",), "scatter": ("out",), "send_recv": ("out",),
    "barrier": (None,),
}  # fmt: skip

OPERATORS = {
    "sum": dist.ReduceOp.SUM, "avg": dist.ReduceOp.AVG, "min": dist.ReduceOp.MIN, "max": dist.ReduceOp.MAX,
    "prod": dist.ReduceOp.PRODUCT,
}  # fmt: skip


@dataclass(frozen=True)
class Seat:
    """This rank's place in a group.

    Attributes:
        ranks: the group's ranks, as the job numbers them.
        rank: which of them this is.
        together: all ranks that measure at the same time, in this group or another: they start together.
    """

    group: dist.ProcessGroup
    ranks: tuple[int, ...]
    rank: int
    device: torch.device
    together: dist.ProcessGroup

    @cached_property
    def _token(self) -> torch.Tensor:
        return torch.zeros(1, device=self.device)

    def align(self) -> None:
        """Leave no rank before all are here: on the device's queue on GPUs, on the host on CPUs."""
        dist.all_reduce(self._token, group=self.together)


def bind(case: Case, send: torch.Tensor, receive: torch.Tensor, seat: Seat) -> Call:
    """The call, with everything but the call itself done beforehand.

    Args:
        send, receive: 1-D tensors of this rank's input and output; one and the same, or overlapping, when in place.
    """
    group, ranks, me = seat.group, seat.ranks, seat.rank
    size = len(ranks)
    op = OPERATORS[case.op] if case.op else dist.ReduceOp.SUM
    root = ranks[case.root] if case.root is not None else -1
    at_root = case.root == me
    match case.collective:
        case "all_reduce":
            return lambda: dist.all_reduce(receive, op=op, group=group)
        case "reduce":
            return lambda: dist.reduce(receive, dst=root, op=op, group=group)
        case "broadcast":
            return lambda: dist.broadcast(receive, src=root, group=group)
        case "reduce_scatter":
            return lambda: reduce_scatter_tensor(receive, send, op=op, group=group)
        case "all_gather":
            return lambda: all_gather_tensor(receive, send, group=group)
        case "all_to_all":
            return lambda: dist.all_to_all_single(receive, send, group=group)
        case "gather":
            parts = list(receive.chunk(size)) if at_root else None
            return lambda: dist.gather(send, parts, dst=root, group=group)
        case "scatter":
            parts = list(send.chunk(size)) if at_root else None
            return lambda: dist.scatter(receive, parts, src=root, group=group)
        case "send_recv":
            return _send_recv(send, receive, group, ranks[(me + 1) % size], ranks[(me - 1) % size])
        case "barrier":
            devices = [receive.device.index] if receive.device.type == "cuda" else None
            return lambda: dist.barrier(group=group, device_ids=devices)
    raise AssertionError(case.collective)


def _send_recv(send: torch.Tensor, receive: torch.Tensor, group: dist.ProcessGroup, to: int, source: int) -> Call:
    """Each rank sends to the next and receives from the one before, as nccl-tests' sendrecv."""
    pair = [dist.P2POp(dist.isend, send, to, group), dist.P2POp(dist.irecv, receive, source, group)]

    def call() -> None:
        for work in dist.batch_isend_irecv(pair):
            work.wait()

    return call
