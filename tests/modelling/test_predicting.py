"""Predictions: inside and outside the measured sizes, never falling, with intervals that hold."""

import numpy as np
import pytest

from commbench.errors import RefusedModelError, UsageError
from commbench.modelling.fitting import fit_sweeps
from commbench.modelling.predicting import predict, predict_many
from commbench.sweepfile.reader import Sweep
from tests.modelling.building import LATENCY, RATE, SIZES, about, line, model, noisy, real, sweep


def test_a_size_between_measured_ones_follows_the_law() -> None:
    assert predict(model(), 3 << 20).seconds == about(line(3 << 20), rel=0.002)


def test_a_size_beyond_the_largest_follows_the_last_segment() -> None:
    """16 times beyond is said so."""
    answer = predict(model(), 16 * SIZES[-1])
    assert (answer.seconds, answer.extrapolated) == (about(line(16 * SIZES[-1]), rel=0.002), about(16))
    assert answer.is_extrapolated


def test_a_size_below_the_smallest_takes_the_latency() -> None:
    answer = predict(model(), 1)
    assert (answer.seconds, answer.extrapolated) == (about(LATENCY, rel=0.002), about(8))


@pytest.mark.parametrize("size", [SIZES[0], SIZES[-1]])
def test_the_ends_are_inside(size: int) -> None:
    assert predict(model(), size).is_extrapolated is False


def test_predictions_never_fall_with_the_size() -> None:
    """Of a noisy law, and of two real curves, from 1 B to 1 PB."""
    sizes = np.geomspace(1, 1e15, 4000)
    for one in (model(noisy(2, noise=0.2)), *real("nvlink-all_reduce")):
        assert (np.diff(predict_many(one, sizes).seconds) >= 0).all()


def test_many_at_once_are_those_one_by_one() -> None:
    many = predict_many(model(noisy(1)), [8, 1000, 1 << 40])
    single = [predict(model(noisy(1)), size) for size in (8, 1000, 1 << 40)]
    assert many.seconds.tolist() == [one.seconds for one in single]
    assert list(zip(many.low.tolist(), many.high.tolist(), strict=True)) == [one.interval for one in single]


def test_intervals_hold_sizes_that_were_left_out() -> None:
    """Of a real curve, each inner size in turn: at least four fifths of 28."""
    full = real("nvlink-all_reduce")[0]
    times = dict(zip(full.sizes, full.seconds, strict=True))
    held = []
    for size in full.sizes[1:-1]:
        others = [other for other in full.sizes if other != size]
        answer = predict(fit_sweeps([sweep(lambda one: times[int(one)], others)])[0], size)
        held.append(answer.interval[0] <= times[size] <= answer.interval[1])
    assert sum(held) >= 0.8 * len(held)


def test_the_interval_grows_beyond_the_measured_sizes() -> None:
    widths = [(one := predict(model(noisy(1)), size)).interval[1] / one.seconds for size in (SIZES[-1], SIZES[-1] * 16)]
    assert widths[1] > 1.05 * widths[0]


def test_what_has_no_model_predicts_nothing() -> None:
    with pytest.raises(RefusedModelError, match="no model"):
        predict(model(lambda _: 1e-5), 8)


def test_a_size_of_nothing_is_a_mistake() -> None:
    with pytest.raises(UsageError):
        predict(model(), 0)


def test_a_wild_size_does_not_widen_the_interval_of_precise_ones() -> None:
    """The gigabit link: 128 KiB is noise, 64 MiB is known to 0.3 %."""
    (found,) = real("gigabit-link")
    answer = predict(found, 64 << 20)
    assert answer.interval[1] / answer.interval[0] < 1.1


def test_an_empty_sweep_has_no_models() -> None:
    assert fit_sweeps([Sweep(sweep(line).header)]) == ()


def test_slow_tiny_messages_do_not_lift_larger_ones() -> None:
    """80 us up to 64 B and 60 us above, as where clocks rise while a sweep begins: what came later is what holds."""
    found = model(lambda size: (80e-6 if size <= 64 else 60e-6) + size / RATE)
    answers = predict_many(found, [2.0**power for power in range(10, 28)])
    truth = [60e-6 + 2.0**power / RATE for power in range(10, 28)]
    assert np.abs(answers.seconds / np.array(truth) - 1).max() < 0.05
    assert "falls from 80.0 us at 64 B" in found.warnings[0]


def test_held_out_errors_are_those_of_predictions() -> None:
    """Each inner size really left out, of times that fall at first: the mean that the model tells of itself."""
    law = noisy(4, lambda size: (80e-6 if size <= 64 else 60e-6) + size / RATE)
    times = {size: law(size) for size in SIZES}
    held_out = model(lambda size: times[int(size)]).held_out
    assert held_out is not None
    errors = [
        abs(
            predict(model(lambda one: times[int(one)], [o for o in SIZES if o != size]), size).seconds / times[size] - 1
        )
        for size in SIZES[1:-1]
    ]
    assert float(np.mean(errors)) == about(held_out.mean, rel=0.3)
