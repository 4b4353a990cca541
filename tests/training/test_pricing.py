"""Which curve prices a call, what is marked, and what is refused."""

import pytest

from commbench.errors import RefusedModelError
from commbench.training.call import Group
from commbench.training.pricing import PricedStep, price

from .laws import US, call, model, source, step

KIB = 1024


def test_a_price_is_the_law_s() -> None:
    priced = price(step(call(elements=256)), source(model("all_reduce", 10 * US, 1e9)))
    assert priced.seconds == pytest.approx(10 * US + KIB / 1e9)


def test_the_very_curve_stands_in_for_nothing() -> None:
    assert price(step(call()), source(model("all_reduce", US, 1e9))).stands_in == {}


def test_another_dtype_prices_by_bytes_and_is_marked() -> None:
    """512 bfloat16 are as many bytes as 256 float32, and cost the same."""
    wire = source(model("all_reduce", US, 1e9))
    narrow = price(step(call(dtype="bfloat16", elements=512)), wire)
    assert narrow.seconds == price(step(call()), wire).seconds
    assert narrow.stands_in == {"all_reduce: float32 for bfloat16": 1}


def test_another_operator_is_marked() -> None:
    assert price(step(call(op="avg")), source(model("all_reduce", US, 1e9))).stands_in == {"all_reduce: sum for avg": 1}


def test_a_measured_dtype_is_taken_before_a_stand_in() -> None:
    wire = source(model("all_reduce", US, 1e9), model("all_reduce", 2 * US, 1e9, dtype="bfloat16"))
    priced = price(step(call(dtype="bfloat16", elements=512)), wire)
    assert priced.seconds == pytest.approx(2 * US + KIB / 1e9)
    assert not priced.stands_in


def test_pipelined_curves_price_before_isolated_ones() -> None:
    wire = source(model("all_reduce", 9 * US, 1e9, mode="isolated"), model("all_reduce", US, 1e9))
    priced = price(step(call()), wire)
    assert priced.mode == "pipelined"
    assert priced.seconds == pytest.approx(US + KIB / 1e9)


def test_the_mode_is_one_that_has_every_collective() -> None:
    """A mode that lacks a collective is not mixed with another where one mode has them all."""
    wire = source(
        model("all_reduce", US, 1e9), model("all_reduce", US, 1e9, mode="isolated"),
        model("all_gather", US, 1e9, mode="isolated"),
    )  # fmt: skip
    assert price(step(call(), call("all_gather")), wire).mode == "isolated"


def test_only_the_mode_that_was_asked_for() -> None:
    wire = source(model("all_reduce", US, 1e9))
    with pytest.raises(RefusedModelError, match="all_reduce was not measured") as refusal:
        price(step(call()), wire, modes=("isolated",))
    assert "in mode pipelined" in refusal.value.found


def test_a_collective_that_was_not_measured_is_refused_by_name() -> None:
    with pytest.raises(RefusedModelError, match="reduce was not measured") as refusal:
        price(step(call(), call("reduce", root=0)), source(model("all_reduce", US, 1e9)))
    assert refusal.value.exit_code == 3


def test_a_refused_curve_says_why() -> None:
    from msgspec.structs import replace

    broken = replace(model("all_reduce", US, 1e9), refused="the time falls with the size")
    with pytest.raises(RefusedModelError) as refusal:
        price(step(call()), source(broken))
    assert "the time falls with the size" in refusal.value.found


@pytest.fixture
def far() -> PricedStep:
    """A message 4 times as large as the largest measured, and one that was measured."""
    return price(step(call(elements=1024), call(elements=16)), source(model("all_reduce", US, 1e9, sizes=(64, 1024))))


def test_sizes_beyond_the_sweep_are_counted(far: PricedStep) -> None:
    assert len(far.extrapolated) == 1


def test_how_far_beyond_is_known(far: PricedStep) -> None:
    assert far.extrapolated[0].extrapolated == pytest.approx(4.0)


def test_the_interval_is_the_sum_of_the_intervals() -> None:
    """Errors of one curve go the same way for all its calls."""
    wire = source(model("all_reduce", US, 1e9, spread=0.1))
    one, two = price(step(call()), wire), price(step(call(), call()), wire)
    assert two.interval == pytest.approx((2 * one.interval[0], 2 * one.interval[1]))


def test_phases_stand_in_the_order_of_the_step() -> None:
    calls = (call("all_gather", phase="step"), call("all_gather", phase="forward"), call(), call())
    found = price(step(*calls), source(model("all_reduce", US, 1e9), model("all_gather", US, 1e9))).phases
    assert [(total.phase, total.collective, total.calls, total.message_bytes) for total in found] == [
        ("forward", "all_gather", 1, KIB), ("backward", "all_reduce", 2, 2 * KIB), ("step", "all_gather", 1, KIB),
    ]  # fmt: skip


def test_a_group_of_one_costs_nothing() -> None:
    assert price(step(call(group=Group("shard", 1))), source(model("all_reduce", US, 1e9))).seconds == 0.0


def test_another_number_of_ranks_is_refused() -> None:
    with pytest.raises(RefusedModelError, match="among 8 ranks was not measured"):
        price(step(call(group=Group("world", 8))), source(model("all_reduce", US, 1e9)))


def test_a_ring_may_be_assumed() -> None:
    """From 2 to 8 ranks: 1.75 times the bytes over each link, and 7 times the two hops of NCCL's model (3.4 of 8.4)."""
    wire = source(model("all_reduce", 10 * US, 1e9))
    priced = price(step(call(group=Group("world", 8))), wire, assume_ring=True)
    latency = 10 * US * (8.4 + 7 * 6.8) / (8.4 + 6.8)
    assert priced.seconds == pytest.approx(latency + 1.75 * KIB / 1e9)


def test_a_ring_s_interval_goes_from_no_hops_to_nothing_but_hops() -> None:
    priced = price(step(call(group=Group("world", 8))), source(model("all_reduce", 10 * US, 1e9)), assume_ring=True)
    assert priced.interval == pytest.approx((10 * US + 1.75 * KIB / 1e9, 70 * US + 1.75 * KIB / 1e9))


def test_what_a_ring_is_assumed_for_counts_as_extrapolated() -> None:
    priced = price(step(call(group=Group("world", 8))), source(model("all_reduce", US, 1e9)), assume_ring=True)
    assert [each.extrapolated for each in priced.extrapolated] == pytest.approx([4.0])


def test_three_numbers_of_ranks_give_a_law() -> None:
    """A ring measured at 2, 4 and 8 ranks predicts 16: 2 (p - 1) hops, 2 (p - 1) / p of the bytes."""

    def ring(ranks: int) -> float:
        return 2 * (ranks - 1) * 5 * US

    def rate(ranks: int) -> float:
        return 1e9 * ranks / (2 * (ranks - 1))

    wire = source(*(model("all_reduce", ring(n), rate(n), ranks=n) for n in (2, 4, 8)))
    priced = price(step(call(elements=1 << 20, group=Group("world", 16))), wire)
    assert priced.seconds == pytest.approx(ring(16) + (4 << 20) / rate(16), rel=0.02)
    assert "2, 4, 8 ranks" in priced.assumptions[0]


def test_each_group_is_priced_at_its_own_size() -> None:
    """HSDP: shards among 2 ranks, replicas among 4."""
    wire = source(model("all_reduce", 4 * US, 1e9, ranks=4), model("all_gather", 2 * US, 1e9, ranks=2))
    calls = (call("all_gather", group=Group("shard", 2)), call(group=Group("replicate", 4, 2)))
    assert price(step(*calls, world_size=8), wire).seconds == pytest.approx(6 * US + 2 * KIB / 1e9)


def test_a_curve_beside_computation_prices_what_overlaps() -> None:
    wire = source(model("all_reduce", US, 1e9), model("all_reduce", 3 * US, 1e9, beside="compute"))
    (priced,) = price(step(call(opens=0.5)), wire).calls
    assert (priced.seconds, priced.overlapped) == pytest.approx((US + KIB / 1e9, 3 * US + KIB / 1e9))


def test_a_size_that_was_not_measured_beside_computation_has_no_such_price() -> None:
    wire = source(
        model("all_reduce", US, 1e9), model("all_reduce", US, 1e9, beside="compute", sizes=(1 << 20, 1 << 21))
    )
    assert [each.overlapped for each in price(step(call()), wire).calls] == [None]
