"""The parts of a fit, each against a truth that does not come from it."""

import numpy as np
from scipy.interpolate import PchipInterpolator

from commbench.modelling.blending import climb
from commbench.modelling.cubic import cubic_at
from commbench.modelling.lines import lines, terms
from commbench.modelling.monotone import rising
from commbench.modelling.pieces import Pieces, fit_pieces
from commbench.modelling.segmenting import cheapest_cuts, penalised_count
from commbench.modelling.spikes import spike_weights
from tests.modelling.building import Floats, about

SIZES: Floats = np.geomspace(8.0, 8.0 * 2**19, 20)
TIMES: Floats = 1e-5 + SIZES / 1e10


def test_a_line_through_exact_points() -> None:
    found = lines(terms(SIZES, TIMES, np.ones(20)).sum(axis=0))
    assert (float(found.latency), 1 / float(found.slope)) == (about(1e-5), about(1e10))
    assert float(found.cost) == about(0.0, abs=1e-9)


def test_a_line_counts_relative_errors() -> None:
    """By hand: t = a through (1, 1) and (1, 3) with weights 1/t^2 is (1 + 1/3) / (1 + 1/9) = 1.2."""
    found = lines(terms(np.array([1.0, 1.0]), np.array([1.0, 3.0]), np.ones(2)).sum(axis=0))
    assert float(found.latency) + float(found.slope) == about(1.2)


def test_neither_latency_nor_slope_is_negative() -> None:
    """Times that fall are a flat line; times that grow faster than the size run through the origin."""
    falling = lines(terms(SIZES, 1.0 / SIZES, np.ones(20)).sum(axis=0))
    steep = lines(terms(SIZES, SIZES**1.5, np.ones(20)).sum(axis=0))
    assert (float(falling.slope), float(steep.latency)) == (0.0, 0.0)


def test_rising_pools_neighbours_that_fall_at_their_median() -> None:
    """One wild value of five lifts nothing but itself."""
    assert rising(np.array([1.0, 1.0, 9.0, 2.0, 2.0])).tolist() == [1.0, 1.0, 2.0, 2.0, 2.0]
    assert rising(np.array([1.0, 2.0, 3.0])).tolist() == [1.0, 2.0, 3.0]


def test_a_spike_has_little_weight_and_a_jump_all_of_it() -> None:
    spike, jump = TIMES.copy(), TIMES.copy()
    spike[7] *= 3.0
    jump[7:] *= 3.0
    assert np.flatnonzero(spike_weights(SIZES, spike) < 1.0).tolist() == [7]
    assert (spike_weights(SIZES, jump) == 1.0).all()


def test_a_slow_first_size_is_a_spike() -> None:
    """What a connection that is set up on the first call looks like."""
    first = TIMES.copy()
    first[0] *= 1.6
    assert np.flatnonzero(spike_weights(SIZES, first) < 1.0).tolist() == [0]


def test_a_last_size_at_a_third_of_the_bandwidth_is_a_spike() -> None:
    """Nothing above it can say that it is a jump."""
    last = TIMES.copy()
    last[-1] *= 4.0
    assert np.flatnonzero(spike_weights(SIZES, last) < 1.0).tolist() == [19]


def test_the_cheapest_cut_is_at_the_jump() -> None:
    """Two exact laws: two segments, the second from the ninth point on."""
    times: Floats = np.where(np.arange(20) < 8, TIMES, 3e-5 + SIZES / 4e10)
    cuts = cheapest_cuts(terms(SIZES, times, np.ones(20)), np.ones((1, 20), dtype=np.bool_))
    count = penalised_count(cuts.cost[0], 20)
    assert (count, cuts.starts[0][count - 1]) == (2, (0, 8))


def test_a_left_out_point_changes_no_exact_cut() -> None:
    """Each version of a curve, with one of its points missing, is cut at the same place."""
    times: Floats = np.where(np.arange(20) < 8, TIMES, 3e-5 + SIZES / 4e10)
    kept = ~np.eye(20, dtype=np.bool_)
    cuts = cheapest_cuts(terms(SIZES, times, np.ones(20)), kept)
    assert {starts[1][1] for starts in cuts.starts} <= {7, 8, 9}
    assert np.allclose(cuts.cost[:, 1], 0.0, atol=1e-9)


def test_pieces_join_in_log_log_between_segments() -> None:
    """Halfway (in log) between 10 at 1 s and 1000 at 100 s stands 100 at 10 s."""
    pieces = Pieces(np.array([1.0, 1000.0]), np.array([10.0, 2000.0]), np.array([1.0, 100.0]), np.zeros(2))
    assert pieces.seconds_at(np.array([100.0])).tolist() == [about(10.0)]


def test_pieces_are_fitted_apart() -> None:
    times: Floats = np.concatenate([TIMES[:10], 5.0 * TIMES[10:]])
    pieces = fit_pieces(SIZES, times, np.ones(20), (0, 10))
    assert pieces.latency.tolist() == [about(1e-5), about(5e-5)]


def test_the_cubic_is_that_of_a_library() -> None:
    """scipy's PCHIP, through random points that rise, fall and stand still."""
    chance = np.random.default_rng(1)
    for _ in range(50):
        xs = np.cumsum(chance.exponential(size=int(chance.integers(3, 12))))
        ys = np.cumsum(chance.standard_normal(len(xs)) * chance.integers(0, 2, len(xs)))
        at = chance.uniform(xs[0], xs[-1], 20)
        assert np.allclose(cubic_at(at, xs, ys), PchipInterpolator(xs, ys)(at), atol=1e-12)


def test_segments_that_fall_are_pooled_rather_than_lifted() -> None:
    """Four slow sizes before sixteen: the median of all, not the slowest; nowhere does a larger size take less."""
    pieces = Pieces(SIZES[[0, 4]], SIZES[[3, 19]], np.array([80e-6, 60e-6]), np.zeros(2))
    curve = climb(pieces, SIZES)
    times = curve.seconds_at(np.geomspace(SIZES[0], SIZES[-1], 500))
    assert (np.diff(times) >= 0).all()
    assert times[-1] == about(60e-6)


def test_a_slope_inside_the_noise_is_none() -> None:
    """10 % up and down over tiny sizes, before a segment that grows: no bandwidth of 8 B to 4 KiB."""
    times: Floats = np.where(np.arange(20) < 10, 1e-5 * (1 + 0.05 * (-1.0) ** np.arange(20)), SIZES / 1e8)
    times[9] *= 1.1
    assert fit_pieces(SIZES, times, np.ones(20), (0, 10)).slope.tolist() == [0.0, about(1e-8)]


def test_a_slope_a_thousand_times_that_of_the_link_is_none() -> None:
    """Three tiny sizes on a line of 1.6 MB/s, on a link of 10 GB/s, are drift."""
    times: Floats = np.where(np.arange(20) < 3, 1e-5 + SIZES / 1.6e6, TIMES)
    assert fit_pieces(SIZES, times, np.ones(20), (0, 3)).slope[0] == 0.0


def test_a_slope_beyond_the_noise_stays() -> None:
    """Twice the time at the end of the first segment, at a hundredth of the link's bandwidth."""
    times: Floats = np.where(np.arange(20) < 10, 1e-5 + SIZES / 1e8, 5e-5 + SIZES / 1e10)
    assert fit_pieces(SIZES, times, np.ones(20), (0, 10)).slope[0] == about(1e-8)
