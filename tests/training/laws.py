"""Interconnects that follow a known law, so that every price can be worked out by hand."""

from collections.abc import Mapping, Sequence
from typing import Any

from commbench.modelling.model import Knots, Model, ModelKey, Segment
from commbench.training.call import Call, Group, Schedule
from commbench.training.sources import Candidate, Source, sources_of

US = 1e-6
SIZES = tuple(1 << power for power in range(31))


def model(
    collective: str,
    latency: float,
    rate: float,
    *,
    ranks: int = 2,
    label: str = "wire",
    dtype: str = "float32",
    op: str | None = "sum",
    placement: str = "in",
    mode: str = "pipelined",
    beside: str | None = None,
    sizes: Sequence[int] = SIZES,
    spread: float = 0.0,
) -> Model:
    """A model that says latency + size / rate at each of `sizes`, give or take `spread` (of the logarithm)."""
    op = op if collective in ("all_reduce", "reduce", "reduce_scatter") else None
    seconds = tuple(latency + size / rate for size in sizes)
    return Model(
        key=ModelKey(label, ranks, (ranks,), collective, op, dtype, placement, mode, beside),
        sizes=tuple(sizes), seconds=seconds, latency_seconds=latency, latency_interval=(latency, latency),
        bytes_per_second=rate, bytes_per_second_interval=(rate, rate),
        segments=(Segment(from_bytes=sizes[0], to_bytes=sizes[-1], latency_seconds=latency, bytes_per_second=rate),),
        knots=Knots(message_bytes=tuple(map(float, sizes)), seconds=seconds, spread=(spread,) * len(sizes)),
    )  # fmt: skip


def source(*models: Model) -> Source:
    """The interconnect that some models of one label are about."""
    (only,) = sources_of(
        Candidate(each.key, each.backend, each.device, len(each.sizes), lambda each=each: each)  # type: ignore[misc]
        for each in models
    )
    return only


def call(collective: str = "all_reduce", elements: int = 256, **changes: Any) -> Call:
    """A float32 call among two ranks; `changes` replace its fields."""
    op = "sum" if collective in ("all_reduce", "reduce", "reduce_scatter") else None
    fields = {"phase": "backward", "op": op, "dtype": "float32", "group": Group("world", 2), "carries": "gradients"}
    return Call(collective=collective, elements=elements, **(fields | changes))


def step(*calls: Call, strategy: str = "dp", knobs: Mapping[str, object] | None = None, **changes: Any) -> Schedule:
    """A step of these calls."""
    fields: dict[str, Any] = {
        "variant": "v", "framework": "F", "version": "1", "source": "f.py (g)", "model": "m", "parameters": 1024,
        "world_size": 2, "param_dtype": "float32", "grad_dtype": "float32", "reduce_dtype": "float32", "micro_steps": 1,
    }  # fmt: skip
    return Schedule(strategy=strategy, calls=calls, knobs=knobs or {}, **(fields | changes))
