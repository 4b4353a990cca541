"""What a measured curve says about the calls of one kind: times, intervals, and how far from what was measured.

At a number of ranks that was not measured, the laws of `commbench.modelling.scaling` answer where three or more
numbers of ranks were. From fewer, only the ring's own law can, and only if the user asks for that assumption.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from commbench.collectives import COLLECTIVES
from commbench.errors import RefusedModelError
from commbench.modelling.model import Model, ModelKey
from commbench.modelling.predicting import predict_many
from commbench.modelling.scaling import FEWEST_WORLDS, fit_scaling
from commbench.training.sources import Kind, Source

Floats = npt.NDArray[np.float64]


# What a ring's latency is made of, in us: NCCL's own model of a call over NVLink (2.30, src/graph/tuning.cc, Simple).
# Only their ratio counts: one number of ranks cannot tell the launch from the hops.
BASE, HOP = 8.4, 3.4


class Answer(NamedTuple):
    """The times of some calls of one kind.

    Attributes:
        seconds, low, high: of each call, with its 95 % interval.
        latency: the part of it that the size has no share in.
        extrapolated: 1.0 inside the measured sizes and ranks, else how many times beyond.
        stands_in: where another dtype, operator or mode answered: "float32 for bfloat16".
        assumptions: what was taken for granted.
    """

    seconds: Floats
    low: Floats
    high: Floats
    latency: Floats
    extrapolated: Floats
    stands_in: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()


def answer(
    source: Source, kind: Kind, modes: Sequence[str | None], message_bytes: Sequence[int], *, assume_ring: bool
) -> Answer:
    """The times of calls of one kind and these sizes.

    Raises:
        RefusedModelError: the number of ranks was not measured, and no law leads to it.
    """
    if kind.ranks == 1:
        nothing = np.zeros(len(message_bytes))
        return Answer(nothing, nothing, nothing, nothing, nothing + 1.0)
    choice = source.nearest(kind, modes)
    if choice is not None:
        return _measured(choice.model, message_bytes)._replace(stands_in=choice.stands_in)
    law = _by_law(source, kind, modes, message_bytes)
    if law is not None:
        return law
    if assume_ring:
        return _by_ring(source, kind, modes, message_bytes)
    ranks = ", ".join(map(str, source.world_sizes)) or "an unknown number of"
    raise RefusedModelError(
        f"{kind.collective} among {kind.ranks} ranks was not measured",
        expected=f"a sweep with {kind.ranks} ranks, or sweeps with {FEWEST_WORLDS} or more other numbers of ranks",
        found=f"{source.name} was measured with {ranks} ranks",
        fix=f"measure with {kind.ranks} ranks, or add --assume-ring to price other numbers of ranks by the law of a "
        "ring (marked as extrapolated)",
    )


def beside_compute(
    source: Source, kind: Kind, modes: Sequence[str | None], message_bytes: Sequence[int]
) -> list[float | None]:
    """The times of the calls beside computation (s); None for sizes that were not measured so."""
    choice = source.nearest(kind, modes, beside="compute")
    if choice is None:
        return [None] * len(message_bytes)
    times = predict_many(choice.model, np.asarray(message_bytes, dtype=np.float64))
    return [
        seconds if beyond <= 1.0 else None
        for seconds, beyond in zip(times.seconds.tolist(), times.extrapolated.tolist(), strict=True)
    ]


def _measured(model: Model, message_bytes: Sequence[int]) -> Answer:
    times = predict_many(model, np.asarray(message_bytes, dtype=np.float64))
    latency = np.minimum(times.seconds, max(0.0, model.latency_seconds or 0.0))
    return Answer(times.seconds, times.low, times.high, latency, times.extrapolated)


def _by_law(source: Source, kind: Kind, modes: Sequence[str | None], message_bytes: Sequence[int]) -> Answer | None:
    """From the law that three or more measured numbers of ranks follow; None where there is none."""
    found = [each for each in source.of(kind.collective, modes) if (each.key.world_size or 1) > 1]
    if len({each.key.world_size for each in found}) < FEWEST_WORLDS:
        return None
    choice = source.choose(found, kind, modes)
    family = [each.model for each in found if _curve(each.key) == _curve(choice.model.key)]
    try:
        scaling = fit_scaling(family)
    except RefusedModelError:
        return None
    known = {size: scaling.predict(size, kind.ranks) for size in {*message_bytes, choice.model.sizes[0]}}
    times = [known[size] for size in message_bytes]
    smallest = known[choice.model.sizes[0]].seconds
    seconds = np.array([each.seconds for each in times])
    ranks = ", ".join(str(model.key.world_size) for model in scaling.models)
    return Answer(
        seconds, np.array([each.interval[0] for each in times]), np.array([each.interval[1] for each in times]),
        np.minimum(seconds, smallest), np.array([each.extrapolated for each in times]), choice.stands_in,
        (f"{kind.collective} among {kind.ranks} ranks follows the law that {ranks} ranks follow: {scaling.law.name}",),
    )  # fmt: skip


def _curve(key: ModelKey) -> ModelKey:
    return key._replace(world_size=None, ranks_per_host=None)


def _steps(collective: str, ranks: int) -> int:
    """Steps one after the other in a ring, which its latency grows with (counted as NCCL's src/graph/tuning.cc)."""
    return 2 * (ranks - 1) if collective == "all_reduce" else ranks - 1


def _by_ring(source: Source, kind: Kind, modes: Sequence[str | None], message_bytes: Sequence[int]) -> Answer:
    """From the nearest number of ranks: latency by the ring's steps, the rest by the bytes that cross each link."""
    near = [each for each in source.of(kind.collective, modes) if (each.key.world_size or 1) > 1]
    if not near:
        raise RefusedModelError(
            f"{kind.collective} was measured on one rank only, where nothing crosses a link",
            expected="a sweep with two or more ranks",
            found=f"{source.name} was measured with {', '.join(map(str, source.world_sizes)) or 'unknown'} ranks",
            fix="measure among more ranks, or name their number when importing (--world-size)",
        )
    ranks = min({each.key.world_size or 0 for each in near}, key=lambda n: abs(np.log(n / kind.ranks)))
    choice = source.choose([each for each in near if each.key.world_size == ranks], kind, modes)
    known = _measured(choice.model, message_bytes)
    bus = COLLECTIVES[kind.collective].bus_factor
    more_steps = _steps(kind.collective, kind.ranks) / _steps(kind.collective, ranks)
    more_bytes = bus(kind.ranks) / bus(ranks)
    steps = _steps(kind.collective, ranks) * HOP
    hops = steps / (BASE + steps)  # of the latency
    rest = (known.seconds - known.latency) * more_bytes

    def ratio(growth: float) -> Floats:
        return (known.latency * growth + rest) / known.seconds

    growth = 1.0 + hops * (more_steps - 1.0)
    likely, most, least = ratio(growth), ratio(max(1.0, more_steps)), ratio(min(1.0, more_steps))
    apart = max(kind.ranks / ranks, ranks / kind.ranks)
    assumption = (
        f"{kind.collective} among {kind.ranks} ranks from {ranks}: a ring on links as fast as those measured: bus "
        f"bandwidth stays, latency is {growth:.3g} times as long (from {min(1.0, more_steps):.3g} to "
        f"{max(1.0, more_steps):.3g} times in the interval)"
    )
    return Answer(
        known.seconds * likely, known.low * least, known.high * most, known.latency * growth,
        np.maximum(known.extrapolated, apart), choice.stands_in, (assumption,),
    )  # fmt: skip
