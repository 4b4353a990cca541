"""Intervals: against the exact binomial, and by how often they cover a known median."""

import tracemalloc
from fractions import Fraction
from math import comb, exp

import numpy as np
import pytest

from commbench.intervals import (
    FEWEST_FOR_MEDIAN,
    bootstrap_interval,
    median_interval,
    median_ranks,
    median_ratio_interval,
    relative_half_width,
)

TRUE_MEDIAN = exp(-10.0)  # of the log-normal samples below, skewed as times of calls are


def _exact_ranks(n: int, confidence: Fraction) -> tuple[int, int] | None:
    """The narrowest symmetric ranks with 1 - 2 P(Binomial(n, 1/2) <= lo) >= confidence, by whole numbers."""
    allowed, below, lo = (1 - confidence) * 2**n / 2, 0, -1
    while below + comb(n, lo + 1) <= allowed:
        lo += 1
        below += comb(n, lo)
    return (lo, n - 1 - lo) if lo >= 0 else None


@pytest.mark.parametrize("percent", [90, 95, 99])
def test_ranks_are_those_of_the_exact_binomial_up_to_200_samples(percent: int) -> None:
    """For n = 5 .. 200 the narrowest symmetric ranks that reach the confidence, by whole-number arithmetic."""
    exact = {n: _exact_ranks(n, Fraction(percent, 100)) for n in range(5, 201)}
    assert {n: median_ranks(n, percent / 100) for n in range(5, 201)} == exact


@pytest.mark.parametrize("percent", [90, 95, 99])
def test_ranks_are_at_most_one_wider_than_exact_above_200_samples(percent: int) -> None:
    """For n = 201 .. 300 the approximation reaches the confidence too, and gives away at most one rank a side."""
    for n in range(201, 301):
        ranks, exact = median_ranks(n, percent / 100), _exact_ranks(n, Fraction(percent, 100))
        assert ranks is not None
        assert exact is not None
        assert 0 <= exact[0] - ranks[0] <= 1, n


def test_ranks_are_symmetric() -> None:
    """As many samples below the interval as above it."""
    assert all(sum(ranks) == n - 1 for n in range(6, 301) if (ranks := median_ranks(n)))


def test_five_samples_have_no_interval() -> None:
    """Five cover 93.75 % only; six are the fewest for 95 %."""
    assert (median_interval([1.0] * 5), FEWEST_FOR_MEDIAN) == (None, 6)


def test_six_samples_have_their_range() -> None:
    """With six samples the interval is from the smallest to the largest, in any order given."""
    assert median_interval([3.0, 1.0, 2.0, 6.0, 5.0, 4.0]) == (1.0, 6.0)


def test_many_samples_stay_within_float_range() -> None:
    """2**n is no float above n = 1023: such sample counts work all the same."""
    ranks = median_ranks(100_000)
    assert ranks is not None
    assert ranks[1] - ranks[0] == pytest.approx(1.96 * 100_000**0.5, abs=4)


@pytest.mark.parametrize("n", [6, 11, 40, 250])
def test_the_interval_covers_the_median_of_skewed_samples(n: int) -> None:
    """In 2000 seeded draws of n log-normal samples, at least 94 % of the intervals hold the true median."""
    draws = np.random.default_rng(20261129).lognormal(-10.0, 0.8, size=(2000, n))
    intervals = [median_interval(row) for row in draws]
    covered = sum(interval is not None and interval[0] <= TRUE_MEDIAN <= interval[1] for interval in intervals)
    assert covered / 2000 >= 0.94


def test_the_interval_is_not_needlessly_wide() -> None:
    """For 40 samples the exact coverage is 96.2 %: in 2000 draws no more than 98 % of the intervals cover."""
    draws = np.random.default_rng(7).lognormal(-10.0, 0.8, size=(2000, 40))
    intervals = [median_interval(row) for row in draws]
    covered = sum(interval is not None and interval[0] <= TRUE_MEDIAN <= interval[1] for interval in intervals)
    assert covered / 2000 <= 0.98


def test_half_width_is_relative_to_the_median() -> None:
    """(6 - 1) / 2 / 3.5."""
    assert relative_half_width([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]) == pytest.approx(2.5 / 3.5)


@pytest.mark.parametrize("samples", [[1.0] * 5, [0.0] * 10])
def test_half_width_is_unknown_with_few_samples_or_a_median_of_0(samples: list[float]) -> None:
    """None instead of a division by zero or a guess."""
    assert relative_half_width(samples) is None


def test_the_ratio_interval_covers_the_true_ratio() -> None:
    """In 300 seeded pairs of 30 log-normal samples with medians 1.3 : 1, at least 92 % of the intervals hold 1.3."""
    generator = np.random.default_rng(5)
    a, b = 1.3 * generator.lognormal(0, 0.4, size=(300, 30)), generator.lognormal(0, 0.4, size=(300, 30))
    intervals = [median_ratio_interval(x, y, draws=500) for x, y in zip(a, b, strict=True)]
    assert sum(found is not None and found[0] <= 1.3 <= found[1] for found in intervals) / 300 >= 0.92


def test_the_ratio_is_a_over_b() -> None:
    """Constant samples leave no doubt: 6 over 2 is 3."""
    assert median_ratio_interval([6.0] * 8, [2.0] * 9) == (3.0, 3.0)


def test_equal_sides_have_an_interval_around_1() -> None:
    """Two draws of one distribution: 1 lies inside."""
    generator = np.random.default_rng(3)
    found = median_ratio_interval(generator.lognormal(0, 0.3, 50), generator.lognormal(0, 0.3, 50))
    assert found is not None
    assert found[0] < 1.0 < found[1]


@pytest.mark.parametrize("below", [[0.0] * 6, [0.0, 0.0, 1.0]])
def test_a_ratio_to_0_is_unknown(below: list[float]) -> None:
    """None, not a division by zero, also where only some draws of the second side have a median of 0."""
    assert median_ratio_interval([1.0, 2.0], below) is None


def test_a_ratio_of_many_samples_needs_little_memory() -> None:
    """100 draws of 100000 samples are 80 MB of each kind at once; no more than 32 MiB are taken in all."""
    tracemalloc.start()
    found = median_ratio_interval(np.full(100_000, 3.0), np.full(100_000, 2.0), draws=100)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == (1.5, 1.5)
    assert peak < 32 << 20, peak


def test_the_bootstrap_covers_a_mean() -> None:
    """In 300 seeded draws of 40 normal samples around 10, at least 91 % of the intervals of the mean hold 10."""
    draws = np.random.default_rng(11).normal(10.0, 1.0, size=(300, 40))
    intervals = [bootstrap_interval(row, lambda values: float(np.mean(values)), draws=300) for row in draws]
    assert sum(low <= 10.0 <= high for low, high in intervals) / 300 >= 0.91


def test_a_bootstrap_is_the_same_every_time() -> None:
    """Same samples, same seed, same interval."""
    first, second = (bootstrap_interval([1.0, 2.0, 5.0], lambda v: float(np.median(v))) for _ in range(2))
    assert first == second
