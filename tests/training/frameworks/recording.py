"""Record every collective that a framework issues, C++ callers included, as the dispatcher sees it.

    with Recorder() as recorder:
        recorder.phase = "forward"
        ...

torch.distributed's functions, DDP's reducer, FSDP and DeepSpeed all end in an operator of the `c10d` namespace, which
a dispatch mode sees on the thread that runs the step (on CPUs autograd runs on the caller's thread too). DTensor's
functional collectives are operators of `_c10d_functional`.
"""

from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import _resolve_process_group
from torch.distributed.tensor import DTensor
from torch.utils._python_dispatch import TorchDispatchMode

# operator: (our name, where its arguments hold the whole message, the group and the operator)
_OPERATORS = {
    "allreduce_": ("all_reduce", 0, 1, 2),
    "reduce_": ("reduce", 0, 1, 2),
    "broadcast_": ("broadcast", 0, 1, None),
    "_allgather_base_": ("all_gather", 0, 2, None),
    "_reduce_scatter_base_": ("reduce_scatter", 1, 2, 3),
    "allgather_": ("all_gather", 0, 2, None),
}
_NO_MESSAGE = {"barrier", "monitored_barrier_", "wait_tensor", "_wrap_tensor_autograd"}
_REDUCTIONS = {dist.ReduceOp.SUM: "sum", dist.ReduceOp.AVG: "avg", dist.ReduceOp.MAX: "max", dist.ReduceOp.MIN: "min"}


class Recorded(NamedTuple):
    """One collective as it was issued; `elements` are those of the whole message."""

    phase: str
    micro_step: int
    collective: str
    op: str | None
    dtype: str
    elements: int
    group_size: int


class Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch's own __init_subclass__
    """Keeps what is issued while it is entered, in `calls`. Set `phase` and `micro_step` on the way.

    A message without elements is not kept: nothing travels.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.phase, self.micro_step = "forward", 0
        self.calls: list[Recorded] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Called for every operator; everything is passed on, DTensor's first to DTensor, which issues collectives."""
        if any(issubclass(kind, DTensor) for kind in types):
            return NotImplemented
        if func.namespace == "c10d" and func._opname not in _NO_MESSAGE:
            self._keep(func._opname, args)
        elif func.namespace == "_c10d_functional" and func._opname not in _NO_MESSAGE:
            self._keep_functional(func._opname, args)
        return func(*args, **(kwargs or {}))

    def _keep(self, name: str, args: Any) -> None:
        collective, buffer, group, reduction = _OPERATORS[name]
        tensors = [tensor for tensor in _flat(args[buffer]) if isinstance(tensor, torch.Tensor)]
        op = None if reduction is None else _REDUCTIONS[args[reduction].op()]
        self._add(collective, op, tensors, dist.ProcessGroup.unbox(args[group]).size())

    def _keep_functional(self, name: str, args: Any) -> None:
        if name != "all_reduce":
            raise AssertionError(f"an unexpected functional collective: {name}")
        self._add("all_reduce", args[1], [args[0]], _resolve_process_group(args[2]).size())

    def _add(self, collective: str, op: str | None, tensors: list[torch.Tensor], size: int) -> None:
        elements = sum(tensor.numel() for tensor in tensors)
        dtype = str(tensors[0].dtype).removeprefix("torch.")
        if elements:
            self.calls.append(Recorded(self.phase, self.micro_step, collective, op, dtype, elements, size))


def _flat(value: Any) -> list[Any]:
    return [item for each in value for item in _flat(each)] if isinstance(value, list | tuple) else [value]
