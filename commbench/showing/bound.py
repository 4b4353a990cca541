"""What the time of each size goes to: the launch, the latency of the path, or its bandwidth.

Definition, per curve (same collective, dtype, operator, root, placement, mode, and what ran beside it; its cycles
pooled by their median):

    The time t of a size s has a part that grows with the size, s * dt/ds, and a part that does not: the overhead,
    t - s * dt/ds, which is where the tangent of the curve at s meets size 0. On t = a + s/b these are s/b and a.

    bandwidth   more than half of the time grows with the size
    latency     at least half of the time is overhead
    launch      as latency, and the overhead is the host's: on a device clock, a host-paced time (isolated or
                pipelined) of at least 1.5 times that of the CUDA graph of the same point, or an isolated time of at
                least 1.5 times the pipelined one; or a host-paced call of a single rank, where nothing is sent

The slope dt/ds is local, because libraries change protocol along the curve and each has its own overhead: it is the
median slope of all pairs (Theil and Sen) of the sizes within a factor of four, and of at least the five nearest, so a
single bad size moves nothing. Fewer than three sizes give no slope and no answer.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from commbench.sweepfile.derived import median_seconds
from commbench.sweepfile.reader import Sweep
from commbench.sweepfile.records import Measurement

Bound = Literal["launch", "latency", "bandwidth"]
Floats = npt.NDArray[np.float64]

FEWEST_SIZES = 3
HOST_PACED = 1.5  # the host's jitter reaches 1.2; a launch that costs no more than that changes no decision
_NEIGHBOURHOOD = 4.0  # two sizes to each side at the usual factor of two
_NEAREST = 5
_MOST = 16  # with many close sizes (-i) that many, spread over the neighbourhood, say as much as all of them

_Curve = tuple[object, ...]


def bounds(sweep: Sweep) -> tuple[Bound | None, ...]:
    """What each measurement of the sweep is bound by, in the file's order; None where it cannot be said."""
    times: dict[_Curve, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for measurement in sweep.measurements:
        times[_curve(measurement, measurement.mode)][measurement.message_bytes].append(median_seconds(measurement))
    curves = {key: {size: float(np.median(t)) for size, t in sorted(curve.items())} for key, curve in times.items()}
    shares = {key: _growing(curve) for key, curve in curves.items()}

    def bound(measurement: Measurement) -> Bound | None:
        share = shares[_curve(measurement, measurement.mode)].get(measurement.message_bytes)
        if share is None:
            return None
        if share > 0.5:
            return "bandwidth"
        return "launch" if _host_paces(measurement, curves, sweep.header.world_size) else "latency"

    return tuple(bound(measurement) for measurement in sweep.measurements)


def growing_shares(sizes: Sequence[int], seconds: Sequence[float]) -> list[float]:
    """For each size of one curve (at least three, ascending) the share of its time that grows with the size."""
    x, t = np.asarray(sizes, dtype=np.float64), np.asarray(seconds, dtype=np.float64)
    shares = []
    for size, time in zip(x, t, strict=True):
        near = _neighbours(x, float(size))
        shares.append(float(size * _slope(x[near], t[near]) / time) if time > 0.0 else 0.0)
    return shares


def _growing(curve: dict[int, float]) -> dict[int, float]:
    sizes = [size for size in curve if size > 0]
    if len(sizes) < FEWEST_SIZES:
        return {}
    return dict(zip(sizes, growing_shares(sizes, [curve[size] for size in sizes]), strict=True))


def _neighbours(sizes: Floats, size: float) -> npt.NDArray[np.intp]:
    distance = np.abs(np.log(sizes / size))
    within = np.flatnonzero(distance <= np.log(_NEIGHBOURHOOD) * (1 + 1e-9))
    if len(within) < _NEAREST:
        return np.sort(np.argsort(distance, kind="stable")[:_NEAREST])
    if len(within) > _MOST:
        return within[np.linspace(0, len(within) - 1, _MOST).round().astype(np.intp)]
    return within


def _slope(sizes: Floats, seconds: Floats) -> float:
    low, high = np.triu_indices(len(sizes), 1)
    return float(np.median((seconds[high] - seconds[low]) / (sizes[high] - sizes[low])))


def _curve(measurement: Measurement, mode: str | None) -> _Curve:
    m = measurement
    return (m.collective, m.dtype, m.op, m.root, m.placement, mode, m.beside)


def _host_paces(m: Measurement, curves: dict[_Curve, dict[int, float]], world_size: int | None) -> bool:
    if m.clock != "device" or m.mode not in ("isolated", "pipelined"):
        return False
    if world_size == 1:
        return True
    own = curves[_curve(m, m.mode)][m.message_bytes]
    less_hosted = ("graph", "pipelined") if m.mode == "isolated" else ("graph",)
    others = (curves.get(_curve(m, mode), {}).get(m.message_bytes) for mode in less_hosted)
    return any(other is not None and own >= HOST_PACED * other for other in others)
