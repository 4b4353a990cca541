"""A fitted model as a frozen record: what `fit` finds, `predict` asks, `--save` keeps, and everything later reads.

    from commbench.modelling.fitting import fit_sets      # sweeps -> models
    from commbench.modelling.saved import load, save      # models <-> model.json
    from commbench.modelling.predicting import predict    # model, size -> Prediction

Seconds, bytes, bytes per second; `bytes_per_second` is algorithm bandwidth.
"""

from typing import NamedTuple

import msgspec

Interval = tuple[float, float]


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """A range of sizes over which one latency and one bandwidth hold: t = latency + message_bytes / bandwidth."""

    from_bytes: int
    to_bytes: int
    latency_seconds: float
    bytes_per_second: float


class HeldOut(msgspec.Struct, frozen=True, kw_only=True):
    """Relative errors (1 = 100 %) of sizes that the fit had not seen, and of other methods on the same split."""

    median: float
    mean: float
    worst: float
    interpolation_mean: float
    relative_mean: float
    plain_mean: float
    launch_mean: float | None = None


class ModelKey(NamedTuple):
    """Which model answers: the set's name and size, and the curve."""

    label: str | None
    world_size: int
    ranks_per_host: tuple[int, ...] | None
    collective: str
    op: str | None
    dtype: str | None
    placement: str | None
    mode: str | None
    beside: str | None


class Prediction(NamedTuple):
    """The time of one call of one size.

    Attributes:
        seconds, interval: the expected time (s) and its 95 % interval.
        extrapolated: 1.0 inside the measured sizes, else how many times beyond the nearest measured size.
    """

    seconds: float
    interval: Interval
    extrapolated: float

    @property
    def is_extrapolated(self) -> bool:
        """The size was not inside the measured range."""
        return self.extrapolated > 1.0
