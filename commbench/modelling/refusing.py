"""When no model of latency and bandwidth describes a curve, and why."""

from collections.abc import Sequence

import numpy as np

from commbench.modelling.observed import SHORTEST
from commbench.sweepfile.curves import Curve, CurvePoint
from commbench.units import format_rate, format_size, format_size_short

FEWEST_SIZES = 5  # a line has two parameters, and three points more than that can contradict it
SMALLEST_RANGE = 100  # two decades: below, latency and bandwidth cannot be told apart
COLLAPSED = 1 / 3  # of the bandwidth that a smaller size reached
FEWEST_COLLAPSED = 2  # a single one is a dip, which is named as an outlier
APART = 1.5  # launches of one thing on a quiet machine differ by percents
FAR_APART = 3.0  # as a fast link and its replacement are, if only at large sizes
FEWEST_APART = 2  # one size may be an outlier
NO_BANDWIDTH = (
    "the time hardly grows with the size: these sizes show a latency and no bandwidth, so measure larger ones"
)


def refusal(curve: Curve, beside: Sequence[Curve] = ()) -> str | None:
    """Why this curve has no model, None where it may have one.

    Args:
        beside: the other curves of its set.
    """
    sizes = [point.message_bytes for point in curve.points]
    if curve.world_size == 1:
        return "one rank: nothing crosses a link, so there is no latency and bandwidth of one"
    wrong = [point.message_bytes for point in curve.points if point.correct is False]
    if wrong:
        return f"wrong data at {_listed(wrong)}: times of a call that does not do its work mean nothing"
    if _same_program_was_wrong(curve, beside):
        return "not checked, and the same run's results were wrong in the other placement"
    if len(sizes) < FEWEST_SIZES:
        return f"{len(sizes)} size{'s' if len(sizes) != 1 else ''}: at least {FEWEST_SIZES} are needed"
    if sizes[-1] < SMALLEST_RANGE * sizes[0]:
        return (
            f"sizes from {format_size(sizes[0])} to {format_size(sizes[-1])} span a factor of "
            f"{sizes[-1] / sizes[0]:.3g}: less than two decades ({SMALLEST_RANGE}) cannot tell latency from bandwidth"
        )
    return _mixture(curve) or _collapse(curve)


def unknown_bandwidth(slowest: float, fastest: float) -> str:
    """Why an interval of bandwidth (bytes per second) is no answer."""
    return (
        f"the bandwidth may be anything from {format_rate(slowest)} to {format_rate(fastest)}: these times are too few "
        "or too noisy to tell; measure larger sizes, and more often"
    )


def _same_program_was_wrong(curve: Curve, beside: Sequence[Curve]) -> bool:
    """Results that nobody checked, of a run whose checked results in the other placement are all wrong."""
    unchecked = all(point.correct is None for point in curve.points)
    same = [other for other in beside if other.key._replace(placement=curve.key.placement) == curve.key]
    return unchecked and any(all(point.correct is False for point in other.points) for other in same)


def _mixture(curve: Curve) -> str | None:
    """Launches that are apart at many sizes, by more than launches of one thing are."""
    shared = [point for point in curve.points if len(point.launches) > 1]
    if len(shared) < FEWEST_APART:
        return None
    ratios = {point.message_bytes: _apart(point) for point in shared}
    apart = [size for size, ratio in ratios.items() if ratio > APART]
    far = [size for size, ratio in ratios.items() if ratio > FAR_APART]
    if len(apart) < max(FEWEST_APART, len(shared) / 2) and len(far) < max(FEWEST_APART, len(shared) / 4):
        return None
    worst = max(ratios, key=lambda size: ratios[size])
    return (
        f"a mixture of runs: launches differ by more than {APART} times at {_listed(apart)} (most: "
        f"{ratios[worst]:.3g} times at {format_size(worst)}); give runs of different things a --label each"
    )


def _apart(point: CurvePoint) -> float:
    """The slowest launch over the fastest, 1 where their samples overlap."""
    slowest = max(point.launches, key=lambda launch: launch.median)
    fastest = min(point.launches, key=lambda launch: launch.median)
    if fastest.median <= 0.0 or np.quantile(slowest.seconds, 0.25) <= np.quantile(fastest.seconds, 0.75):
        return 1.0
    return slowest.median / fastest.median


def _collapse(curve: Curve) -> str | None:
    best, best_size = 0.0, 0
    below = []
    for point in curve.points:
        seconds = point.seconds
        if seconds < SHORTEST:
            continue
        rate = point.message_bytes / seconds
        if rate < COLLAPSED * best:
            below.append((rate, point.message_bytes))
        if rate > best:
            best, best_size = rate, point.message_bytes
    if len(below) < FEWEST_COLLAPSED:
        return None
    worst, size = min(below)
    return (
        f"a collapse: at {_listed([size for _, size in below])} the bandwidth is below a third of what a smaller size "
        f"reached (worst: {format_rate(worst)} at {format_size(size)}, after {format_rate(best)} at "
        f"{format_size(best_size)})"
    )


def _listed(sizes: list[int]) -> str:
    shown = ", ".join(format_size_short(size) for size in sizes[:3])
    return shown if len(sizes) <= 3 else f"{shown} and {len(sizes) - 3} more sizes"
