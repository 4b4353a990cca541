"""What a strategy keeps on each GPU for parameters, gradients and optimizer states, and the buffers it communicates in.

The count is of the ZeRO paper (arXiv 1910.02054, section 3): in mixed precision Adam keeps a float32 copy of the
weights and two float32 moments, 12 bytes a parameter; with float32 weights there is no copy. Activations, temporary
tensors and the allocator's own losses are not in it.
"""

from dataclasses import dataclass
from itertools import pairwise

from commbench.dtypes import ELEMENT_BYTES
from commbench.training.call import Call, Schedule

MOMENTS = 2 * ELEMENT_BYTES["float32"]
MASTER = ELEMENT_BYTES["float32"]
_SHARDED = {
    "dp": (), "zero1": ("optimizer",), "zero2": ("gradients", "optimizer"),
    "zero3": ("parameters", "gradients", "optimizer"), "fsdp": ("parameters", "gradients", "optimizer"),
}  # fmt: skip

ASSUMPTIONS = (
    "Adam with two float32 moments, and float32 master weights where parameters are narrower",
    "activations, temporary tensors and the allocator's losses come on top of the memory shown",
)


@dataclass(frozen=True)
class Memory:
    """Bytes on each GPU.

    Attributes:
        buffers: gathered parameters and gradients on their way, as many as are alive together.
    """

    parameters: float
    gradients: float
    optimizer: float
    buffers: float

    @property
    def total(self) -> float:
        """All together."""
        return self.parameters + self.gradients + self.optimizer + self.buffers


def memory(schedule: Schedule) -> Memory:
    """The memory of one GPU."""
    psi, sharded = schedule.parameters, _SHARDED[schedule.strategy]
    ranks = _shards(schedule)
    optimizer = psi * (MOMENTS + (0 if schedule.param_dtype == "float32" else MASTER))
    whole = {
        "parameters": psi * ELEMENT_BYTES[schedule.param_dtype],
        "gradients": psi * ELEMENT_BYTES[schedule.grad_dtype],
        "optimizer": optimizer,
    }
    kept = {name: size / ranks if name in sharded else float(size) for name, size in whole.items()}
    return Memory(kept["parameters"], kept["gradients"], kept["optimizer"], _buffers(schedule))


def _shards(schedule: Schedule) -> int:
    """Into how many pieces sharded states are cut: all ranks, or the shard group of a mesh."""
    sizes = [call.group.size for call in schedule.calls if call.group.name == "shard"]
    return sizes[0] if sizes else schedule.world_size


def _buffers(schedule: Schedule) -> float:
    """Bytes of messages that are alive together beside what is kept.

    DistributedDataParallel keeps its buckets beside the gradients; sharded strategies hold two gathered messages (the
    one in use, and the next), up to `stage3_max_live_parameters` in DeepSpeed, and one or two buckets of gradients.
    """
    gradients = [call.message_bytes for call in schedule.calls if call.phase == "backward" and call.op is not None]
    if schedule.strategy == "dp":
        return float(sum(gradients))
    width = ELEMENT_BYTES[schedule.param_dtype]
    gathered = [call for call in schedule.calls if call.collective == "all_gather" and call.phase != "step"]
    alive = _together(gathered)
    live = schedule.knobs.get("stage3_max_live_parameters")
    if gathered and isinstance(live, int | float):
        alive = max(alive, float(min(live, schedule.parameters)) * width)
    buckets = 2 if schedule.knobs.get("overlap_comm") else 1
    return alive + buckets * max(gradients, default=0)


def _together(gathered: list[Call]) -> float:
    """The largest two neighbouring gathers."""
    sizes = [call.message_bytes for call in gathered]
    return float(max((a + b for a, b in pairwise(sizes)), default=sum(sizes)))
