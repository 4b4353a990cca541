"""Comparisons of sides whose true difference is known."""

import msgspec
import pytest

from commbench.errors import UsageError
from commbench.judging.compared import Comparison
from commbench.judging.comparison import compare
from commbench.judging.multiple_tests import adjusted
from commbench.sweepfile.records import Void
from tests.judging.synthetic import SIZES, law, pair, sweep

RUNS = 200


def outcomes(shift: float, **options: float) -> list[str]:
    """The outcome of RUNS comparisons of two sides of which b takes (1 + shift) the time."""
    return [
        compare(
            pair(
                [sweep("a", seed=seed, **options)],  # type: ignore[arg-type]
                [sweep("b", seed=seed, seconds=lambda size: law(size) * (1 + shift), **options)],  # type: ignore[arg-type]
            ),
            fitted=False,
        ).outcome
        for seed in range(RUNS)
    ]


@pytest.mark.parametrize("samples", [6, 12])
def test_identical_sides_have_no_measurable_difference(samples: int) -> None:
    """At least 95 % of 200 pairs."""
    assert outcomes(0.0, samples=samples).count("no measurable difference") >= 0.95 * RUNS


@pytest.mark.parametrize("samples", [6, 12])
def test_five_percent_are_found(samples: int) -> None:
    """At least 95 % of 200 pairs, noise 2 %."""
    assert outcomes(0.05, samples=samples).count("different") >= 0.95 * RUNS


def test_luck_of_a_launch_is_no_difference() -> None:
    """Launches that differ by 5 %, all sizes alike: samples within a launch do not know."""
    found = [
        compare(
            pair(
                [sweep("a", seed=2 * seed + i, launch_noise=0.05) for i in range(3)],
                [sweep("b", seed=2 * seed + i, launch_noise=0.05) for i in range(3)],
            ),
            fitted=False,
        ).outcome
        for seed in range(0, RUNS, 2)
    ]
    assert found.count("different") <= 0.05 * len(found)


def test_a_large_difference_stands_out_of_launches_luck() -> None:
    """Two launches a side that differ by 5 %, and twice the time."""
    result = compare(
        pair(
            [sweep("a", seed=i, launch_noise=0.05) for i in range(2)],
            [sweep("b", seed=i, launch_noise=0.05, seconds=lambda size: 2 * law(size)) for i in range(2)],
        )
    )
    assert result.outcome == "different"


def test_the_ratio_is_that_of_the_medians() -> None:
    result = compare(pair([sweep("a")], [sweep("b", seconds=lambda size: 3 * law(size))]))
    point = result.comparisons[0]
    assert point.ratio == point.seconds[1] / point.seconds[0]


def test_the_ratio_of_twice_the_time_is_two() -> None:
    result = compare(pair([sweep("a", noise=0.0)], [sweep("b", noise=0.0, seconds=lambda size: 2 * law(size))]))
    assert [point.ratio for point in result.comparisons] == pytest.approx([2.0] * len(SIZES))


def test_the_interval_holds_the_true_ratio() -> None:
    """95 % intervals of 200 x 10 ratios of 1.3: within three standard deviations of 95 %, or above."""
    held = [
        point.interval is not None and point.interval[0] <= 1.3 <= point.interval[1]
        for seed in range(RUNS)
        for point in compare(
            pair([sweep("a", seed=seed)], [sweep("b", seed=seed, seconds=lambda size: 1.3 * law(size))]),
            fitted=False,
        ).comparisons
    ]
    assert sum(held) / len(held) >= 0.935


def crossing(size: int) -> float:
    """Half the latency, a quarter of the bandwidth of `law`: they cross where 5 us are 3 ns a byte, at 1667 B."""
    return 0.5e-5 + size / 0.25e9


def test_the_crossover_is_found() -> None:
    (curve,) = compare(pair([sweep("a", samples=30)], [sweep("b", seconds=crossing, samples=30)])).curves
    (found,) = curve.crossovers
    assert found.faster_below == "b"
    assert found.message_bytes == pytest.approx(1667, rel=0.25)


def test_sides_of_one_curve_cross_nowhere() -> None:
    (curve,) = compare(pair([sweep("a")], [sweep("b")])).curves
    assert curve.crossovers == ()


def test_both_fits_stand_beside_it() -> None:
    (curve,) = compare(pair([sweep("a")], [sweep("b", seconds=crossing)])).curves
    assert [fit.bytes_per_second for fit in curve.fits or ()] == pytest.approx([1e9, 0.25e9], rel=0.1)


def test_a_wrong_side_voids_the_pair() -> None:
    result = compare(pair([sweep("a")], [sweep("b", correct=False)]))
    assert result.outcome == "void"
    assert {point.verdict for point in result.comparisons} == {"void"}


def test_a_void_sweep_voids_the_pair() -> None:
    wish = sweep("b")
    marked = type(wish)(**{**vars(wish), "voids": (Void(sweep="b-0", reason="host did not take: P2P"),)})
    assert "host did not take" in compare(pair([sweep("a")], [marked])).verdict


def test_single_values_have_no_error() -> None:
    result = compare(
        pair(
            [sweep("a", samples=1, statistic="mean over ranks")],
            [sweep("b", samples=1, statistic="mean over ranks", seconds=lambda size: 12 * law(size))],
        )
    )
    assert result.outcome == "could not tell"
    assert {(point.interval, point.significant) for point in result.comparisons} == {(None, None)}
    assert "as measured, b takes 1" in result.verdict


def test_a_stated_error_of_single_values_decides() -> None:
    """A mean of nccl-tests known to 10 %: twelve times the time is no chance, 5 % more may be."""

    def against(factor: float) -> Comparison:
        single = {"samples": 1, "statistic": "mean over ranks"}
        sides = pair([sweep("a", **single)], [sweep("b", seconds=lambda size: factor * law(size), seed=1, **single)])  # type: ignore[arg-type]
        return compare(sides, single_value=0.10)

    slower, alike = against(12.0), against(1.05)
    assert (slower.outcome, {point.verdict for point in slower.comparisons}) == ("different", {"slower"})
    assert (alike.outcome, {point.verdict for point in alike.comparisons}) == (
        "no measurable difference", {"no measurable difference"}
    )  # fmt: skip
    assert any("known to ±10 %, as you state" in note for note in slower.notes)
    low, high = slower.comparisons[0].interval or (0.0, 0.0)
    assert high / low == pytest.approx(1.10 ** (2 * 2**0.5), rel=0.01)


def test_a_foreign_value_outside_the_interval_is_named() -> None:
    result = compare(
        pair([sweep("a")], [sweep("b", samples=1, statistic="mean", noise=0.0, seconds=lambda size: 1.2 * law(size))])
    )
    assert any("b lies outside the 95 % interval of a at 10 of 10 points" in note for note in result.notes)


def test_noise_that_hides_twice_the_time_is_could_not_tell() -> None:
    assert (
        compare(pair([sweep("a", noise=3.0, samples=6)], [sweep("b", noise=3.0, samples=6)])).outcome
        == "could not tell"
    )


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"environment": {"device": "NVIDIA H200"}}, "device"),
        ({"environment": {"hosts": ["b"]}}, "hosts"),
        ({"settings": {"buffers": "same"}}, "buffers"),
        ({"world_size": 4, "ranks_per_host": (4,)}, "world_size"),
        ({"environment": {"nccl": "2.28.9"}, "environment_a": {"nccl": "2.27.7"}}, "nccl"),
    ],
)
def test_another_machine_or_setting_is_refused_by_name(change: dict[str, object], names: str) -> None:
    first = change.pop("environment_a", None)
    with pytest.raises(UsageError, match=names):
        compare(pair([sweep("a", environment=first)], [sweep("b", **change)]))  # type: ignore[arg-type]


def test_across_allows_what_it_names() -> None:
    sides = pair([sweep("a")], [sweep("b", environment={"device": "NVIDIA H200"})])
    assert compare(sides, across=["device"]).outcome == "no measurable difference"


def test_modes_are_never_compared_with_each_other() -> None:
    with pytest.raises(UsageError, match="nothing in common"):
        compare(pair([sweep("a")], [sweep("b", mode="pipelined")]))


def test_one_launch_a_side_is_said() -> None:
    assert any(note.startswith("one launch a side") for note in compare(pair([sweep("a")], [sweep("b")])).notes)


def test_an_unproved_side_is_said() -> None:
    assert "b: nothing proves" in " ".join(compare(pair([sweep("a")], [sweep("b", proved=None)])).notes)


def test_every_side_is_compared_with_the_first() -> None:
    (a, b), (_, c) = pair([sweep("a")], [sweep("b")]), pair([sweep("a")], [sweep("c")])
    assert [(curve.a, curve.b) for curve in compare([a, b, c]).curves] == [("a", "b"), ("a", "c")]


def test_the_record_is_strict_json() -> None:
    result = compare(pair([sweep("a")], [sweep("b", noise=0.0, seconds=lambda size: 0.0 if size == 8 else law(size))]))
    assert b"NaN" not in msgspec.json.encode(result)


def test_holm_by_hand() -> None:
    """0.01 x 3, then 0.02 x 2, then 0.04 is below the one before and may not be."""
    assert adjusted([0.04, 0.01, 0.02]) == pytest.approx((0.04, 0.03, 0.04))


def test_times_of_zero_are_no_measurement() -> None:
    sides = pair([sweep("a")], [sweep("b", noise=0.0, seconds=lambda size: 0.0)])
    with pytest.raises(UsageError, match="nothing in common"):
        compare(sides)


@pytest.mark.parametrize("seconds", [1e9, 1e-5])
def test_times_without_noise_are_compared(seconds: float) -> None:
    sides = pair([sweep("a", noise=0.0)], [sweep("b", noise=0.0, seconds=lambda size: seconds)])
    assert compare(sides).outcome == "different"
