"""Sweeps in, models out: one for each curve of each set."""

from collections.abc import Iterable

import numpy as np

from commbench.modelling.lines import lines, terms
from commbench.modelling.model import Knots, Model, ModelKey, Segment
from commbench.modelling.refusing import refusal
from commbench.sweepfile.curves import Curve, curves_of
from commbench.sweepfile.reader import Sweep
from commbench.sweepfile.sets import SweepSet, sets_of


def fit_sweeps(sweeps: Iterable[Sweep]) -> tuple[Model, ...]:
    """One model for each curve of each set of these sweeps; a curve that has none says why (`refused`)."""
    return fit_sets(sets_of(sweeps))


def fit_sets(sets: Iterable[SweepSet]) -> tuple[Model, ...]:
    """One model for each curve of each set, in the order of the sets and of their curves."""
    return tuple(fit_curve(curve, sweep_set) for sweep_set in sets for curve in curves_of(sweep_set))


def fit_curve(curve: Curve, sweep_set: SweepSet) -> Model:
    """The model of one curve."""
    set_key = sweep_set.key
    points = [point for point in curve.points if point.seconds > 0.0]
    sizes = np.array([point.message_bytes for point in points], dtype=np.float64)
    seconds = np.array([point.seconds for point in points])
    key = ModelKey(sweep_set.name, curve.world_size, set_key.ranks_per_host, *curve.key)
    reason = refusal(curve)
    if reason:
        return Model(key=key, sizes=tuple(p.message_bytes for p in points), seconds=tuple(seconds.tolist()),
                     device=set_key.device, backend=set_key.backend, launches=curve.launches,
                     refused=reason)  # fmt: skip
    fitted = lines(terms(sizes, seconds, np.ones_like(sizes)).sum(axis=0))
    latency, slope = float(fitted.latency), float(fitted.slope)
    rate = 1.0 / slope if slope > 0.0 else None
    spread = float(np.sqrt(fitted.cost / max(1, len(sizes) - 2)))
    rising = np.maximum.accumulate(seconds)
    return Model(
        key=key, sizes=tuple(p.message_bytes for p in points), seconds=tuple(seconds.tolist()),
        device=set_key.device, backend=set_key.backend, launches=curve.launches,
        latency_seconds=latency, latency_interval=(latency * (1 - spread), latency * (1 + spread)),
        bytes_per_second=rate, bytes_per_second_interval=(rate / (1 + spread), rate * (1 + spread)) if rate else None,
        half_bytes=latency * rate if rate else None,
        segments=(Segment(from_bytes=int(sizes[0]), to_bytes=int(sizes[-1]), latency_seconds=latency,
                          bytes_per_second=rate),),
        knots=Knots(message_bytes=tuple(sizes.tolist()), seconds=tuple(rising.tolist()),
                    spread=tuple([spread] * len(sizes))),
    )  # fmt: skip
