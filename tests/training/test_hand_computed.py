"""Four parameters on two ranks, worked out by hand down to each byte and second."""

import pytest

from commbench.training.call import Call
from commbench.training.memory import Memory, memory
from commbench.training.overlap import overlap
from commbench.training.predictions import volume
from commbench.training.pricing import PricedStep, price
from commbench.training.schedules import schedule
from commbench.training.shapes import Parameter, Shapes

from .laws import US, model, source

# One linear layer of two weights and two biases, float32: 16 bytes. A call takes 10 us and 1 us a byte, but an
# all_gather 5 us and 1 us a byte.
MODEL = Shapes("four", "by hand", (Parameter("l.weight", (2,)), Parameter("l.bias", (2,))), ("l",), ("l",))
WIRE = source(
    model("all_reduce", 10 * US, 1e6), model("reduce_scatter", 10 * US, 1e6), model("all_gather", 5 * US, 1e6)
)


def priced(strategy: str, variant: str | None = None, **settings: str) -> PricedStep:
    """The step on that wire."""
    return price(schedule(strategy, MODEL, 2, variant, settings), WIRE)


@pytest.fixture(scope="module")
def dp() -> PricedStep:
    return priced("dp", param_dtype="float32")


@pytest.fixture(scope="module")
def ideal() -> PricedStep:
    return priced("zero2", "ideal", bf16="false")


def gradients(step: PricedStep) -> list[Call]:
    return [each.call for each in step.calls if each.call.elements == 4]


def test_dp_sends_one_bucket_of_16_bytes(dp: PricedStep) -> None:
    assert [(each.call.collective, each.call.message_bytes) for each in dp.calls] == [("all_reduce", 16)]


def test_dp_takes_10_us_and_16_us(dp: PricedStep) -> None:
    assert dp.seconds == pytest.approx(26 * US)


def test_of_these_10_us_are_latency(dp: PricedStep) -> None:
    assert dp.latency_share == pytest.approx(10 / 26)


def test_16_bytes_cross_each_link(dp: PricedStep) -> None:
    """The bus factor of an all_reduce on two ranks is 2 (2 - 1) / 2 = 1."""
    assert dp.bus_bytes == pytest.approx(16)


def test_dp_moves_two_psi(dp: PricedStep) -> None:
    assert volume(dp.schedule) == pytest.approx(2.0)


def test_ideal_zero2_scatters_and_gathers_16_bytes(ideal: PricedStep) -> None:
    found = [(each.phase, each.collective, each.message_bytes) for each in gradients(ideal)]
    assert found == [("backward", "reduce_scatter", 16), ("step", "all_gather", 16)]


def test_ideal_zero2_takes_26_us_and_21_us(ideal: PricedStep) -> None:
    found = {each.call.collective: each.seconds for each in ideal.calls if each.call.elements == 4}
    assert found == pytest.approx({"reduce_scatter": 26 * US, "all_gather": 21 * US})


def test_half_of_each_sharded_message_crosses_a_link(ideal: PricedStep) -> None:
    """16 x (2 - 1) / 2 twice, and the scalars of the step, whose factor is 1."""
    scalars = sum(each.call.message_bytes for each in ideal.calls if each.call.elements == 1)
    assert ideal.bus_bytes == pytest.approx(8 + 8 + scalars)


def test_dp_keeps_80_bytes(dp: PricedStep) -> None:
    """Weights 16, gradients 16, Adam 2 x 16, and the bucket that the gradients are copied to, 16."""
    assert memory(dp.schedule) == Memory(16, 16, 32, 16)


def test_dp_hides_nothing_of_a_bucket_that_is_ready_last(dp: PricedStep) -> None:
    """The bucket opens when the backward pass is over: 30 us of computation and 26 us of waiting."""
    found = overlap(dp, 30 * US)
    assert (found.step_seconds, found.exposed_seconds) == pytest.approx((56 * US, 26 * US))


def test_two_ranks_then_reach_54_percent(dp: PricedStep) -> None:
    assert overlap(dp, 30 * US).scaling_efficiency == pytest.approx(30 / 56)


def test_the_link_breaks_even_at_16_bytes_in_30_us(dp: PricedStep) -> None:
    assert overlap(dp, 30 * US).break_even_bytes_per_second == pytest.approx(16 / (30 * US))
