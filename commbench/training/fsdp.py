"""The schedule of PyTorch's FSDP2 (`fully_shard`): parameters are gathered unit by unit, gradients scattered.

Copied from torch 2.13, `distributed/fsdp/_fully_shard/`: _fsdp_collectives.py (foreach_all_gather, foreach_reduce,
_get_gradient_divide_factors), _fsdp_param_group.py (unshard, pre_backward, post_backward, _backward_prefetch),
_fsdp_state.py (_lazy_init, _root_post_backward_final_callback).

A unit is what `fully_shard` was called on: each block, and the whole model, which holds what is outside of blocks.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from commbench.errors import UsageError
from commbench.training.call import Call, Group, Phase, Ranks, Schedule
from commbench.training.knobs import knob
from commbench.training.shapes import Parameter, Shapes


@dataclass(frozen=True)
class FsdpKnobs:
    """Arguments of fully_shard and its policies, and how a step accumulates gradients."""

    reshard_after_forward: bool | int | None = knob(
        None, "free parameters after forward; unset: blocks, not the root; a number: keep them on that many ranks",
        at_least=1,
    )  # fmt: skip
    mesh: int | None = knob(None, "hsdp: ranks of a shard group; unset: the ranks of a host", at_least=1)
    param_dtype: str = knob("bfloat16", "MixedPrecisionPolicy.param_dtype", dtype=True)
    reduce_dtype: str | None = knob(None, "MixedPrecisionPolicy.reduce_dtype; unset: param_dtype", dtype=True)
    force_sum_reduction_for_comms: bool = knob(False, "SUM and a division instead of AVG")
    gradient_accumulation_steps: int = knob(1, "forward and backward passes of one step", at_least=1)
    requires_gradient_sync: bool = knob(True, "reduce in every pass; false: only in the last (set_requires_...)")
    clip_grad_norm: bool = knob(False, "torch.nn.utils.clip_grad_norm_ before the optimizer")


VARIANTS = {
    "fully_shard": "fully_shard of torch 2.13 on each block and on the model, over all ranks",
    "hsdp": "fully_shard on a mesh of two dimensions: shards within a group, replicas across groups",
}
ABSENT = {"fully_shard": ("mesh",)}
"""Settings that a variant does not have."""


@dataclass(frozen=True)
class _Unit:
    """What one call of fully_shard holds: its parameters, and the share of a pass it starts and ends at."""

    name: str
    parameters: tuple[Parameter, ...]
    starts: float
    ends: float

    def padded(self, ranks: int) -> int:
        """Elements once every parameter's rows are padded to equal shards."""
        return sum(-(-each.shape[0] // ranks) * ranks * prod(each.shape[1:]) for each in self.parameters)


def fsdp(model: Shapes, ranks: Ranks, variant: str, knobs: FsdpKnobs) -> Schedule:
    """One optimizer step under fully_shard."""
    shard, replicate = _mesh(ranks, variant, knobs)
    step = _Step(model, shard, replicate, _post_forward(shard, knobs), knobs)
    calls = [call for micro_step in range(knobs.gradient_accumulation_steps) for call in step.micro_step(micro_step)]
    if knobs.clip_grad_norm and shard.size > 1:
        calls.append(  # of the partial norms of all sharded gradients, which have the model's own dtype
            Call("step", "all_reduce", "sum", "float32", len(model.parameters), shard, "gradient norms",
                 stream=shard.name, opens=0.0, closes=0.0)
        )  # fmt: skip
    return Schedule(
        strategy="fsdp", variant=variant, framework="PyTorch FSDP2 (fully_shard)", version="2.13",
        source="torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py (foreach_all_gather, foreach_reduce), "
        "_fsdp_param_group.py (unshard, post_backward, _backward_prefetch)",
        model=model.name, parameters=model.elements, world_size=ranks.count, param_dtype=knobs.param_dtype,
        grad_dtype=knobs.param_dtype, reduce_dtype=knobs.reduce_dtype or knobs.param_dtype,
        micro_steps=knobs.gradient_accumulation_steps, calls=tuple(calls),
        assumptions=("fully_shard is called on each block and on the model, whose own parameters are float32",),
    )  # fmt: skip


def _mesh(ranks: Ranks, variant: str, knobs: FsdpKnobs) -> tuple[Group, Group | None]:
    """The groups that shard and replicate."""
    if variant == "fully_shard":
        return ranks.world, None
    size = knobs.mesh or ranks.per_host
    if size is None or ranks.count % size:
        raise UsageError(
            "ranks cannot be laid out in shards and replicas", expected=f"a shard group that divides {ranks.count}",
            found="no ranks per host and no mesh" if size is None else f"groups of {size}",
            fix="give --ranks-per-host N or --set mesh=N, the ranks that share one copy of the model",
        )  # fmt: skip
    replicas = ranks.count // size
    return Group("shard", size), Group("replicate", replicas, size)


def _post_forward(shard: Group, knobs: FsdpKnobs) -> Group | None:
    """The group that holds a unit between forward and backward, where it is not `shard`."""
    size = knobs.reshard_after_forward
    if size is None or isinstance(size, bool) or size == shard.size:
        return None
    if size == 1 or size > shard.size or shard.size % size:
        raise UsageError(
            "parameters cannot be resharded over this many ranks", found=str(size),
            expected=f"a number above 1 that divides {shard.size}, true or false", fix="--set reshard_after_forward=N",
        )  # fmt: skip
    return Group("post_forward", size)


@dataclass(frozen=True)
class _Step:
    model: Shapes
    shard: Group
    replicate: Group | None
    post_forward: Group | None
    knobs: FsdpKnobs

    def micro_step(self, number: int) -> Iterator[Call]:
        """The collectives of one forward and backward pass."""
        root, blocks = self._units()
        for opened, unit in zip((root, root, *blocks), (root, *blocks), strict=False):
            # The gather of a block runs beside the block before it (FSDPCommContext, implicit prefetching).
            yield from self._gather("forward", number, unit, opened.starts, unit.starts)
        reduces = self.knobs.requires_gradient_sync or number == self.knobs.gradient_accumulation_steps - 1
        # Backward runs blocks in reverse; the root is needed first, by the output projection, and is done last.
        order = (root, *blocks[::-1])
        resharded = {unit.name: self._reshards(unit) for unit in order}
        begins = {root.name: 0.0} | {block.name: 1.0 - block.ends for block in blocks}
        if resharded[root.name]:
            yield from self._gather("backward", number, root, 0.0, 0.0)
        for unit, following in zip(order, (*order[1:], None), strict=True):
            if following and resharded[following.name]:  # _backward_prefetch
                yield from self._gather("backward", number, following, begins[unit.name], begins[following.name])
            if reduces and unit is not root:
                yield from self._reduce(number, unit, 1.0 - unit.starts)
        if reduces:
            yield from self._reduce(number, root, 1.0)

    def _units(self) -> tuple[_Unit, tuple[_Unit, ...]]:
        model = self.model
        parts: dict[str | None, list[Parameter]] = {None: []} | {block: [] for block in model.blocks}
        for parameter in model.parameters:
            parts[model.block_of(parameter.module)].append(parameter)
        places: dict[str | None, list[int]] = {}
        for place, module in enumerate(model.used):
            places.setdefault(model.block_of(module), []).append(place)
        blocks = tuple(
            _Unit(
                block,
                tuple(parts[block]),
                model.work_before[places[block][0]],
                model.work_before[places[block][-1] + 1],
            )
            for block in model.blocks
        )
        return _Unit("the root", tuple(parts[None]), 0.0, 1.0), blocks

    def _reshards(self, unit: _Unit) -> bool:
        chosen = self.knobs.reshard_after_forward
        return unit.name != "the root" if chosen is None else chosen is not False

    def _gather(self, phase: Phase, number: int, unit: _Unit, opens: float, closes: float) -> Iterator[Call]:
        group = self.post_forward if phase == "backward" and self.post_forward else self.shard
        if group.size > 1 and unit.parameters:
            yield Call(
                phase, "all_gather", None, self.knobs.param_dtype, unit.padded(self.shard.size), group,
                f"parameters of {unit.name}", micro_step=number, stream=group.name, opens=opens, closes=closes,
            )  # fmt: skip

    def _reduce(self, number: int, unit: _Unit, opens: float) -> Iterator[Call]:
        dtype = self.knobs.reduce_dtype or self.knobs.param_dtype
        summed = self.knobs.force_sum_reduction_for_comms or dtype == "float16"
        op, elements = "sum" if summed else "avg", unit.padded(self.shard.size)
        if not unit.parameters:
            return
        if self.shard.size > 1:
            yield Call(
                "backward", "reduce_scatter", op, dtype, elements, self.shard, f"gradients of {unit.name}",
                micro_step=number, stream=self.shard.name, opens=opens,
            )  # fmt: skip
        if self.replicate:
            yield Call(
                "backward", "all_reduce", op, dtype, elements // self.shard.size, self.replicate,
                f"gradient shards of {unit.name}", micro_step=number, stream=self.replicate.name, opens=opens,
            )  # fmt: skip
