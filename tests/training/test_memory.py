"""Memory of parameters, gradients and optimizer states against the ZeRO paper's own figures, and the buffers."""

import pytest

from commbench.training.memory import memory

from .laws import call, step

GB = 1e9


@pytest.mark.parametrize(
    ("strategy", "gigabytes"), [("dp", 120.0), ("zero1", 31.4), ("zero2", 16.6), ("zero3", 1.88), ("fsdp", 1.88)]
)
def test_the_zero_paper_s_figure_1(strategy: str, gigabytes: float) -> None:
    """7.5 billion parameters in half precision with Adam on 64 ranks (arXiv 1910.02054, figure 1)."""
    kept = memory(
        step(strategy=strategy, parameters=7_500_000_000, world_size=64, param_dtype="bfloat16", grad_dtype="bfloat16")
    )
    assert (kept.parameters + kept.gradients + kept.optimizer) / GB == pytest.approx(gigabytes, abs=0.05)


def test_float32_weights_need_no_master_copy() -> None:
    assert memory(step(parameters=10)).optimizer == 80


def test_dp_keeps_its_buckets() -> None:
    assert memory(step(call(elements=100), call(elements=50))).buffers == 600


def test_two_neighbouring_gathers_are_alive() -> None:
    gathers = [call("all_gather", elements, phase="forward") for elements in (10, 30, 20, 40)]
    assert memory(step(*gathers, strategy="fsdp")).buffers == 4 * 60


def test_the_gather_of_updated_parameters_needs_no_buffer() -> None:
    """ZeRO-1 and 2 gather into the parameters themselves."""
    assert memory(step(call("all_gather", 100, phase="step"), strategy="zero2")).buffers == 0


@pytest.mark.parametrize(("overlap_comm", "buckets"), [(False, 1), (True, 2)])
def test_overlapped_reduction_has_two_buckets(overlap_comm: bool, buckets: int) -> None:
    reduction = step(call(elements=100), strategy="zero2", knobs={"overlap_comm": overlap_comm})
    assert memory(reduction).buffers == 400 * buckets


def test_live_parameters_are_bounded_by_deepspeed_s_setting() -> None:
    gathers = [call("all_gather", 10, phase="forward")]
    knobs = {"stage3_max_live_parameters": 500}
    assert memory(step(*gathers, strategy="zero3", knobs=knobs, parameters=1000)).buffers == 4 * 500


def test_a_mesh_shards_within_its_shard_group() -> None:
    from commbench.training.call import Group

    gathers = [call("all_gather", 10, phase="forward", group=Group("shard", 2))]
    assert memory(step(*gathers, strategy="fsdp", parameters=1000, world_size=8)).parameters == 2000
