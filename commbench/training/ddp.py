"""The schedule of PyTorch's DistributedDataParallel (`dp`): one AllReduce for each bucket of gradients.

Copied from torch 2.13: `nn/parallel/distributed.py` (_BucketCapacityConfig, _ddp_init_helper, _pre_forward) and
`csrc/distributed/c10d/reducer.cpp` (compute_bucket_assignment_by_size, rebuild_buckets, all_reduce_local_used_map).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from commbench.dtypes import ELEMENT_BYTES
from commbench.errors import UsageError
from commbench.training.call import Call, Group, Ranks, Schedule
from commbench.training.knobs import knob
from commbench.training.shapes import Parameter, Shapes
from commbench.units import MIB

FIRST_BUCKET_BYTES = 1 * MIB  # torch.distributed._DEFAULT_FIRST_BUCKET_BYTES
BUCKET_CAP_MB = 25  # _DEFAULT_BUCKET_CAP_MB
_UNLIMITED = 2**63 - 1  # sys.maxsize

_HOOKS = {"none": None, "allreduce_hook": None, "fp16_compress_hook": "float16", "bf16_compress_hook": "bfloat16"}


@dataclass(frozen=True)
class DdpKnobs:
    """Arguments of DistributedDataParallel, and where in a run the step stands."""

    bucket_cap_mb: float | None = knob(None, "bucket size in MiB; unset: 25, and 1 for the first bucket", at_least=1e-6)
    bucket_cap_mb_list: tuple[float, ...] | None = knob(
        None, "one size in MiB for each bucket, the last for all that follow: 1,5,25", at_least=1e-6
    )
    find_unused_parameters: bool = knob(False, "look for unused parameters: buckets are never rebuilt")
    static_graph: bool = knob(False, "the graph never changes: buckets are rebuilt also with unused parameters")
    comm_hook: str = knob("none", "register_comm_hook: gradients in half precision on the way", choices=tuple(_HOOKS))
    param_dtype: str = knob("bfloat16", "dtype of parameters, and so of gradients", dtype=True)
    gradient_accumulation_steps: int = knob(1, "passes a step; all but the last run under no_sync()", at_least=1)
    first_iteration: bool = knob(False, "the first step of a run: one bucket of everything")
    rebuild_iteration: bool = knob(False, "the step that rebuilds buckets: the second, or the third of a static graph")


VARIANTS = {"ddp": "DistributedDataParallel of torch 2.13"}


def ddp(model: Shapes, ranks: Ranks, variant: str, knobs: DdpKnobs) -> Schedule:
    """One optimizer step under DistributedDataParallel."""
    if knobs.first_iteration and knobs.rebuild_iteration:
        raise UsageError(
            "a step cannot be the first and rebuild buckets", expected="first_iteration or rebuild_iteration",
            found="both true", fix="set one of them",
        )  # fmt: skip
    world = ranks.world
    width = ELEMENT_BYTES[knobs.param_dtype]
    reduce_dtype = _HOOKS[knobs.comm_hook] or knobs.param_dtype
    calls: list[Call] = []
    rebuilds = knobs.static_graph or not knobs.find_unused_parameters
    if knobs.rebuild_iteration and rebuilds:
        calls += _agreement(model, world, width, knobs)
    last = knobs.gradient_accumulation_steps - 1
    buckets = _buckets(model, width, knobs)
    reductions = [
        Call(
            "backward", "all_reduce", "sum", reduce_dtype, sum(parameter.elements for parameter in bucket), world,
            f"gradients of {_span(bucket)}", micro_step=last,
            opens=max(model.gradient_ready(parameter) for parameter in bucket),
        )
        for bucket in buckets
    ]  # fmt: skip
    used_map = Call(
        "backward", "all_reduce", "sum", "int32", len(model.parameters), world, "which parameters were used",
        micro_step=last,
    )  # fmt: skip
    if knobs.static_graph and knobs.first_iteration:
        # Reducer::delay_all_reduce: the map first, then every bucket, once the whole backward pass is over
        reductions = [used_map, *(replace(call, opens=1.0) for call in reductions)]
    elif knobs.find_unused_parameters and not knobs.static_graph:
        reductions.append(used_map)
    return Schedule(
        strategy="dp", variant=variant, framework="PyTorch DistributedDataParallel", version="2.13",
        source="torch/nn/parallel/distributed.py (_BucketCapacityConfig, _ddp_init_helper), "
        "torch/csrc/distributed/c10d/reducer.cpp (compute_bucket_assignment_by_size, rebuild_buckets)",
        model=model.name, parameters=model.elements, world_size=ranks.count, param_dtype=knobs.param_dtype,
        grad_dtype=knobs.param_dtype, reduce_dtype=reduce_dtype, micro_steps=knobs.gradient_accumulation_steps,
        calls=(*calls, *reductions),
        assumptions=(
            "the model has no buffers that are broadcast before a forward pass",
            "gradients have the dtype of the parameters (autocast keeps float32: --set param_dtype=float32)",
        ),
    )  # fmt: skip


def assigned(parameters: Iterable[Parameter], width: int, limits: Sequence[int]) -> list[list[Parameter]]:
    """Fill buckets in order; a bucket is closed once it has reached its limit in bytes, and so may exceed it.

    The first bucket has the first limit, and so on; the last limit holds for all that follow
    (compute_bucket_assignment_by_size).
    """
    buckets: list[list[Parameter]] = [[]]
    size = 0
    for parameter in parameters:
        buckets[-1].append(parameter)
        size += parameter.elements * width
        if size >= limits[min(len(buckets), len(limits)) - 1]:
            buckets.append([])
            size = 0
    return buckets if buckets[-1] else buckets[:-1]


def _buckets(model: Shapes, width: int, knobs: DdpKnobs) -> list[list[Parameter]]:
    """The buckets of a step, in the order in which they are reduced."""
    unset = knobs.bucket_cap_mb is None
    cap = int((BUCKET_CAP_MB if knobs.bucket_cap_mb is None else knobs.bucket_cap_mb) * MIB)
    limits: tuple[int, ...] = (FIRST_BUCKET_BYTES, cap) if unset else (cap,)
    if knobs.bucket_cap_mb_list:
        limits = tuple(int(size * MIB) for size in knobs.bucket_cap_mb_list)
    rebuilt = knobs.static_graph or not knobs.find_unused_parameters
    if rebuilt and not knobs.first_iteration:
        return assigned(model.gradient_order, width, limits)
    if rebuilt and not knobs.bucket_cap_mb_list:
        limits = (_UNLIMITED,)
    return assigned(model.parameters, width, limits)[::-1]


def _agreement(model: Shapes, world: Group, width: int, knobs: DdpKnobs) -> list[Call]:
    """Reducer::sync_bucket_indices: rank 0 tells which parameters go into which bucket, before the forward pass."""
    buckets = len(_buckets(model, width, knobs))
    messages = ((len(model.parameters) + 1, "indices of the buckets"), (buckets, "sizes of the buckets"))
    return [
        Call("forward", "broadcast", None, "int32", elements, world, carries, root=0, opens=0.0, closes=0.0)
        for elements, carries in messages
    ]


def _span(bucket: Sequence[Parameter]) -> str:
    first, last = bucket[0].name, bucket[-1].name
    return first if len(bucket) == 1 else f"{first} to {last}"
