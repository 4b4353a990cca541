"""A fit gives back the law behind the times, with intervals that hold it."""

import numpy as np

from commbench.modelling.fitting import fit_sweeps
from commbench.modelling.model import Interval
from commbench.sweepfile.reader import Sweep
from tests.modelling.building import LATENCY, RATE, SIZES, about, line, model, noisy, point, real, sweep


def holds(interval: Interval | None, value: float) -> bool:
    assert interval is not None
    return interval[0] <= value <= interval[1]


def test_exact_times_give_the_law_back() -> None:
    """Latency, bandwidth, bus bandwidth (7/4 of it on 8 ranks) and the size of half the bandwidth."""
    found = model()
    assert (found.latency_seconds, found.bytes_per_second) == (about(LATENCY), about(RATE))
    assert found.bus_bytes_per_second == about(RATE * 7 / 4)
    assert found.half_bytes == about(LATENCY * RATE)


def test_one_law_is_one_segment_over_all_sizes() -> None:
    (segment,) = model(noisy(1)).segments
    assert (segment.from_bytes, segment.to_bytes) == (SIZES[0], SIZES[-1])


def test_noisy_times_give_the_law_back_within_two_percent_and_one() -> None:
    """The median over draws, 2 % noise on each size."""
    found = [model(noisy(seed)) for seed in range(20)]
    assert np.median([abs((one.latency_seconds or 0) / LATENCY - 1) for one in found]) < 0.02
    assert np.median([abs((one.bytes_per_second or 0) / RATE - 1) for one in found]) < 0.01


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    """60 draws; a right 95 % interval holds it in fewer than 50 of them once in 2000 times."""
    found = [model(noisy(seed)) for seed in range(60)]
    assert sum(holds(one.latency_interval, LATENCY) for one in found) >= 50
    assert sum(holds(one.bytes_per_second_interval, RATE) for one in found) >= 50
    assert sum(holds(one.latency_interval, LATENCY * 1.02) for one in found) < 30


def test_more_noise_makes_wider_intervals() -> None:
    quiet, loud = (model(noisy(3, noise=noise)).latency_interval for noise in (0.01, 0.1))
    assert quiet is not None
    assert loud is not None
    assert loud[1] - loud[0] > 3 * (quiet[1] - quiet[0])


def test_a_jump_between_two_laws_is_found_where_it_is() -> None:
    """20 % at 64 KiB, 2 % noise: two segments, cut at most one size step away."""
    laws = [
        noisy(seed, lambda size: line(size) if size <= 1 << 16 else 1.2 * line(1 << 16) + (size - (1 << 16)) / RATE)
        for seed in range(10)
    ]
    cuts = [[segment.from_bytes for segment in model(law).segments[1:]] for law in laws]
    assert sum(any(1 << 16 <= cut <= 1 << 18 for cut in of_model) for of_model in cuts) >= 9


def test_latency_is_of_the_first_segment_and_bandwidth_of_the_last() -> None:
    def law(size: float) -> float:
        return 1e-5 + size / 1e9 if size <= 1 << 16 else 2e-4 + size / 1e10

    found = model(law)
    assert (found.latency_seconds, found.bytes_per_second) == (about(1e-5), about(1e10))


def test_launches_that_differ_widen_the_intervals() -> None:
    """Four launches of the same noise, once alike and once 5 % apart."""

    def width(apart: float) -> float:
        rows = [
            point(size, [(1 + apart * (cycle - 1.5)) * line(size)], cycle=cycle) for cycle in range(4) for size in SIZES
        ]
        (found,) = fit_sweeps([Sweep(sweep(line).header, tuple(rows))])
        assert found.latency_interval is not None
        return found.latency_interval[1] / found.latency_interval[0]

    assert width(0.0) < 1.001
    assert width(0.05) > 1.05


def test_a_point_that_its_samples_hardly_know_counts_less() -> None:
    """The four largest sizes 6 % too slow, sizes scatter by 3 %: with samples all over the place they pull less."""

    def rate(spread: float) -> float:
        rows = []
        for number, size in enumerate(SIZES):
            off, width = (1.06, spread) if number >= len(SIZES) - 4 else (1 + 0.03 * (-1) ** number, 0.001)
            rows.append(point(size, off * line(size) * np.exp(width * np.linspace(-1, 1, 21))))
        (found,) = fit_sweeps([Sweep(sweep(line).header, tuple(rows))])
        return abs((found.bytes_per_second or 0.0) / RATE - 1)

    assert rate(1.0) < 0.6 * rate(0.001)


def test_modes_are_never_mixed() -> None:
    """Two modes of one sweep are two models."""
    rows = [point(size, [line(size) * scale], mode=mode) for mode, scale in (("isolated", 1), ("graph", 3))
            for size in SIZES]  # fmt: skip
    found = fit_sweeps([Sweep(sweep(line).header, tuple(rows))])
    assert {one.key.mode: one.latency_seconds for one in found} == {
        "isolated": about(LATENCY), "graph": about(3 * LATENCY),
    }  # fmt: skip


def test_a_slow_point_is_named_and_moves_nothing() -> None:
    """Five times the time at 1 KiB."""
    found = model(lambda size: line(size) * (5 if size == 1024 else 1))
    assert [outlier.message_bytes for outlier in found.outliers] == [1024]
    assert found.latency_seconds == about(LATENCY, rel=0.01)
    assert "1 outlier" in found.warnings[0]


def test_the_gigabit_link_is_found() -> None:
    """A link of 1 Gbit/s carries 0.1196 GB/s of payload; measured through gloo, 64 MiB at 0.1195."""
    (found,) = real("gigabit-link")
    assert found.bus_bytes_per_second == about(0.1196e9, rel=0.03)
    assert holds(found.bus_bytes_per_second_interval, found.sizes[-1] / found.seconds[-1])


def test_a_real_curve_beats_interpolation_and_one_line() -> None:
    """NVLink between two H200: sizes it has not seen."""
    errors = [one.held_out for one in real("nvlink-all_reduce")]
    assert all(one and one.mean < one.interpolation_mean < one.relative_mean < one.plain_mean for one in errors)


def test_the_same_sweep_gives_the_same_model() -> None:
    """Resampling draws the same numbers each time."""
    assert real("nvlink-all_reduce") == real("nvlink-all_reduce")
