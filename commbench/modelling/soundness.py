"""What a saved model must hold before anything is computed from it: such files are edited by hand and by scripts."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from commbench.collectives import COLLECTIVES
from commbench.modelling.knots import WIDEST
from commbench.modelling.model import Knots, Model

LARGEST = 2.0**63  # bytes, or bytes per second
LONGEST = 1e12  # s; a sweep file holds up to 1e9, which a fit may exceed


def flaw(model: Model) -> str | None:
    """The first thing that is wrong with a model, None where predictions can be computed from it."""
    return next((what for sound, what in _checks(model) if not sound), None)


def _checks(model: Model) -> Iterator[tuple[bool, str]]:
    """Pairs of whether something holds and what is wrong otherwise; each may rely on those before it."""
    key = model.key
    yield key.collective in COLLECTIVES, f"an unknown collective, {key.collective!r}"
    yield key.world_size is None or 1 <= key.world_size <= LARGEST, f"{key.world_size} ranks"
    yield len(model.sizes) == len(model.seconds), "sizes and seconds of different lengths"
    yield _within(model.sizes, 1, LARGEST) and _within(model.seconds, 0.0, LONGEST), "a size or time out of range"
    if model.refused is not None:
        yield bool(model.refused), "a refusal without a reason"
        return
    yield len(model.sizes) > 0, "no sizes"
    latency, rate = model.latency_seconds, model.bytes_per_second
    yield latency is not None and 0.0 <= latency <= LONGEST, "no latency, or one that cannot be"
    yield rate is not None and 0.0 < rate < float("inf"), "no bandwidth, or one that cannot be"
    yield model.latency_interval is not None and model.bytes_per_second_interval is not None, "no intervals"
    yield len(model.segments) > 0, "no segments"
    rates = [segment.bytes_per_second for segment in model.segments if segment.bytes_per_second is not None]
    yield all(1e-18 <= one < float("inf") for one in rates), "a segment's bandwidth that cannot be"
    yield _within([segment.latency_seconds for segment in model.segments], 0.0, LONGEST), "a segment's latency"
    yield 0.0 <= model.beyond <= WIDEST, "a growth of errors out of range"
    yield model.knots is not None, "no knots"
    if model.knots is not None:
        yield from _of_knots(model.knots)


def _of_knots(knots: Knots) -> Iterator[tuple[bool, str]]:
    yield len(knots.message_bytes) == len(knots.seconds) == len(knots.spread) > 1, "knots of different lengths"
    yield _within(knots.message_bytes, 1e-9, LARGEST), "a knot's size out of range"
    yield all(a < b for a, b in pairwise(knots.message_bytes)), "knots that do not ascend"
    yield _within(knots.seconds, 1e-15, LONGEST), "a knot's time out of range"
    yield all(a <= b for a, b in pairwise(knots.seconds)), "times of knots that fall"
    yield _within(knots.spread, 0.0, WIDEST), "a knot's spread out of range"


def _within(values: Sequence[float], low: float, high: float) -> bool:
    return all(low <= value <= high for value in values)
