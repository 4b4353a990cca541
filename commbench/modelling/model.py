"""A fitted model as a frozen record: what `fit` finds, `predict` asks, `--save` keeps, and everything later reads.

    from commbench.modelling.fitting import fit_sets      # sweeps -> models
    from commbench.modelling.inputs import read_models    # sweep files and model.json -> models
    from commbench.modelling.saved import load, save      # models <-> model.json
    from commbench.modelling.predicting import predict    # model, size -> Prediction

Seconds, bytes, bytes per second; `bytes_per_second` is algorithm bandwidth.
"""

from typing import NamedTuple

import msgspec

from commbench.collectives import COLLECTIVES

Interval = tuple[float, float]


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """A range of sizes over which one latency and one bandwidth hold: t = latency + message_bytes / bandwidth.

    `bytes_per_second` is None where the time does not grow with the size (a segment of latency alone).
    """

    from_bytes: int
    to_bytes: int
    latency_seconds: float
    bytes_per_second: float | None

    def seconds(self, message_bytes: float) -> float:
        """The time of one call of this size (s)."""
        return self.latency_seconds + (message_bytes / self.bytes_per_second if self.bytes_per_second else 0.0)


class HeldOut(msgspec.Struct, frozen=True, kw_only=True):
    """Relative errors (1 = 100 %) of sizes that the fit had not seen, and of other methods on the same split."""

    median: float
    mean: float
    worst: float
    interpolation_mean: float
    relative_mean: float
    plain_mean: float
    launch_mean: float | None = None


class Outlier(msgspec.Struct, frozen=True, kw_only=True):
    """A measured size whose time is far from what its neighbours say; it has little weight, and is named."""

    message_bytes: int
    seconds: float
    expected_seconds: float


class ModelKey(NamedTuple):
    """Which model answers: the set's name and size, and the curve."""

    label: str | None
    world_size: int | None
    ranks_per_host: tuple[int, ...] | None
    collective: str
    op: str | None
    dtype: str | None
    placement: str | None
    mode: str | None
    beside: str | None

    def __str__(self) -> str:
        """What a person calls it: `all_reduce sum float32 in isolated, 2 ranks`."""
        words = [self.collective, self.op, self.dtype, self.placement, self.mode]
        words += [f"beside {self.beside}"] if self.beside else []
        ranks = "" if self.world_size is None else f", {self.world_size} rank{'s' if self.world_size > 1 else ''}"
        return " ".join(word for word in words if word) + ranks


class Knots(msgspec.Struct, frozen=True, kw_only=True):
    """The prediction as a curve that never falls: time over size, straight between knots in log-log.

    Attributes:
        message_bytes: sizes, ascending, from the smallest measured to the largest.
        seconds: the predicted time at each.
        spread: half the 95 % interval of the prediction there, of the natural logarithm of the time.
    """

    message_bytes: tuple[float, ...]
    seconds: tuple[float, ...]
    spread: tuple[float, ...]


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """Latency, bandwidth and predictions of one curve, or the reason why there are none.

    Attributes:
        key: which curve of which set.
        device, backend, proved: what ran it along which path, None where the file does not say.
        sizes, seconds: the measured points (median over launches of each launch's median, s).
        launches: launches that contributed.
        refused: why no model describes the data; then all that follows but `warnings` is empty.
        latency_seconds, latency_interval: the time of an empty message: the first segment's latency.
        bytes_per_second, bytes_per_second_interval: the bandwidth that large messages approach: the last segment's.
        half_bytes: the size at which half of that bandwidth is reached, None if not inside the measured sizes.
        segments: ranges of sizes with a latency and a bandwidth of their own, ascending.
        knots: the prediction, segments and local deviations blended.
        beyond: how the error of a prediction grows outside the measured sizes (of log time, per factor e of size).
        held_out: errors on sizes that the fit had not seen; None with fewer than 5.
        outliers: measured sizes that have little weight.
        warnings: doubts, a sentence each.
    """

    key: ModelKey
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]
    device: str | None = None
    backend: str | None = None
    proved: tuple[str, ...] | None = None
    launches: int = 1
    refused: str | None = None
    latency_seconds: float | None = None
    latency_interval: Interval | None = None
    bytes_per_second: float | None = None
    bytes_per_second_interval: Interval | None = None
    half_bytes: float | None = None
    segments: tuple[Segment, ...] = ()
    knots: Knots | None = None
    beyond: float = 0.0
    held_out: HeldOut | None = None
    outliers: tuple[Outlier, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def bus_factor(self) -> float | None:
        """Bus bandwidth over algorithm bandwidth; None where the number of ranks is not known."""
        if self.key.world_size is None:
            return None
        return COLLECTIVES[self.key.collective].bus_factor(self.key.world_size)

    @property
    def bus_bytes_per_second(self) -> float | None:
        """The bus bandwidth that large messages approach; None where bandwidth or number of ranks is not known."""
        factor = self.bus_factor
        return None if factor is None or self.bytes_per_second is None else factor * self.bytes_per_second

    @property
    def bus_bytes_per_second_interval(self) -> Interval | None:
        """Its 95 % interval."""
        factor, interval = self.bus_factor, self.bytes_per_second_interval
        return None if factor is None or interval is None else (factor * interval[0], factor * interval[1])


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
