"""One collective of a training step, and a whole step of them: frozen records, in the order of issue.

    Schedule            one optimizer step of one strategy, as one version of one framework runs it
     +-- Call           one collective: what it carries, over which ranks, between which points of the computation
          +-- Group     the ranks that take part

A schedule is written for one rank; every rank of a step issues the same calls. Message sizes are whole messages, as
everywhere in commbench: the output of an all_gather, the input of a reduce_scatter.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from commbench.dtypes import ELEMENT_BYTES

Phase = Literal["forward", "backward", "step"]
PHASES: tuple[Phase, ...] = ("forward", "backward", "step")


@dataclass(frozen=True, slots=True)
class Group:
    """The ranks of one call.

    Attributes:
        name: `world`, or `shard` and `replicate` where a mesh has both.
        size: ranks in it.
        stride: distance between neighbouring ranks: 1 for consecutive ranks, the shard group's size for replicas.
    """

    name: str
    size: int
    stride: int = 1


@dataclass(frozen=True, slots=True)
class Ranks:
    """The ranks that share a step.

    Attributes:
        count: how many.
        per_host: how many of them stand on each host, None where that is not known.
    """

    count: int
    per_host: int | None = None

    @property
    def world(self) -> Group:
        """All of them as one group."""
        return Group("world", self.count)


@dataclass(frozen=True, slots=True)
class Call:
    """One collective of a step.

    Attributes:
        phase: where in the step it is issued.
        micro_step: which forward and backward pass of the step, from 0; with gradient accumulation there are several.
        collective: a name of commbench.collectives.
        op: reduction operator, None where there is none.
        dtype: element type of the message.
        elements: elements of the whole message, padding included.
        group: the ranks that take part.
        carries: what is in the message, for a reader.
        root: the owner's rank in the group, for rooted collectives.
        stream: calls of one stream run one after the other; calls of different streams may run together.
        opens: share (0 to 1) of this phase's computation that is done when the call is issued.
        closes: share of this phase's computation that may run before the result is needed; equal to `opens` where
            the computation waits for the call, 1 where only the end of the phase waits. Work is counted in parameter
            elements, which matrix multiplications are proportional to.
    """

    phase: Phase
    collective: str
    op: str | None
    dtype: str
    elements: int
    group: Group
    carries: str
    micro_step: int = 0
    root: int | None = None
    stream: str = "communication"
    opens: float = 1.0
    closes: float = 1.0

    @property
    def message_bytes(self) -> int:
        """Bytes of the whole message."""
        return self.elements * ELEMENT_BYTES[self.dtype]


@dataclass(frozen=True)
class Schedule:
    """The collectives of one optimizer step, in order of issue.

    Attributes:
        strategy, variant: as asked for on the command line.
        framework, version: whose behaviour is copied, and which release of it.
        source: the files and functions of that release where the rules stand.
        model: name of the model's shapes.
        parameters: elements of the model (Psi).
        world_size: ranks of the step.
        param_dtype, grad_dtype, reduce_dtype: of the weights in use, the gradients, and gradients in communication.
        micro_steps: forward and backward passes of one step.
        calls: the collectives.
        assumptions: what is taken for granted about model, framework or step, one sentence each.
        knobs: every setting of the strategy by the framework's name, as used.
    """

    strategy: str
    variant: str
    framework: str
    version: str
    source: str
    model: str
    parameters: int
    world_size: int
    param_dtype: str
    grad_dtype: str
    reduce_dtype: str
    micro_steps: int
    calls: tuple[Call, ...]
    assumptions: tuple[str, ...] = ()
    knobs: Mapping[str, object] = field(default_factory=dict)

    @property
    def message_bytes(self) -> int:
        """Bytes of all messages together."""
        return sum(call.message_bytes for call in self.calls)
