"""When no model of latency and bandwidth describes a curve, and why."""

from commbench.sweepfile.curves import Curve
from commbench.units import format_rate, format_size, format_size_short

FEWEST_SIZES = 5  # a line has two parameters, and three points more than that can contradict it
SMALLEST_RANGE = 100  # two decades: below, latency and bandwidth cannot be told apart
COLLAPSED = 1 / 3  # of the bandwidth that a smaller size reached
FEWEST_COLLAPSED = 2  # a single one is a dip, which is named as an outlier
NO_BANDWIDTH = (
    "the time does not grow with the size, so these sizes show a latency and no bandwidth: measure larger ones"
)


def refusal(curve: Curve) -> str | None:
    """Why this curve has no model, None where it may have one."""
    sizes = [point.message_bytes for point in curve.points]
    if curve.world_size == 1:
        return "one rank: nothing crosses a link, so there is no latency and bandwidth of one"
    wrong = [point.message_bytes for point in curve.points if point.correct is False]
    if wrong:
        return f"wrong data at {_listed(wrong)}: times of a call that does not do its work mean nothing"
    if len(sizes) < FEWEST_SIZES:
        return f"{len(sizes)} size{'s' if len(sizes) != 1 else ''}: at least {FEWEST_SIZES} are needed"
    if sizes[-1] < SMALLEST_RANGE * sizes[0]:
        return (
            f"sizes from {format_size(sizes[0])} to {format_size(sizes[-1])} span a factor of "
            f"{sizes[-1] / sizes[0]:.3g}: less than two decades ({SMALLEST_RANGE}) cannot tell latency from bandwidth"
        )
    return _collapse(curve)


def _collapse(curve: Curve) -> str | None:
    best, best_size = 0.0, 0
    below = []
    for point in curve.points:
        rate = point.message_bytes / point.seconds if point.seconds > 0.0 else 0.0
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
