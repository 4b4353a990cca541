"""Every figure of a row, against arithmetic done by hand."""

import pytest

from commbench.showing.rows import Row, in_reading_order, rows

from .sweeps import KIB, MIB, point, sweep


def only(**fields: object) -> Row:
    (row,) = rows(sweep(point(**fields)))  # type: ignore[arg-type]
    return row


def test_the_time_is_the_median() -> None:
    assert only(seconds=(1e-3, 2e-3, 9e-3)).seconds == 2e-3


def test_minimum_and_maximum_are_those_of_the_samples() -> None:
    row = only(seconds=(1e-3, 2e-3, 9e-3))
    assert (row.minimum, row.maximum) == (1e-3, 9e-3)


def test_algorithm_bandwidth_is_size_over_time() -> None:
    assert only(size=MIB, seconds=1e-4).algbw == pytest.approx(MIB / 1e-4)


def test_bus_bandwidth_of_an_all_reduce_over_8_ranks_is_fourteen_eighths_of_it() -> None:
    row = only(size=MIB, seconds=1e-4)
    assert row.busbw == pytest.approx(MIB / 1e-4 * 14 / 8)


def test_the_count_of_an_all_gather_is_one_shard() -> None:
    assert only(size=MIB, collective="all_gather", op=None).count == MIB // 4 // 8


def test_half_width_needs_six_samples() -> None:
    assert only(seconds=(1e-3,) * 5).half_width is None


def test_the_half_width_is_half_of_the_interval_over_the_median() -> None:
    row = only(seconds=(1.0, 2.0, 3.0, 4.0, 5.0, 6.0))
    assert row.half_width == pytest.approx((6.0 - 1.0) / 2 / 3.5)


def test_the_spread_is_the_middle_half_over_the_median() -> None:
    assert only(seconds=(1.0, 2.0, 3.0, 4.0, 5.0)).spread == pytest.approx(2.0 / 3.0)


def test_the_gap_is_slowest_minus_fastest_rank() -> None:
    row = only(seconds=(4e-5, 4e-5), fastest_seconds=(3e-5, 3e-5))
    assert row.gap == pytest.approx(1e-5)
    assert row.gap_share == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("check", "correct", "wrong"),
    [("yes", True, 0), ("WRONG", False, 7), ("WRONG", False, None), ("not checked", None, None)],
)
def test_not_checked_is_a_state_of_its_own(check: str, correct: bool | None, wrong: int | None) -> None:
    assert check == only(correct=correct, wrong=wrong).check


def test_a_target_is_reached_by_steady_samples() -> None:
    (row,) = rows(sweep(point(), settings={"target": 0.02}))
    assert row.reached is True


def test_a_target_is_missed_by_a_row_without_an_interval() -> None:
    (row,) = rows(sweep(point(seconds=(1e-3, 1e-3)), settings={"target": 0.02}))
    assert row.reached is False


def test_a_fixed_number_of_samples_has_no_target() -> None:
    (row,) = rows(sweep(point(), settings={"target": 0.02, "samples": 20}))
    assert row.reached is None


def test_the_words_of_a_row_name_the_point() -> None:
    assert only(size=64 * KIB).words == "all_reduce 64 KiB, in place, isolated"


def test_reading_order_is_curve_by_curve() -> None:
    points = [point(size, mode=mode) for size in (KIB, 2 * KIB) for mode in ("isolated", "graph")]
    order = [(row.mode, row.message_bytes) for row in in_reading_order(rows(sweep(*points)))]
    assert order == [("isolated", KIB), ("isolated", 2 * KIB), ("graph", KIB), ("graph", 2 * KIB)]


def test_reading_order_keeps_the_order_of_collectives() -> None:
    points = [point(collective=name) for name in ("reduce", "all_gather", "reduce")]
    assert [row.collective for row in in_reading_order(rows(sweep(*points)))] == ["reduce", "reduce", "all_gather"]


def test_each_group_has_its_median() -> None:
    assert only(group_seconds=((1e-3, 3e-3, 2e-3), (5e-3,))).group_seconds == (2e-3, 5e-3)
