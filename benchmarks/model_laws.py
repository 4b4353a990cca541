"""Curves whose law is known, for benchmarks.model_error: what a fit must give back."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from commbench.modelling.fitting import fit_sweeps
from commbench.modelling.model import Model
from commbench.modelling.predicting import predict_many
from commbench.sweepfile.reader import Sweep
from commbench.sweepfile.records import Header, Measurement, Source

Floats = npt.NDArray[np.float64]

NOISE = 0.02
SIZES: Floats = np.geomspace(8.0, 2.0**30, 28)  # 8 B to 1 GiB by doubling
LATENCY, RATE = 20e-6, 200e9  # of a node of H100s, about


class Recovered(NamedTuple):
    """What fits of many draws of one law gave back; shares and relative errors, 1 = 100 %."""

    latency_error: float
    rate_error: float
    latency_covered: float
    rate_covered: float
    prediction_covered: float
    one_segment: float


def sweep(times: Floats, sizes: Floats = SIZES, *, world_size: int = 8, collective: str = "all_reduce") -> Sweep:
    """A sweep with these times: (sizes,) as single values, or (sizes, samples)."""
    header = Header(sweep="law", started_at="", world_size=world_size, source=Source(tool="law"), label="law")
    rows = tuple(
        Measurement(
            sweep="law", collective=collective, message_bytes=int(size), seconds=tuple(np.atleast_1d(seconds).tolist()),
            dtype="float32", op="sum", placement="in", mode="isolated", correct=True,
        )
        for size, seconds in zip(sizes, times, strict=True)
    )  # fmt: skip
    return Sweep(header, rows)


def fit(times: Floats, sizes: Floats = SIZES) -> Model:
    """The model of one curve."""
    return fit_sweeps([sweep(times, sizes)])[0]


def one_line(draws: int, samples: int, noise: Callable[[np.random.Generator, tuple[int, ...]], Floats]) -> Recovered:
    """Draws of one latency and bandwidth.

    Args:
        samples: how many a size, each with the noise; 1 is a foreign single value.
        noise: multiplies the true times, of this shape.
    """
    chance = np.random.default_rng(5)
    truth = LATENCY + SIZES / RATE
    rows = []
    for _ in range(draws):
        model = fit(truth[:, None] * noise(chance, (len(SIZES), samples)))
        latency, rate = model.latency_seconds or 0.0, model.bytes_per_second or 0.0
        asked = np.exp(chance.uniform(np.log(SIZES[0]), np.log(SIZES[-1]), 20))
        answer, right = predict_many(model, asked), LATENCY + asked / RATE
        rows.append(
            (
                abs(latency / LATENCY - 1.0), abs(rate / RATE - 1.0), _holds(model.latency_interval, LATENCY),
                _holds(model.bytes_per_second_interval, RATE),
                float(((answer.low <= right) & (right <= answer.high)).mean()), float(len(model.segments) == 1),
            )
        )  # fmt: skip
    table = np.array(rows)
    return Recovered(*np.median(table[:, :2], axis=0).tolist(), *table[:, 2:].mean(axis=0).tolist())


def found_breaks(draws: int, jump: float) -> float:
    """The share of draws in which a jump of the time between two laws is found within one size step."""
    chance = np.random.default_rng(6)
    found = 0
    for _ in range(draws):
        last = int(chance.integers(6, len(SIZES) - 6))
        times, size = LATENCY + SIZES / RATE, SIZES[last]
        faster = 1.5 * RATE
        latency = (1.0 + jump) * (LATENCY + size / RATE) - size / faster
        above = latency + SIZES / faster
        truth = np.where(np.arange(len(SIZES)) <= last, times, above)
        model = fit((truth * gaussian(chance, (len(SIZES),)))[:, None])
        starts = [segment.from_bytes for segment in model.segments[1:]]
        found += any(SIZES[last] <= start <= SIZES[last + 2] for start in starts)
    return found / draws


def gaussian(chance: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Factors around 1 with a standard deviation of NOISE."""
    factors: Floats = 1.0 + NOISE * chance.standard_normal(shape)
    return factors


def lognormal(chance: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Skewed factors around 1."""
    factors: Floats = np.exp(NOISE * chance.standard_normal(shape))
    return factors


def _holds(interval: tuple[float, float] | None, value: float) -> float:
    return float(interval is not None and interval[0] <= value <= interval[1])
