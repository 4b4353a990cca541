"""When sampling stops and how many calls make a sample, as pure decisions."""

from math import inf

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from commbench.measuring.stopping import (
    CALLS_IN_FLIGHT,
    FEWEST_IN_FLIGHT,
    LARGEST_BATCH,
    Rule,
    calls_per_sample,
    next_batch,
    warm_up_calls,
)

STEADY = [1e-3] * 6
WIDE = [1e-3, 2e-3, 3e-3, 4e-3, 5e-3, 6e-3]

times = st.lists(st.floats(0, 10), max_size=40)
spans = st.floats(0, 100)


@given(times, spans, st.floats(1e-4, 1), st.floats(0, 10))
def test_no_point_ends_with_fewer_than_6_samples(
    seconds: list[float], spent: float, target: float, limit: float
) -> None:
    """Whatever was measured, however long it took: six are the fewest that have an interval."""
    assert len(seconds) + next_batch(seconds, spent, Rule(target=target, limit=limit)) >= 6


@given(times, spans, st.floats(1e-4, 1), st.floats(0, 10))
@example(WIDE, 0.0, 0.02, 0.25)
def test_a_batch_is_bounded(seconds: list[float], spent: float, target: float, limit: float) -> None:
    """No batch is negative or so long that ranks go without an agreement."""
    assert 0 <= next_batch(seconds, spent, Rule(target=target, limit=limit)) <= LARGEST_BATCH


@given(st.integers(1, 2000))
def test_n_samples_are_exactly_n(wanted: int) -> None:
    """-n counts samples, below 6 too, and beats target and limit."""
    taken: list[float] = []
    while batch := next_batch(taken, 1e9, Rule(samples=wanted, limit=0.0)):
        taken += WIDE[:1] * batch
    assert len(taken) == wanted


def test_sampling_ends_at_the_target() -> None:
    """Samples that do not differ have an interval of no width."""
    assert next_batch(STEADY, 0.01, Rule()) == 0


def test_sampling_goes_on_above_the_target() -> None:
    """Six scattered samples are not enough while there is time."""
    assert next_batch(WIDE, 0.01, Rule()) > 0


def test_sampling_ends_at_the_limit() -> None:
    """Also far from the target."""
    assert next_batch(WIDE, 0.25, Rule()) == 0


@pytest.mark.parametrize("seconds", [[0.0] * 6, [0.0] * 5 + [1.0]])
def test_times_that_the_clock_cannot_see_end_the_point(seconds: list[float]) -> None:
    """A median of 0 has no relative width to wait for."""
    assert next_batch(seconds, 0.0, Rule()) == 0


def test_a_batch_fits_into_the_time_left() -> None:
    """After 6 samples in 0.2 s, 0.05 s are room for one more."""
    assert next_batch(WIDE, 0.2, Rule()) == 1


def test_sampling_reaches_its_target_on_noise() -> None:
    """Log-normal samples of 10 % noise: the point ends within its limit and its interval is within the target."""
    draw, taken = np.random.default_rng(1), list[float]()
    while batch := next_batch(taken, 1e-6 * len(taken), Rule(target=0.02, limit=1.0)):
        taken += np.exp(0.1 * draw.standard_normal(batch)).tolist()
    assert 50 < len(taken) < 1000  # about (1.25 * 1.96 * 0.1 / 0.02)² = 150 are needed


@pytest.mark.parametrize("rule", [Rule(), Rule(calls=50), Rule(replays=50)])
def test_an_isolated_sample_is_one_call(rule: Rule) -> None:
    """Whatever -m and -G say: they are for the other modes."""
    assert calls_per_sample("isolated", 1e-9, 1e-6, rule, unit=1, most=inf) == 1


@pytest.mark.parametrize("resolution", [1e-8, 1e-7, 5e-7])
@pytest.mark.parametrize("seconds", [1e-9, 1e-6, 1e-5, 1e-3])
def test_a_pipelined_sample_is_100_times_the_resolution(seconds: float, resolution: float) -> None:
    """One tick of the clock weighs 1 % at most, and no fewer calls are in flight than nccl-tests has."""
    calls = calls_per_sample("pipelined", seconds, resolution, Rule(), unit=1, most=inf)
    assert calls * max(seconds, resolution) >= 100 * resolution * (1 - 1e-9)
    assert calls >= CALLS_IN_FLIGHT


def test_long_calls_are_few_in_a_sample() -> None:
    """Calls of 1 s: a pipeline still, not 20 s of one sample."""
    assert calls_per_sample("pipelined", 1.0, 1e-7, Rule(), unit=1, most=inf) == FEWEST_IN_FLIGHT


def test_m_is_the_number_of_calls() -> None:
    """-m 7 is not calibrated away."""
    assert calls_per_sample("pipelined", 1e-9, 1e-6, Rule(calls=7), unit=1, most=inf) == 7


@pytest.mark.parametrize(("expected", "most"), [(3, 3.0), (3, 3.7), (1, 1.0)])
def test_a_sample_stays_below_what_in_place_values_allow(expected: int, most: float) -> None:
    """Also when -m asks for more: overflowed buffers are worse than a short pipeline."""
    assert calls_per_sample("pipelined", 1e-6, 1e-7, Rule(calls=100), unit=1, most=most) == expected


@pytest.mark.parametrize(
    ("expected", "rule", "seconds", "most"),
    [
        (20, Rule(), 1e-4, inf),
        (20 * 3, Rule(replays=3), 1e-4, inf),
        (20 * 5, Rule(), 1e-6, inf),
        (20 * 2, Rule(replays=3), 1e-4, 59.0),
        (20, Rule(replays=3), 1e-4, 5.0),
    ],
)
def test_graph_calls_are_whole_replays(expected: int, rule: Rule, seconds: float, most: float) -> None:
    """20 calls a graph: as many replays as -G says or the clock (1 us) needs, rounded down to what values allow."""
    assert calls_per_sample("graph", seconds, 1e-6, rule, unit=20, most=most) == expected


@pytest.mark.parametrize(
    ("expected", "first", "rule"),
    [
        (4, 1e-3, Rule()),
        (0, 10.0, Rule()),
        (0, 1.0, Rule(warm_up=0)),
        (0, 1.0, Rule(warm_up=1)),
        (9, 1.0, Rule(warm_up=10)),
    ],
)
def test_warm_up_calls_come_after_the_first(expected: int, first: float, rule: Rule) -> None:
    """5 by default, 1 of long calls; -w counts the first call too, which is never timed."""
    assert warm_up_calls(first, rule) == expected
