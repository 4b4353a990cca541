"""What a size is bound by, tested on curves whose law is known."""

from collections.abc import Callable
from pathlib import Path

import pytest

from commbench.showing.bound import bounds, growing_shares

from .sweeps import KIB, MIB, curve, doublings, point, sweep

SIZES = doublings(KIB, 16)  # 1 KiB to 32 MiB


def affine(overhead: float, rate: float) -> Callable[[int], float]:
    return lambda size: overhead + size / rate


def test_the_growing_share_of_an_affine_curve_is_exact() -> None:
    law = affine(10e-6, 100e9)
    expected = [size / 100e9 / law(size) for size in SIZES]
    assert growing_shares(SIZES, [law(size) for size in SIZES]) == pytest.approx(expected)


def test_half_of_the_time_parts_latency_from_bandwidth() -> None:
    half = 10e-6 * 100e9  # bytes whose transfer takes as long as the overhead
    expected = ["latency" if size < half else "bandwidth" for size in SIZES]
    assert expected == list(bounds(sweep(*curve(affine(10e-6, 100e9), SIZES))))


def test_a_curve_that_starts_large_is_bound_by_bandwidth_from_its_first_size() -> None:
    assert {"bandwidth"} == set(bounds(sweep(*curve(affine(10e-6, 1e9), doublings(64 * MIB, 4)))))


def test_arithmetic_steps_give_the_same_answer() -> None:
    sizes = [step * 100 * KIB for step in range(1, 100)]
    expected = ["latency" if size < 1e6 else "bandwidth" for size in sizes]
    assert expected == list(bounds(sweep(*curve(affine(10e-6, 100e9), sizes))))


def test_a_second_flat_part_is_overhead_too() -> None:
    """Libraries change protocol: 13 us up to 2 KiB, then 25 us, on the same curve."""
    found = bounds(sweep(*curve(lambda size: (13e-6 if size <= 2 * KIB else 25e-6) + size / 400e9, doublings(8, 17))))
    assert {"latency"} == set(found)


def test_one_bad_size_changes_no_neighbour() -> None:
    points = curve(affine(10e-6, 100e9), SIZES)
    expected = bounds(sweep(*points))
    bad = point(SIZES[12], 5 * points[12].seconds[0])
    found = bounds(sweep(*points[:12], bad, *points[13:]))
    assert expected[:12] + expected[13:] == found[:12] + found[13:]


def test_two_sizes_are_too_few() -> None:
    assert bounds(sweep(*curve(affine(1e-6, 1e9), doublings(KIB, 2)))) == (None, None)


def test_cycles_of_a_size_are_one_size() -> None:
    points = [point(size, 1e-5, cycle=cycle) for size in doublings(KIB, 2) for cycle in range(3)]
    assert {None} == set(bounds(sweep(*points)))


def test_curves_are_judged_apart() -> None:
    slow = curve(affine(10e-6, 1e6), SIZES, placement="out")
    fast = curve(affine(10e-6, 1e15), SIZES, placement="in")
    found = bounds(sweep(*slow, *fast))
    assert ({"bandwidth"}, {"latency"}) == (set(found[4:16]), set(found[16:]))


def test_the_host_paces_what_a_graph_does_in_less_than_two_thirds() -> None:
    isolated = curve(affine(15.1e-6, 1e15), SIZES)
    graph = curve(affine(10e-6, 1e15), SIZES, mode="graph")
    found = bounds(sweep(*isolated, *graph))
    assert ({"launch"}, {"latency"}) == (set(found[:16]), set(found[16:]))


def test_a_graph_that_saves_little_shows_no_launch() -> None:
    isolated = curve(affine(14e-6, 1e15), SIZES)
    graph = curve(affine(10e-6, 1e15), SIZES, mode="graph")
    assert {"latency"} == set(bounds(sweep(*isolated, *graph)))


def test_the_host_paces_an_isolated_call_that_a_pipeline_does_faster() -> None:
    isolated = curve(affine(60e-6, 1e15), SIZES)
    pipelined = curve(affine(39e-6, 1e15), SIZES, mode="pipelined")
    found = bounds(sweep(*isolated, *pipelined))
    assert ({"launch"}, {"latency"}) == (set(found[:16]), set(found[16:]))


def test_a_host_clock_tells_nothing_of_launches() -> None:
    isolated = curve(affine(60e-6, 1e15), SIZES, clock="host")
    pipelined = curve(affine(20e-6, 1e15), SIZES, mode="pipelined", clock="host")
    assert {"latency"} == set(bounds(sweep(*isolated, *pipelined)))


def test_one_rank_on_a_device_waits_for_its_launches() -> None:
    assert {"launch"} == set(bounds(sweep(*curve(affine(9e-6, 1e15), SIZES), world_size=1)))


def test_real_curve_of_two_h200() -> None:
    """25 us from 64 KiB to 2 MiB are overhead although 13 us were enough below 2 KiB; 8 MiB and more are bandwidth."""
    text = Path(__file__).parents[1] / "data" / "nccl-tests-all_reduce-h200x2.log"
    rows = [line.split() for line in text.read_text().splitlines() if line[:1] == " "]
    points = [point(int(row[0]), float(row[9]) * 1e-6) for row in rows]
    found = dict(zip([p.message_bytes for p in points], bounds(sweep(*points, world_size=2)), strict=True))
    assert min(size for size, bound in found.items() if bound == "bandwidth") == 8 * MIB
