"""Numbers that follow from a measurement: never stored, always computed here.

All functions are pure; rates are bytes per second.
"""

import numpy as np

from commbench.collectives import COLLECTIVES
from commbench.dtypes import ELEMENT_BYTES
from commbench.intervals import median_interval, relative_half_width
from commbench.sweepfile.records import Measurement


def median_seconds(measurement: Measurement) -> float:
    """The median over samples of the time of one call on the slowest rank (s)."""
    return float(np.median(np.asarray(measurement.seconds)))


def seconds_interval(measurement: Measurement) -> tuple[float, float] | None:
    """The 95 % interval of that median (s), None with fewer than 6 samples."""
    return median_interval(measurement.seconds)


def half_width(measurement: Measurement) -> float | None:
    """Half that interval over the median (1 = 100 %), None with fewer than 6 samples."""
    return relative_half_width(measurement.seconds)


def spread(measurement: Measurement) -> float | None:
    """The interquartile range of the samples over their median (1 = 100 %), None with one sample or a median of 0."""
    samples = np.asarray(measurement.seconds)
    middle = float(np.median(samples))
    if len(samples) < 2 or middle <= 0.0:
        return None
    low, high = np.quantile(samples, (0.25, 0.75))
    return float(high - low) / middle


def gap_seconds(measurement: Measurement) -> float | None:
    """The median over samples of slowest minus fastest rank (s): entry skew or a slow rank. None if not known."""
    if measurement.fastest_seconds is None:
        return None
    return float(np.median(np.asarray(measurement.seconds) - np.asarray(measurement.fastest_seconds)))


def algorithm_bandwidth(measurement: Measurement) -> float | None:
    """message_bytes over the median time (bytes per second); None without a message or a time."""
    seconds = median_seconds(measurement)
    return measurement.message_bytes / seconds if seconds > 0.0 and measurement.message_bytes else None


def bus_bandwidth(measurement: Measurement, world_size: int | None) -> float | None:
    """Algorithm bandwidth times the collective's bus factor; None where collective or world size is not known."""
    rate = algorithm_bandwidth(measurement)
    collective = COLLECTIVES.get(measurement.collective or "")
    if rate is None or collective is None or world_size is None:
        return None
    return rate * collective.bus_factor(world_size)


def count_argument(measurement: Measurement, world_size: int | None) -> int | None:
    """The per-rank count that nccl-tests prints: elements of the message, of one shard for sharded collectives."""
    collective = COLLECTIVES.get(measurement.collective or "")
    size = ELEMENT_BYTES.get(measurement.dtype or "")
    if collective is None or size is None:
        return None
    elements = measurement.message_bytes // size
    if not collective.sharded:
        return elements
    return elements // world_size if world_size else None
