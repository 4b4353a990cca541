"""Doubts about a model that is not refused, a sentence each."""

import numpy as np

from commbench.modelling.model import Interval, Model, Outlier
from commbench.modelling.monotone import rising
from commbench.units import format_rate, format_seconds, format_size

WIDE = 1.5  # of the interval's ends; a bandwidth known no better is no basis for a decision
SHARED_DEVICE = "several ranks shared one GPU: these times are time slices, not a link"
FALL = 0.15  # of a time that larger messages do not need; below, it is noise
FEWEST_FALLEN = 2  # sizes that a prediction cannot follow; a single one is an outlier, or noise
_NAMED = 3


def doubts(bare: Model, outliers: tuple[Outlier, ...], bandwidth: Interval) -> tuple[str, ...]:
    """What a reader of the model must know before using it."""
    found = []
    if outliers:
        named = ", ".join(
            f"{format_size(one.message_bytes)} ({format_seconds(one.seconds)}, about "
            f"{format_seconds(one.expected_seconds)} expected)"
            for one in outliers[:_NAMED]
        )
        more = f" and {len(outliers) - _NAMED} more" if len(outliers) > _NAMED else ""
        word = "outlier has" if len(outliers) == 1 else "outliers have"
        found.append(f"{len(outliers)} {word} little weight: {named}{more}; measure again if they matter")
    found += _fall(bare, {one.message_bytes for one in outliers})
    if bandwidth[1] > WIDE * bandwidth[0]:
        found.append(
            f"the bandwidth is only known to be between {format_rate(bandwidth[0])} and {format_rate(bandwidth[1])}: "
            "measure larger sizes"
        )
    if bare.key.world_size is None:
        found.append("the number of ranks is not known, so there is no bus bandwidth")
    return tuple(found)


def _fall(bare: Model, outliers: set[int]) -> list[str]:
    """Times that fall with the size, which predictions do not follow."""
    kept = [(size, seconds) for size, seconds in zip(bare.sizes, bare.seconds, strict=True) if size not in outliers]
    sizes, logs = [size for size, _ in kept], np.log([seconds for _, seconds in kept])
    off = rising(logs) - logs
    if (np.abs(off) > FALL).sum() < FEWEST_FALLEN:
        return []
    before = np.maximum.accumulate(logs)
    low = int(np.argmax(before - logs))
    high = int(np.argmax(logs[: low + 1]))
    highest, lowest = (f"{format_seconds(float(np.exp(logs[at])))} at {format_size(sizes[at])}" for at in (high, low))
    most = f"{100 * float(np.expm1(np.abs(off).max())):.0f} %"
    return [f"the time falls from {highest} to {lowest}; predictions never fall, and are up to {most} off there"]
