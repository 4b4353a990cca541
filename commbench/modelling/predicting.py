"""The time of a size: from the knots inside the measured sizes, from the first and last segment outside."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from commbench.errors import RefusedModelError, UsageError
from commbench.modelling.model import Model, Prediction

Floats = npt.NDArray[np.float64]


class Predictions(NamedTuple):
    """Predictions of many sizes: arrays of one length, as the fields of `Prediction`."""

    seconds: Floats
    low: Floats
    high: Floats
    extrapolated: Floats


def predict(model: Model, message_bytes: float) -> Prediction:
    """The time of one call of this size, with its 95 % interval.

    Raises:
        RefusedModelError: there is no model of this curve.
        UsageError: the size is not above 0.
    """
    many = predict_many(model, [message_bytes])
    return Prediction(float(many.seconds[0]), (float(many.low[0]), float(many.high[0])), float(many.extrapolated[0]))


def predict_many(model: Model, message_bytes: Sequence[float] | Floats) -> Predictions:
    """As `predict`, for thousands of sizes at once."""
    curve = _curve(model)
    sizes = np.asarray(message_bytes, dtype=np.float64)
    if not (sizes > 0.0).all():
        raise UsageError(
            "a size without a message was to be predicted",
            expected="sizes of at least 1 byte",
            found=f"{sizes.min():.0f}",
            fix="ask for the size of the whole message in bytes",
        )
    logs = np.log(sizes)
    inside = np.clip(logs, curve.logs[0], curve.logs[-1])
    beyond = np.abs(logs - inside)
    seconds = np.exp(np.interp(inside, curve.logs, curve.log_seconds))
    above = np.maximum(sizes - np.exp(curve.logs[-1]), 0.0) * curve.slope_above
    below = np.maximum(np.exp(curve.logs[0]) - sizes, 0.0) * curve.slope_below
    seconds = np.where(logs > inside, seconds + above, np.maximum(seconds - below, np.minimum(curve.floor, seconds)))
    spread = np.interp(inside, curve.logs, curve.spread) + curve.beyond * beyond
    return Predictions(seconds, seconds * np.exp(-spread), seconds * np.exp(spread), np.exp(beyond))


class _Curve(NamedTuple):
    logs: Floats
    log_seconds: Floats
    spread: Floats
    slope_below: float
    slope_above: float
    floor: float
    beyond: float


@lru_cache(maxsize=256)
def _curve(model: Model) -> _Curve:
    if model.refused or model.knots is None:
        raise RefusedModelError(
            f"{model.key} has no model, so no time can be predicted",
            expected="a curve that latency and bandwidth describe",
            found=model.refused or "a model without a prediction",
            fix="measure it again, or ask for a size that was measured (commbench show)",
        )
    first, last = model.segments[0], model.segments[-1]
    knots = model.knots
    return _Curve(
        np.log(np.asarray(knots.message_bytes)),
        np.log(np.asarray(knots.seconds)),
        np.asarray(knots.spread),
        1.0 / first.bytes_per_second if first.bytes_per_second else 0.0,
        1.0 / last.bytes_per_second if last.bytes_per_second else 0.0,
        first.latency_seconds,
        model.beyond,
    )
