"""Each quantity that a limit can name, computed from measurements with its error."""

from collections.abc import Sequence
from math import exp, hypot, log

import numpy as np

from commbench.collectives import COLLECTIVES
from commbench.intervals import median_interval
from commbench.judging.bounds import Measure
from commbench.judging.estimates import Estimate, Interval, Sureness, quantile, time_of
from commbench.judging.limits import LaunchSpread
from commbench.judging.units import Unit, launches_of
from commbench.modelling.fitting import fit_curve
from commbench.sweepfile.curves import Curve, CurveKey, CurvePoint
from commbench.sweepfile.records import Measurement

_DRAWS = 400
_NO_TIME = "the clock could not tell the time from 0"
_FEWEST = 6  # samples for an interval of a spread or a gap


def at_size(
    quantity: Measure,
    measurements: Sequence[Measurement],
    world_size: int | None,
    sure: Sureness,
    spread: LaunchSpread | None,
) -> Estimate | str:
    """A quantity of one size of one curve, or why there is none."""
    if quantity == "spread":
        return _spread(measurements, sure.confidence)
    if quantity == "gap":
        return _gap(measurements, sure.confidence)
    time = time_of(launches_of(measurements), sure, spread)
    if quantity == "time":
        return time
    first = measurements[0]
    scale = float(first.message_bytes)
    if quantity == "busbw":
        factor = COLLECTIVES[str(first.collective)].bus_factor(world_size or 1)
        if not factor:
            return "one rank, so nothing crossed a bus"
        scale *= factor
    if time.value <= 0.0:
        return _NO_TIME
    return time.inverse(scale)


def of_curve(
    quantity: Measure, unit: Unit, key: CurveKey, sizes: tuple[int, int] | None, sure: Sureness
) -> Estimate | str:
    """Latency, plateau (bus bandwidth) or n-half of a curve's fit over `sizes`, or why there is none."""
    model = fit_curve(_curve(unit, key, sizes), unit.sweep_set)
    if model.refused is not None:
        return f"no model describes the curve: {model.refused}"
    if quantity == "latency":
        return _fitted(model.latency_seconds, model.latency_interval, sure)
    if quantity == "plateau":
        return _fitted(model.bus_bytes_per_second, model.bus_bytes_per_second_interval, sure)
    if model.half_bytes is None:
        return "half of the bandwidth is not reached inside the measured sizes"
    latency = _reach(model.latency_seconds, model.latency_interval)
    bandwidth = _reach(model.bytes_per_second, model.bytes_per_second_interval)
    reach = [hypot(*ends) for ends in zip(latency, bandwidth, strict=True)]
    low, high = model.half_bytes * exp(-min(reach[0], 700.0)), model.half_bytes * exp(min(reach[1], 700.0))
    return _fitted(model.half_bytes, (low, high), sure)


def _curve(unit: Unit, key: CurveKey, sizes: tuple[int, int] | None) -> Curve:
    first, last = sizes or (0, 1 << 63)
    points = tuple(
        CurvePoint(size, launches_of(members), _correct(members))
        for size, members in sorted(unit.points[key].items())
        if first <= size <= last and all(any(m.seconds) for m in members)
    )
    return Curve(key, unit.key.world_size, points)


def _correct(measurements: Sequence[Measurement]) -> bool | None:
    checks = {False if m.wrong else m.correct for m in measurements}
    return False if False in checks else None if None in checks else True


def _fitted(value: float | None, interval: Interval | None, sure: Sureness) -> Estimate | str:
    if value is None or value <= 0.0:
        return "the fit does not say"
    if interval is None or interval[0] <= 0.0:
        return Estimate(value, interval, "fit")
    wider = quantile(1e9, sure.confidence) / quantile(1e9, 0.95)  # the fit's own interval is at 95 %
    low, high = (wider * one for one in _reach(value, interval))
    return Estimate(value, (value * exp(-min(low, 700.0)), value * exp(min(high, 700.0))), "fit")


def _reach(value: float | None, interval: Interval | None) -> tuple[float, float]:
    """How far below and above the value its interval goes, in logarithms."""
    if value is None or interval is None or value <= 0.0:
        return 0.0, 0.0
    low = log(value / interval[0]) if interval[0] > 0.0 else 700.0
    high = log(interval[1] / value) if interval[1] < float("inf") else 700.0
    return max(0.0, low), max(0.0, high)


def _spread(measurements: Sequence[Measurement], confidence: float) -> Estimate | str:
    """The middle half of the samples over their median, of the launch where that is largest."""
    found = [
        _spread_of(np.asarray(m.seconds), confidence) for m in measurements if len(m.seconds) >= 2 and any(m.seconds)
    ]
    if any(len(m.seconds) >= 2 and np.median(m.seconds) <= 0.0 for m in measurements):
        return _NO_TIME
    if not found:
        return "one value a size has no spread"
    return max(found, key=lambda one: one.value)


def _spread_of(samples: np.ndarray[tuple[int], np.dtype[np.float64]], confidence: float) -> Estimate:
    n = len(samples)
    picks = np.random.default_rng(0).integers(0, n, size=(_DRAWS, n))
    low, middle, high = np.quantile(samples, (0.25, 0.5, 0.75))
    value = float((high - low) / middle) if middle > 0.0 else 0.0
    if n < _FEWEST:
        return Estimate(value, None, "samples", n)
    lows, middles, highs = np.quantile(samples[picks], (0.25, 0.5, 0.75), axis=1)
    drawn = (highs - lows) / np.where(middles > 0.0, middles, 1.0)
    tail = (1.0 - confidence) / 2.0
    ends = float(np.quantile(drawn, tail)), float(np.quantile(drawn, 1.0 - tail))
    return Estimate(value, (min(ends[0], value), max(ends[1], value)), "samples", n)


def _gap(measurements: Sequence[Measurement], confidence: float) -> Estimate | str:
    """Slowest less fastest rank over the time, median over samples, of the launch where that is largest."""
    found = []
    for m in measurements:
        if m.fastest_seconds is None:
            continue
        slowest, fastest = np.asarray(m.seconds), np.asarray(m.fastest_seconds)
        middle = float(np.median(slowest))
        if middle <= 0.0:
            return _NO_TIME
        if (fastest > slowest).any():
            return "the fastest rank took longer than the slowest one, so these are no times of ranks"
        gaps = (slowest - fastest) / middle
        found.append(Estimate(float(np.median(gaps)), median_interval(gaps, confidence), "samples", len(gaps)))
    return max(found, key=lambda one: one.value) if found else "the fastest rank's time is not known"
