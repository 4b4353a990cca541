"""Doubts about a model that is not refused, a sentence each."""

from commbench.modelling.model import Interval, Model, Outlier
from commbench.units import format_rate, format_seconds, format_size

WIDE = 1.5  # of the interval's ends; a bandwidth known no better is no basis for a decision
SHARED_DEVICE = "several ranks shared one GPU: these times are time slices, not a link"
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
    if bandwidth[1] > WIDE * bandwidth[0]:
        found.append(
            f"the bandwidth is only known to be between {format_rate(bandwidth[0])} and {format_rate(bandwidth[1])}: "
            "measure larger sizes"
        )
    if bare.key.world_size is None:
        found.append("the number of ranks is not known, so there is no bus bandwidth")
    return tuple(found)
