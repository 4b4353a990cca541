"""The schedules of DeepSpeed's ZeRO stages 1 and 2: sharded optimizer states, and with stage 2 sharded gradients.

Copied from DeepSpeed 0.19.6, `runtime/zero/stage_1_and_2.py` (average_tensor and its callees, step) and
`runtime/utils.py` (all_gather_into_tensor_dp_groups). Neither stage ever calls reduce_scatter there: the setting of
that name chooses between AllReduce and Reduce. The `paper` variant is the same code before November 2023.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from commbench.training.call import Call, Group, Ranks, Schedule
from commbench.training.deepspeed_buckets import Bucket, Partitions, buckets, messages, partitions
from commbench.training.deepspeed_precision import Precision, PrecisionKnobs, precision
from commbench.training.knobs import knob
from commbench.training.shapes import Shapes


@dataclass(frozen=True, kw_only=True)
class Zero12Knobs(PrecisionKnobs):
    """Settings of `zero_optimization` in a DeepSpeed configuration; sizes are elements."""

    reduce_bucket_size: int = knob(500_000_000, "gradient elements reduced together", at_least=1)
    allgather_bucket_size: int = knob(500_000_000, "elements of one AllGather (ignored today)", at_least=1)
    reduce_scatter: bool = knob(True, "false: AllReduce of whole buckets, as in stage 0")
    use_multi_rank_bucket_allreduce: bool = knob(True, "AllReduce of whole buckets; false: Reduce to each owner")
    contiguous_gradients: bool = knob(True, "copy gradients into one buffer; false: always AllReduce")
    overlap_comm: bool = knob(False, "reduce on a stream of its own while the backward pass goes on")
    round_robin_gradients: bool = knob(False, "deal parameters to ranks in turn before they are cut")


VARIANTS = {
    "deepspeed": "DeepSpeed 0.19.6 with its defaults: AllReduce of gradients, one AllGather of parameters",
    "multi-rank-off": "use_multi_rank_bucket_allreduce=false: Reduce of gradients to each owner",
    "paper": "DeepSpeed before November 2023: Reduce for each owner's slice, AllGather in buckets",
    "ideal": "the ZeRO paper's ReduceScatter and AllGather; DeepSpeed has never run it so",
}

_TODAY = ("DeepSpeed", "0.19.6", "deepspeed/runtime/zero/stage_1_and_2.py (average_tensor, step)")
_SOURCES = {
    "deepspeed": _TODAY,
    "multi-rank-off": _TODAY,
    "paper": ("DeepSpeed", "before commit 2afa1c7f2 (2023-11-21)", _TODAY[2]),
    "ideal": ("the ZeRO paper", "arXiv 1910.02054", "section 7.2.1"),
}
_SWITCHES = ("reduce_scatter", "use_multi_rank_bucket_allreduce", "contiguous_gradients", "check_grad_overflow")
ABSENT = {"paper": ("use_multi_rank_bucket_allreduce",), "ideal": (*_SWITCHES, "allgather_bucket_size")}
"""Settings that a variant does not have."""


def zero12(stage: int, model: Shapes, ranks: Ranks, variant: str, knobs: Zero12Knobs) -> Schedule:
    """One optimizer step of ZeRO stage 1 or 2."""
    return _Zero12(stage, model, ranks.world, variant, knobs).schedule()


@dataclass(frozen=True)
class _Zero12:
    stage: int
    model: Shapes
    world: Group
    variant: str
    knobs: Zero12Knobs

    def schedule(self) -> Schedule:
        knobs, dtypes = self.knobs, precision(self.knobs)
        framework, version, source = _SOURCES[self.variant]
        last = knobs.gradient_accumulation_steps - 1
        reducing = range(last + 1) if self.stage == 2 else (last,)  # stage 1 waits for the accumulation boundary
        gradients = tuple(call for micro_step in reducing for call in self._reductions(micro_step, dtypes))
        return Schedule(
            strategy=f"zero{self.stage}", variant=self.variant, framework=framework, version=version, source=source,
            model=self.model.name, parameters=self.model.elements, world_size=self.world.size,
            param_dtype=dtypes.model, grad_dtype=dtypes.gradients, reduce_dtype=dtypes.communication,
            micro_steps=last + 1, calls=(*gradients, *self._step(dtypes)),
            assumptions=("the optimizer has one parameter group; each further one has its own AllGather and norm",),
        )  # fmt: skip

    def _reductions(self, micro_step: int, dtypes: Precision) -> Iterator[Call]:
        """The collectives that reduce the gradients of one backward pass."""
        knobs, model = self.knobs, self.model
        hooked = self.stage == 2 or knobs.overlap_comm  # else reduce_gradients, after the backward pass
        order = model.gradient_order if hooked else model.parameters
        owners = partitions(model.parameters, self.world.size, knobs.round_robin_gradients)
        filled = list(buckets(order, knobs.reduce_bucket_size))
        opens = [
            1.0 if bucket.flushed_by is None or not hooked else model.gradient_ready(bucket.flushed_by)
            for bucket in filled
        ]
        # With overlap_comm the computation waits for a bucket when the next one is started (average_tensor), because
        # there are two buffers; without, it waits at once.
        closes = [*opens[1:], 1.0] if knobs.overlap_comm else opens
        for bucket, start, end in zip(filled, opens, closes, strict=True):
            for collective, elements, root in self._messages(bucket, owners):
                first, last = bucket.parameters[0].name, bucket.parameters[-1].name
                yield Call(
                    "backward", collective, "sum", dtypes.communication, elements, self.world,
                    f"gradients of {first}" + (f" to {last}" if last != first else ""),
                    micro_step=micro_step, root=root, opens=start, closes=end,
                )  # fmt: skip

    def _messages(self, bucket: Bucket, owners: Partitions) -> Iterator[tuple[str, int, int | None]]:
        """(collective, elements, root) of the messages that reduce one bucket."""
        knobs, limit = self.knobs, self.knobs.reduce_bucket_size
        pieces = owners.slices(bucket.parameters)
        if self.variant == "ideal":
            yield "reduce_scatter", -(-bucket.elements // self.world.size) * self.world.size, None
        elif not knobs.reduce_scatter or not knobs.contiguous_gradients:
            yield "all_reduce", bucket.elements, None
        elif self.variant == "paper":
            for owner, elements in pieces:
                yield "reduce", elements, owner
        elif knobs.use_multi_rank_bucket_allreduce:
            for elements in messages((length for _, length in pieces), limit):
                yield "all_reduce", elements, None
        else:
            for owner in dict.fromkeys(owner for owner, _ in pieces):
                for elements in messages((length for whose, length in pieces if whose == owner), limit):
                    yield "reduce", elements, owner

    def _step(self, dtypes: Precision) -> Iterator[Call]:
        """The collectives of optimizer.step()."""
        model, world = self.model, self.world
        if dtypes.overflow_checked and self.variant != "ideal":
            yield Call("step", "all_reduce", "max", "uint8", 1, world, "overflow flag", opens=0.0, closes=0.0)
        yield Call("step", "all_reduce", "sum", "float32", 1, world, "gradient norm", opens=0.0, closes=0.0)
        size = partitions(model.parameters, world.size, False).size
        for shard in self._gathered(size):
            yield Call("step", "all_gather", None, dtypes.model, shard * world.size, world, "updated parameters")

    def _gathered(self, size: int) -> Iterator[int]:
        """Elements of one rank in each AllGather of updated parameters."""
        if self.world.size == 1:
            return
        if self.variant != "paper":
            yield size
            return
        count = max(1, size * self.world.size // self.knobs.allgather_bucket_size)
        shard = size // count // 2 * 2  # shards start at even elements
        yield from [shard] * (count - 1)
        yield size - shard * (count - 1)
