"""Each warning: a sweep that makes it appear, and one like it that does not."""

from typing import Any

import pytest

from commbench.showing.judgement import judge
from commbench.sweepfile.records import End, MachineState, Source

from .sweeps import KIB, MIB, STEADY, kinds, point, sweep, warned

SCATTERED = tuple(1e-4 * (1 + 0.05 * i) for i in range(12))
H200 = {"device": "NVIDIA H200"}


def rate(busbw: float, **fields: Any) -> Any:
    """A 1 GiB all-reduce over 8 ranks of this bus bandwidth (GB/s)."""
    size = 1 << 30
    return point(size, size * 14 / 8 / (busbw * 1e9), **fields)


def gap(share: float, **fields: Any) -> Any:
    """A point whose fastest rank is this share of the time ahead."""
    return point(seconds=1e-4, fastest_seconds=(1e-4 * (1 - share),) * STEADY, **fields)


def states(before: dict[str, Any], after: dict[str, Any]) -> list[MachineState]:
    """One device before and after."""
    return [
        MachineState(sweep="s", moment="before", devices=({"device": 3} | before,)),
        MachineState(sweep="s", moment="after", devices=({"device": 3} | after,)),
    ]


def test_a_good_sweep_is_not_warned_about() -> None:
    assert judge(sweep(point(), settings={"target": 0.02, "clock_resolution": 5e-7}, environment=H200)) == ()


def test_every_warning_has_three_parts() -> None:
    bad = sweep(
        point(seconds=SCATTERED, correct=False, wrong=3),
        gap(0.9, fastest_rank=3),
        world_size=1,
        settings={"target": 0.02, "clock_resolution": 1.0, "shared_device": True},
        states=states({}, {"other_processes": 1, "temperature_celsius": 99}),
        end=None,
    )
    assert all(warning.seen and warning.why and warning.helps for warning in judge(bad))


class TestNoise:
    def test_spread_is_one_warning_for_all_rows_with_the_worst(self) -> None:
        rows = [point(KIB, SCATTERED), point(MIB, SCATTERED), point(2 * MIB)]
        (warning,) = warned(sweep(*rows), "spread")
        assert "2 of 3 rows (worst: all_reduce 1 KiB, in place, isolated, 22 %)" in warning.seen

    def test_small_spread_is_silent(self) -> None:
        assert "spread" not in kinds(sweep(point(seconds=[1e-4 * (1 + 0.01 * i) for i in range(10)])))

    def test_missed_targets_are_counted_in_one_line(self) -> None:
        (warning,) = warned(sweep(point(seconds=SCATTERED), point(), settings={"target": 0.02}), "missed-target")
        assert warning.seen == "1 of 2 points did not reach ±2 %: the reached half-width is in column ±%"

    def test_a_fixed_number_of_samples_misses_no_target(self) -> None:
        fixed = {"target": 0.02, "samples": 12}
        assert "missed-target" not in kinds(sweep(point(seconds=SCATTERED), settings=fixed))

    def test_outliers_name_the_worst_sample(self) -> None:
        (warning,) = warned(sweep(point(seconds=(*[1e-4] * 9, 5e-4)), point()), "outliers")
        assert "1 of 2 rows (worst: all_reduce 1 MiB, in place, isolated, 500 us, 5.0 times)" in warning.seen

    def test_twice_the_median_is_no_outlier(self) -> None:
        assert "outliers" not in kinds(sweep(point(seconds=(*[1e-4] * 9, 2e-4))))

    def test_a_sample_shorter_than_20_ticks_is_too_short_for_its_clock(self) -> None:
        (warning,) = warned(sweep(point(seconds=1e-5), settings={"clock_resolution": 1e-6}), "coarse-clock")
        assert "10.0 ticks" in warning.seen

    def test_calls_timed_together_make_a_sample_long_enough(self) -> None:
        batched = point(seconds=1e-5, calls_per_sample=2)
        assert "coarse-clock" not in kinds(sweep(batched, settings={"clock_resolution": 1e-6}))


class TestSkew:
    def test_the_fastest_rank_of_a_synchronising_collective_entered_late(self) -> None:
        (warning,) = warned(sweep(gap(0.6, fastest_rank=3), point()), "late-entry")
        assert warning.seen.startswith("rank 3 entered late in 1 of 2 rows")

    def test_half_of_the_time_is_not_late_yet(self) -> None:
        assert "late-entry" not in kinds(sweep(gap(0.4, fastest_rank=3)))

    def test_ranks_that_leave_at_different_times_did_not_enter_late(self) -> None:
        assert "late-entry" not in kinds(sweep(gap(0.6, fastest_rank=3, slowest_rank=5, skew="exit")))

    def test_of_ranks_that_leave_at_different_times_the_slowest_is_slow(self) -> None:
        (warning,) = warned(sweep(gap(0.6, fastest_rank=3, slowest_rank=5, skew="exit")), "slow-rank")
        assert warning.seen.startswith("rank 5 was slowest")

    def test_of_ranks_that_enter_at_different_times_none_is_slow(self) -> None:
        assert "slow-rank" not in kinds(sweep(gap(0.4, fastest_rank=3, slowest_rank=5, skew="entry")))

    def test_without_a_named_rank_nobody_was_late(self) -> None:
        assert "late-entry" not in kinds(sweep(gap(0.6)))

    def test_the_fastest_rank_of_a_broadcast_was_not_late(self) -> None:
        found = kinds(sweep(gap(0.6, fastest_rank=0, slowest_rank=3, collective="broadcast", op=None, root=0)))
        assert "late-entry" not in found

    def test_a_rank_that_is_slowest_again_and_again_is_slow(self) -> None:
        (warning,) = warned(sweep(gap(0.3, slowest_rank=5), gap(0.25, slowest_rank=5)), "slow-rank")
        assert warning.seen.startswith("rank 5 was slowest in most samples of 2 of 2 rows")

    def test_a_small_gap_makes_nobody_slow(self) -> None:
        assert "slow-rank" not in kinds(sweep(gap(0.1, slowest_rank=5)))

    def test_a_late_rank_makes_no_other_one_slow(self) -> None:
        assert "slow-rank" not in kinds(sweep(gap(0.6, fastest_rank=3, slowest_rank=5)))

    def test_a_reduce_ends_at_its_root(self) -> None:
        assert "slow-rank" not in kinds(sweep(gap(0.6, slowest_rank=0, collective="reduce", root=0)))

    def test_another_rank_than_the_root_of_a_reduce_can_be_slow(self) -> None:
        assert "slow-rank" in kinds(sweep(gap(0.6, slowest_rank=2, collective="reduce", root=0)))

    def test_one_rank_has_no_bus(self) -> None:
        (warning,) = warned(sweep(point(), world_size=1), "single-rank")
        assert warning.seen == "one rank: busbw is 0, because nothing crosses a link"

    def test_two_ranks_have_one(self) -> None:
        assert "single-rank" not in kinds(sweep(point(), world_size=2))

    def test_ranks_that_share_a_gpu_measure_time_slices(self) -> None:
        (warning,) = warned(sweep(point(), settings={"shared_device": True}), "shared-device")
        assert warning.seen == "several ranks share one GPU: times are time slices, not a link"

    def test_one_gpu_a_rank_is_silent(self) -> None:
        assert "shared-device" not in kinds(sweep(point(), settings={"shared_device": False}))

    def test_a_slow_group_is_named_with_its_ranks(self) -> None:
        slow = point(group_seconds=((1e-4,), (1e-4,), (2e-4,)))
        (warning,) = warned(sweep(slow, world_size=2, groups=((0, 1), (2, 3), (4, 5))), "slow-group")
        assert "group 2 (ranks 4, 5), 2.0 times" in warning.seen

    def test_equal_groups_are_silent(self) -> None:
        assert "slow-group" not in kinds(sweep(point(group_seconds=((1e-4,), (1.1e-4,)))))


class TestPeak:
    def test_above_the_ring_the_switch_helped(self) -> None:
        (warning,) = warned(sweep(rate(430.0), environment=H200), "above-ring")
        assert "no error" in warning.why

    def test_nvls_takes_an_all_reduce_above_the_link_and_is_no_error(self) -> None:
        assert kinds(sweep(rate(482.0), environment=H200)) == ["above-ring"]

    def test_nvls_that_is_off_is_not_the_reason(self) -> None:
        off = H200 | {"variables": {"NCCL_NVLS_ENABLE": "0"}}
        (warning,) = warned(sweep(rate(430.0), environment=off), "above-ring")
        assert "NVLS is off here" in warning.why

    def test_an_algorithm_bandwidth_above_the_link_is_suspicious(self) -> None:
        (warning,) = warned(sweep(rate(900.0), environment=H200), "above-peak")
        assert "not all of it crossed the link" in warning.why

    def test_an_all_gather_above_the_link_is_suspicious(self) -> None:
        fast = point(1 << 30, (1 << 30) * 7 / 8 / 460e9, collective="all_gather", op=None)
        assert kinds(sweep(fast, environment=H200)) == ["above-peak"]

    def test_a_ring_is_silent(self) -> None:
        assert kinds(sweep(rate(372.0), environment=H200)) == []

    def test_an_unknown_device_is_silent(self) -> None:
        assert kinds(sweep(rate(9999.0), environment={"device": "NVIDIA X1000"})) == []

    def test_a_card_may_have_a_bridge(self) -> None:
        assert kinds(sweep(rate(115.0), environment={"device": "NVIDIA H100 PCIe"})) == []


class TestPayload:
    def test_wrong_rows_come_first(self) -> None:
        bad = point(correct=False, wrong=512, seconds=SCATTERED)
        assert kinds(sweep(bad))[0] == "wrong"

    def test_wrong_elements_are_counted(self) -> None:
        (warning,) = warned(sweep(point(correct=False, wrong=512)), "wrong")
        assert "512 wrong elements" in warning.seen

    def test_correct_rows_are_silent(self) -> None:
        assert kinds(sweep(point())) == []

    def test_rows_that_nobody_checked_are_said(self) -> None:
        (warning,) = warned(sweep(point(correct=None, wrong=None)), "not-checked")
        assert warning.helps == "leave out -c 0"

    def test_a_foreign_tool_has_no_option_of_ours(self) -> None:
        foreign = sweep(point(correct=None, wrong=None), source=Source(tool="osu"))
        assert "-c 0" not in warned(foreign, "not-checked")[0].helps


class TestEnd:
    def test_a_timeout_gives_its_reason(self) -> None:
        end = End(sweep="s", finished_at="2026-08-01T10:01:00Z", status="timed-out", reason="-T 20 s were over")
        (warning,) = warned(sweep(point(), end=end), "timed-out")
        assert warning.seen == "the sweep is timed-out: -T 20 s were over"

    def test_no_end_record_is_one_warning(self) -> None:
        cut = sweep(point(), end=None, notices=["no end record: the run was aborted before it could write one"])
        assert kinds(cut) == ["aborted"]

    def test_what_the_reader_noticed_is_passed_on(self) -> None:
        (warning,) = warned(sweep(point(), notices=["line 9 is cut off and was skipped"]), "notice")
        assert warning.seen == "line 9 is cut off and was skipped"


class TestMachine:
    @pytest.mark.parametrize(
        ("kind", "before", "after", "words"),
        [
            ("throttled", {"throttle_reasons": []}, {"throttle_reasons": ["sw_power_cap"]}, "device 3: sw_power_cap"),
            ("errors-grew", {"ecc_corrected": 1}, {"ecc_corrected": 4}, "device 3: 3 corrected ECC errors"),
            ("errors-grew", {"nvlink_errors": {"replay": 0}}, {"nvlink_errors": {"replay": 2}}, "3: 2 NVLink errors"),
            ("lost", {"nvlink": {"links_active": 18}}, {"nvlink": {"links_active": 17}}, "device 3: 17 of 18 active"),
            ("lost", {"uuid": "GPU-1"}, {"uuid": None}, "device 3: no longer answers"),
            ("hot", {}, {"temperature_celsius": 91}, "device 3: 91 °C of 85 °C"),
            ("other-processes", {"other_processes": 2}, {}, "device 3: 2 processes"),
        ],
    )
    def test_a_change_is_named(self, kind: str, before: dict[str, Any], after: dict[str, Any], words: str) -> None:
        (warning,) = warned(sweep(point(), states=states(before, after)), kind)
        assert words in warning.seen

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ({}, {}),
            ({"throttle_reasons": ["sw_power_cap"]}, {"throttle_reasons": ["sw_power_cap"]}),
            ({"throttle_reasons": []}, {"throttle_reasons": ["gpu_idle"]}),
            ({"ecc_corrected": 4}, {"ecc_corrected": 4}),
            ({"ecc_corrected": None}, {"ecc_corrected": 4}),
            ({}, {"temperature_celsius": 86, "slowdown_celsius": 87}),
            ({"other_processes": 0}, {"other_processes": []}),
            ({"nvlink_errors": {"crc_data": 1, "ecc_data": 9}}, {"nvlink_errors": {"crc_data": 5, "ecc_data": 99}}),
            ({"nvlink": None}, {"nvlink": {"links_active": 18}}),
            ({"nvlink": {"links_active": 18}}, {"nvlink": {"links_active": None}}),
        ],
    )
    def test_no_change_is_silent(self, before: dict[str, Any], after: dict[str, Any]) -> None:
        assert kinds(sweep(point(), states=states(before, after))) == []

    def test_devices_of_two_hosts_are_told_apart(self) -> None:
        hosts = [{"host": host, "device": 0, "ecc_corrected": count} for host, count in (("a", 9), ("b", 0))]
        quiet = [MachineState(sweep="s", moment=m, devices=tuple(hosts)) for m in ("before", "after")]
        assert kinds(sweep(point(), states=quiet)) == []
