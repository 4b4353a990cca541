"""The schedule of DeepSpeed's ZeRO stage 3: parameters are gathered module by module, gradients scattered.

Copied from DeepSpeed 0.19.6: runtime/zero/partition_parameters.py (all_gather_coalesced), runtime/zero/stage3.py
(reduce_independent_p_g_buckets_and_remove_grads, __avg_scatter_grads, step) and
runtime/comm/coalesced_collectives.py (reduce_scatter_coalesced).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from commbench.training.call import Call, Phase, Ranks, Schedule
from commbench.training.deepspeed_buckets import Bucket, buckets
from commbench.training.deepspeed_coordinator import Coordinator, Limits
from commbench.training.deepspeed_precision import Precision, PrecisionKnobs, precision
from commbench.training.knobs import knob
from commbench.training.shapes import Parameter, Shapes

_UNLIMITED = 2**63 - 1  # sys.maxsize


@dataclass(frozen=True, kw_only=True)
class Zero3Knobs(PrecisionKnobs):
    """Settings of `zero_optimization` in a DeepSpeed configuration; sizes are elements."""

    reduce_bucket_size: int = knob(500_000_000, "gradient elements reduced together", at_least=1)
    stage3_prefetch_bucket_size: int = knob(50_000_000, "elements gathered ahead", also="prefetch_bucket_size")
    stage3_param_persistence_threshold: int = knob(
        100_000, "parameters up to this size stay whole", also="param_persistence_threshold"
    )
    stage3_model_persistence_threshold: int = knob(
        _UNLIMITED, "elements that may stay whole in all", also="model_persistence_threshold"
    )
    stage3_max_live_parameters: int = knob(1_000_000_000, "elements held when prefetching", also="max_live_parameters")
    stage3_max_reuse_distance: int = knob(
        1_000_000_000, "what is used again within so many elements stays", also="max_reuse_distance"
    )
    stage3_use_all_reduce_for_fetch_params: bool = knob(
        False, "AllReduce instead of AllGather for several parameters", also="use_all_reduce_for_fetch_params"
    )
    stage3_allgather_sequential: bool = knob(False, "one AllGather for each parameter", also="allgather_sequential")
    sub_group_size: int = knob(1_000_000_000, "elements of one rank updated together: one norm each", at_least=1)
    reduce_scatter: bool = knob(True, "false: AllReduce of gradient buckets")
    contiguous_gradients: bool = knob(True, "copy gradients into one buffer")
    overlap_comm: bool = knob(True, "gather and reduce on streams of their own")
    first_iteration: bool = knob(False, "the first step of a run, which only records the order of modules")


VARIANTS = {"deepspeed": "DeepSpeed 0.19.6 with its defaults: prefetching, small parameters kept whole"}


def zero3(model: Shapes, ranks: Ranks, variant: str, knobs: Zero3Knobs) -> Schedule:
    """One optimizer step of ZeRO stage 3."""
    dtypes = precision(knobs)
    return Schedule(
        strategy="zero3", variant=variant, framework="DeepSpeed", version="0.19.6",
        source="deepspeed/runtime/zero/partitioned_param_coordinator.py (fetch_sub_module, release_sub_module), "
        "deepspeed/runtime/zero/stage3.py (__reduce_and_partition_ipg_grads, step)",
        model=model.name, parameters=model.elements, world_size=ranks.count, param_dtype=dtypes.model,
        grad_dtype=dtypes.gradients, reduce_dtype=dtypes.communication, micro_steps=knobs.gradient_accumulation_steps,
        calls=_Zero3(model, ranks, knobs, dtypes).calls(),
        assumptions=(
            "the optimizer has one parameter group", "activations are not recomputed",
            "modules are those of the Hugging Face implementation, and run in the same order in every pass",
        ),
    )  # fmt: skip


class _Zero3:
    def __init__(self, model: Shapes, ranks: Ranks, knobs: Zero3Knobs, dtypes: Precision) -> None:
        self._model, self._world, self._knobs, self._dtypes = model, ranks.world, knobs, dtypes
        self._persistent = tuple(_persistent(model.parameters, knobs))
        names = frozenset(parameter.name for parameter in self._persistent)
        limits = Limits(
            1 if knobs.stage3_allgather_sequential else knobs.stage3_prefetch_bucket_size,
            knobs.stage3_max_live_parameters, knobs.stage3_max_reuse_distance, names,
        )  # fmt: skip
        self._coordinator = Coordinator(model, limits)
        filled = list(buckets(model.gradient_order, knobs.reduce_bucket_size))
        self._flushed = {bucket.flushed_by.name: bucket for bucket in filled if bucket.flushed_by}
        self._last = filled[-1]

    def calls(self) -> tuple[Call, ...]:
        """The calls of one step. The steps before it are run too: what they gather decides what is kept."""
        passes = range(self._knobs.gradient_accumulation_steps)
        for _ in range(0 if self._knobs.first_iteration else 2):
            for _ in passes:
                self._coordinator.run_pass()
            self._coordinator.after_step()
        gradients = [call for micro_step in passes for call in self._pass(micro_step)]
        return (*gradients, *self._step())

    def _pass(self, micro_step: int) -> Iterator[Call]:
        """The calls of one forward and backward pass."""
        trace, world = self._coordinator.trace, self._world
        if self._knobs.first_iteration and micro_step == 0:
            yield Call(
                "forward", "broadcast", None, "int64", 1, world, "length of the trace", root=0, opens=0.0, closes=0.0
            )  # fmt: skip
        for place, gathers in enumerate(self._coordinator.run_pass()):
            visit = trace[place]
            for gather in gathers:
                needed = trace[gather.needed if self._knobs.overlap_comm else place]
                closes = needed.starts if needed.phase == visit.phase else 1.0
                yield from self._fetch(gather.parameters, visit.phase, micro_step, visit.starts, closes)
            for parameter in visit.finished:
                if parameter.name in self._flushed:
                    opens = self._model.gradient_ready(parameter)
                    yield self._reduction(self._flushed[parameter.name], micro_step, opens)
        yield self._reduction(self._last, micro_step, 1.0)

    def _fetch(
        self, parameters: tuple[Parameter, ...], phase: Phase, micro_step: int, opens: float, closes: float
    ) -> Iterator[Call]:
        """The collectives that gather these parameters."""
        if self._world.size == 1:
            return
        alone = self._knobs.stage3_allgather_sequential
        for group in [(parameter,) for parameter in parameters] if alone else [parameters]:
            summed = self._knobs.stage3_use_all_reduce_for_fetch_params and len(parameters) > 1 and not alone
            yield Call(
                phase, "all_reduce" if summed else "all_gather", "sum" if summed else None, self._dtypes.model,
                self._padded(group), self._world, f"parameters of {_span(group)}", micro_step=micro_step,
                opens=opens, closes=closes,
            )  # fmt: skip

    def _reduction(self, bucket: Bucket, micro_step: int, opens: float) -> Call:
        knobs = self._knobs
        fits = bucket.elements <= knobs.reduce_bucket_size  # a larger gradient is not in the contiguous buffer
        whole = knobs.contiguous_gradients and not knobs.reduce_scatter and fits
        return Call(
            "backward", "all_reduce" if whole else "reduce_scatter", "sum", self._dtypes.communication,
            bucket.elements if whole else self._padded(bucket.parameters), self._world,
            f"gradients of {_span(bucket.parameters)}", micro_step=micro_step,
            opens=opens, closes=1.0 if knobs.overlap_comm else opens,
        )  # fmt: skip

    def _step(self) -> Iterator[Call]:
        """The collectives of optimizer.step(): scalars, then one AllGather for each parameter that stays whole."""
        if self._dtypes.model == "float16":
            yield Call("step", "all_reduce", "max", "uint8", 1, self._world, "overflow flag", opens=0.0, closes=0.0)
        for _ in range(self._sub_groups()):
            yield Call("step", "all_reduce", "sum", "float64", 1, self._world, "gradient norm", opens=0.0, closes=0.0)
        for parameter in self._persistent if self._world.size > 1 else ():
            yield Call(
                "step", "all_gather", None, self._dtypes.model, self._padded((parameter,)), self._world,
                f"updated {parameter.name}",
            )  # fmt: skip

    def _sub_groups(self) -> int:
        """How many groups of parameters are updated one after the other (_create_fp16_sub_groups)."""
        count, elements = 0, 0
        for parameter in self._model.parameters:
            elements += -(-parameter.elements // self._world.size)
            if elements >= self._knobs.sub_group_size:
                count, elements = count + 1, 0
        return count + (1 if elements else 0)

    def _padded(self, parameters: Sequence[Parameter]) -> int:
        ranks = self._world.size
        return sum(-(-parameter.elements // ranks) * ranks for parameter in parameters)


def _persistent(parameters: Sequence[Parameter], knobs: Zero3Knobs) -> Iterator[Parameter]:
    """The parameters that stay whole (mark_persistent_parameters)."""
    total = 0
    for parameter in parameters:
        if total + parameter.elements > knobs.stage3_model_persistence_threshold:
            continue
        if parameter.elements <= knobs.stage3_param_persistence_threshold:
            total += parameter.elements
            yield parameter


def _span(parameters: Sequence[Parameter]) -> str:
    first, last = parameters[0].name, parameters[-1].name
    return first if len(parameters) == 1 else f"{first} to {last}"
