"""Intervals: of a median (by ranks), of any statistic (bootstrap), of the ratio of two medians.

No normality is assumed anywhere. Sources: Hoefler and Belli, "Scientific Benchmarking of Parallel Computing
Systems", SC'15, rule 5; David and Nagaraja, "Order Statistics", 3rd ed., section 7.1; Efron and Tibshirani,
"An Introduction to the Bootstrap", chapter 13.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import comb

import numpy as np
import numpy.typing as npt

FEWEST_FOR_MEDIAN = 6  # the range of 5 samples covers the median with 1 - 2/2**5 = 93.75 % only
_DRAWN_AT_ONCE = 1 << 20  # numbers resampled together: 8 MiB, whatever the number of samples
_EXACT_UP_TO = 200  # above, the normal approximation of the binomial is within one rank of the exact one

Floats = npt.NDArray[np.float64]


@lru_cache(maxsize=4096)
def median_ranks(n: int, confidence: float = 0.95) -> tuple[int, int] | None:
    """The 0-based ranks of the order statistics that bound the median of n independent samples.

    The interval [x[lo], x[hi]] covers the median with probability 1 - 2 P(Binomial(n, 1/2) <= lo) >= confidence,
    whatever the distribution.

    Returns:
        (lo, hi), or None when even the smallest and largest sample do not reach the confidence (n < 6 at 95 %).
    """
    tail = (1.0 - confidence) / 2.0
    if n <= _EXACT_UP_TO:
        below, lo = 0.0, -1
        while below + comb(n, lo + 1) / 2.0**n <= tail:
            lo += 1
            below += comb(n, lo) / 2.0**n
    else:
        from statistics import NormalDist

        lo = int(np.floor((n - NormalDist().inv_cdf(1.0 - tail) * np.sqrt(n)) / 2.0)) - 1
    return (lo, n - 1 - lo) if lo >= 0 else None


def median_interval(samples: Sequence[float] | Floats, confidence: float = 0.95) -> tuple[float, float] | None:
    """The rank-based interval of the median of `samples` (any unit), or None with fewer than 6 of them."""
    ranks = median_ranks(len(samples), confidence)
    if ranks is None:
        return None
    ordered = np.sort(np.asarray(samples, dtype=np.float64))
    return float(ordered[ranks[0]]), float(ordered[ranks[1]])


def relative_half_width(samples: Sequence[float] | Floats, confidence: float = 0.95) -> float | None:
    """Half the width of the median's interval over the median; None with fewer than 6 samples or a median of 0."""
    interval = median_interval(samples, confidence)
    middle = float(np.median(np.asarray(samples, dtype=np.float64))) if interval else 0.0
    if interval is None or middle <= 0.0:
        return None
    return (interval[1] - interval[0]) / 2.0 / middle


def bootstrap_interval(
    samples: Sequence[float] | Floats,
    statistic: Callable[[Floats], float],
    *,
    confidence: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> tuple[float, float]:
    """The percentile bootstrap interval of `statistic`, which maps a 1-D array of samples to a number."""
    values = np.asarray(samples, dtype=np.float64)
    picks = np.random.default_rng(seed).integers(0, len(values), size=(draws, len(values)))
    results = np.array([statistic(values[row]) for row in picks])
    tail = (1.0 - confidence) / 2.0
    return float(np.quantile(results, tail)), float(np.quantile(results, 1.0 - tail))


def median_ratio_interval(
    a: Sequence[float] | Floats,
    b: Sequence[float] | Floats,
    *,
    confidence: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
) -> tuple[float, float] | None:
    """The percentile bootstrap interval of median(a) / median(b), both resampled independently.

    None where the median of b, or of one draw of it, is 0: times that the clock could not tell apart have no ratio.
    """
    generator = np.random.default_rng(seed)
    above, below = (_drawn_medians(np.asarray(side, dtype=np.float64), draws, generator) for side in (a, b))
    if not below.all():
        return None
    ratios = above / below
    tail = (1.0 - confidence) / 2.0
    return float(np.quantile(ratios, tail)), float(np.quantile(ratios, 1.0 - tail))


def _drawn_medians(values: Floats, draws: int, generator: np.random.Generator) -> Floats:
    """The medians of `draws` samples with replacement, as many at once as fit the memory bound."""
    rows = max(1, _DRAWN_AT_ONCE // len(values))
    parts = [
        np.median(values[generator.integers(0, len(values), size=(min(rows, draws - first), len(values)))], axis=1)
        for first in range(0, draws, rows)
    ]
    return np.concatenate(parts)
