"""What computation hides, worked out by hand on a wire whose every call takes 10 ms (1 MB of latency, so to say)."""

import pytest

from commbench.training.call import Call
from commbench.training.overlap import overlap
from commbench.training.pricing import price

from .laws import call, model, source, step

CALL = 10e-3
WIRE = source(*(model(name, CALL, 1e30) for name in ("all_reduce", "all_gather", "reduce_scatter")))


def seconds(*calls: Call, compute: float = 90e-3, micro_steps: int = 1) -> float:
    """The length of a step with 90 ms of computation: 30 ms forward, 60 ms backward."""
    return overlap(price(step(*calls, micro_steps=micro_steps), WIRE), compute).step_seconds


def test_no_call_costs_nothing() -> None:
    assert seconds() == pytest.approx(90e-3)


def test_a_call_that_opens_in_time_is_hidden() -> None:
    """It opens at half of the backward pass and has 30 ms left."""
    assert seconds(call(opens=0.5)) == pytest.approx(90e-3)


def test_a_call_at_the_end_is_exposed() -> None:
    assert seconds(call(opens=1.0)) == pytest.approx(100e-3)


def test_calls_of_one_stream_wait_for_each_other() -> None:
    """Four calls open with 30 ms left: the fourth ends 10 ms late."""
    assert seconds(*(call(opens=0.5) for _ in range(4))) == pytest.approx(100e-3)


def test_calls_of_one_stream_are_issued_in_order() -> None:
    """A bucket that is ready at once waits behind one that is ready last: both are exposed."""
    assert seconds(call(opens=1.0), call(opens=0.0)) == pytest.approx(110e-3)


def test_calls_of_two_streams_run_together() -> None:
    calls = [call(opens=0.5, stream=name) for name in ("a", "a", "b", "b")]
    assert seconds(*calls) == pytest.approx(90e-3)


def test_computation_waits_where_a_call_closes() -> None:
    """A gather that opens and closes at the start of a layer stops the computation."""
    assert seconds(call("all_gather", phase="forward", opens=0.0, closes=0.0)) == pytest.approx(100e-3)


def test_a_prefetched_gather_is_hidden() -> None:
    """Opened at the start of one half of the pass (15 ms), needed at the start of the next."""
    assert seconds(call("all_gather", phase="forward", opens=0.0, closes=0.5)) == pytest.approx(90e-3)


def test_a_prefetch_that_is_too_short_exposes_the_rest() -> None:
    """5 % of a 30 ms pass is 1.5 ms of the 10."""
    assert seconds(call("all_gather", phase="forward", opens=0.0, closes=0.05)) == pytest.approx(98.5e-3)


def test_calls_of_the_step_phase_are_exposed() -> None:
    """The optimizer's own computation takes no time."""
    assert seconds(call("all_gather", phase="step")) == pytest.approx(100e-3)


def test_the_end_of_a_phase_waits_for_its_calls() -> None:
    """Opened with 3 ms of the forward pass left: 20 ms of calls expose 17, which the backward pass does not hide."""
    calls = [call("all_gather", phase="forward", opens=0.9) for _ in range(2)]
    assert seconds(*calls) == pytest.approx(107e-3)


def test_micro_steps_share_the_computation() -> None:
    """Two passes of 45 ms, each with a call at its end."""
    calls = [call(opens=1.0, micro_step=number) for number in (0, 1)]
    assert seconds(*calls, micro_steps=2) == pytest.approx(110e-3)


def test_efficiency_is_computation_over_step() -> None:
    found = overlap(price(step(call(opens=1.0)), WIRE), 90e-3)
    assert found.scaling_efficiency == pytest.approx(0.9)


def test_exposed_is_what_the_step_has_beyond_computation() -> None:
    assert overlap(price(step(call(opens=1.0)), WIRE), 90e-3).exposed_seconds == pytest.approx(CALL)


def test_intervals_are_simulated_too() -> None:
    wire = source(model("all_reduce", CALL, 1e30, spread=0.0953101798))  # a tenth up, a tenth down
    found = overlap(price(step(call(opens=1.0)), wire), 90e-3)
    assert found.exposed_interval == pytest.approx((CALL / 1.1, CALL * 1.1))


def test_what_overlaps_is_priced_beside_computation() -> None:
    """10 ms alone, 40 ms beside a matrix product: 10 ms more than what the backward pass has left."""
    wire = source(model("all_reduce", CALL, 1e30), model("all_reduce", 4 * CALL, 1e30, beside="compute"))
    found = overlap(price(step(call(opens=0.5)), wire), 90e-3)
    assert found.step_seconds == pytest.approx(100e-3)
    assert found.measured_beside_compute == 1
