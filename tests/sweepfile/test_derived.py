"""Derived numbers, against values worked out by hand."""

import pytest

from commbench.sweepfile import derived

from .building import measurement


def test_the_median_is_over_samples() -> None:
    """Of 20, 40 and 30 us: 30 us."""
    assert derived.median_seconds(measurement()) == 3e-5


def test_algorithm_bandwidth_is_message_over_median() -> None:
    """1024 bytes in 30 us are 34.1 MB/s."""
    assert derived.algorithm_bandwidth(measurement()) == pytest.approx(1024 / 3e-5)


@pytest.mark.parametrize(
    ("factor", "collective", "world_size"),
    [
        (1.0, "all_reduce", 2),
        (1.75, "all_reduce", 8),
        (0.75, "all_gather", 4),
        (1.0, "broadcast", 8),
        (0.0, "reduce", 1),
    ],
)
def test_bus_bandwidth_is_algorithm_bandwidth_times_the_factor(factor: float, collective: str, world_size: int) -> None:
    """nccl-tests' factors."""
    point = measurement(collective=collective)
    assert derived.bus_bandwidth(point, world_size) == pytest.approx(factor * 1024 / 3e-5)


@pytest.mark.parametrize(("collective", "world_size"), [("all_reduce", None), (None, 8), ("hypercube", 8)])
def test_bus_bandwidth_is_unknown_without_collective_or_world_size(
    collective: str | None, world_size: int | None
) -> None:
    """None, never 0 or a guess."""
    assert derived.bus_bandwidth(measurement(collective=collective), world_size) is None


@pytest.mark.parametrize("changes", [{"message_bytes": 0}, {"seconds": (0.0,), "fastest_seconds": None}])
def test_bandwidth_is_unknown_without_a_message_or_a_time(changes: dict[str, object]) -> None:
    """A barrier has none, and a time of 0 is below the clock, not an infinite rate."""
    assert derived.algorithm_bandwidth(measurement(**changes)) is None


def test_the_gap_is_the_median_difference_of_slowest_and_fastest() -> None:
    """10 us in each of the three samples."""
    assert derived.gap_seconds(measurement()) == pytest.approx(1e-5)


def test_the_gap_is_unknown_without_the_fastest_rank() -> None:
    """None, not 0."""
    assert derived.gap_seconds(measurement(fastest_seconds=None)) is None


def test_the_spread_is_the_interquartile_range_over_the_median() -> None:
    """Of 1, 2, 3, 4, 5: (4 - 2) / 3."""
    assert derived.spread(measurement(seconds=(5.0, 1.0, 4.0, 2.0, 3.0), fastest_seconds=None)) == pytest.approx(2 / 3)


@pytest.mark.parametrize("seconds", [(1.0,), (0.0, 0.0)])
def test_the_spread_is_unknown_with_one_sample_or_a_median_of_0(seconds: tuple[float, ...]) -> None:
    """None instead of 0 or a division by zero."""
    assert derived.spread(measurement(seconds=seconds, fastest_seconds=None)) is None


def test_the_interval_of_six_samples_is_their_range() -> None:
    """(1, 6) with half width 2.5 / 3.5."""
    point = measurement(seconds=(1.0, 2.0, 3.0, 4.0, 5.0, 6.0), fastest_seconds=None)
    assert derived.seconds_interval(point) == (1.0, 6.0)
    assert derived.half_width(point) == pytest.approx(2.5 / 3.5)


def test_three_samples_have_no_interval() -> None:
    """None below six samples."""
    assert (derived.seconds_interval(measurement()), derived.half_width(measurement())) == (None, None)


@pytest.mark.parametrize(
    ("count", "collective", "dtype", "world_size"),
    [
        (256, "all_reduce", "float32", 4),
        (256, "all_reduce", "float32", None),
        (64, "all_gather", "float32", 4),
        (128, "reduce_scatter", "float16", 4),
        (64, "all_to_all", "float32", 4),
        (None, "all_gather", "float32", None),
        (None, "all_reduce", None, 4),
        (None, None, "float32", 4),
    ],
)
def test_the_count_is_nccl_tests_count_per_rank(
    count: int | None, collective: str | None, dtype: str | None, world_size: int | None
) -> None:
    """Elements of the message of 1024 bytes, of one shard where the message is cut into shards."""
    assert derived.count_argument(measurement(collective=collective, dtype=dtype), world_size) == count
