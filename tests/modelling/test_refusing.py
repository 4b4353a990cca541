"""What no model describes is refused, with the reason; real outputs and copies of them."""

from pathlib import Path

import numpy as np
import pytest

from commbench.modelling.fitting import fit_sweeps
from commbench.modelling.inputs import read_models
from commbench.sweepfile.reader import Sweep
from tests.modelling.building import DATA, SIZES, about, line, model, noisy, point, real, sweep


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("single-gpu", "one rank"),
        ("collapse", "a collapse: at 16 MiB, 32 MiB, 64 MiB and 4 more sizes"),
        ("three-rows", "3 sizes: at least 5"),
        ("all-wrong", "wrong data at 96 B"),
    ],
)
def test_a_real_log_is_refused(file: str, reason: str) -> None:
    """nccl-tests on one GPU, in a congested network, of three sizes, and with wrong results."""
    found = real(file)
    assert reason in (found[0].refused or "")
    assert all(one.refused and one.latency_seconds is None for one in found)


def test_the_unchecked_half_of_a_wrong_run_is_refused() -> None:
    """In place nobody checked; out of place every row was wrong."""
    assert [one.key.placement for one in real("all-wrong") if "other placement" in (one.refused or "")] == ["in"]


def test_two_interconnects_under_one_label_are_a_mixture(tmp_path: Path) -> None:
    """NVLink and host memory of the same machine, their labels made equal."""
    file = tmp_path / "both.jsonl"
    texts = [(DATA / f"{name}-all_reduce.jsonl").read_text() for name in ("nvlink", "host")]
    file.write_text("".join(text.replace(f'"{name}-all_reduce"', '"x"') for text, name in
                            zip(texts, ("nvlink", "host"), strict=True)))  # fmt: skip
    assert all("a mixture of runs" in (one.refused or "") for one in read_models([file]))


def test_two_launches_of_one_thing_are_no_mixture() -> None:
    """5 % apart."""
    rows = [*sweep(line).measurements, *sweep(lambda size: 1.05 * line(size), cycle=1).measurements]
    (found,) = fit_sweeps([Sweep(sweep(line).header, tuple(rows))])
    assert (found.refused, found.launches) == (None, 2)


def test_a_single_dip_is_no_collapse() -> None:
    """It is named as an outlier instead."""
    found = model(lambda size: line(size) * (10 if size == 1 << 20 else 1))
    assert (found.refused, [one.message_bytes for one in found.outliers]) == (None, [1 << 20])


def test_two_dips_are_a_collapse() -> None:
    found = model(lambda size: line(size) * (10 if size in (1 << 20, 1 << 21) else 1))
    assert found.refused is not None
    assert found.refused.startswith("a collapse: at 1 MiB, 2 MiB")


@pytest.mark.parametrize(("count", "refused"), [(4, True), (5, False)])
def test_five_sizes_are_enough(count: int, refused: bool) -> None:
    assert (model(sizes=[8 * 32**step for step in range(count)]).refused is not None) is refused


def test_less_than_two_decades_are_refused() -> None:
    assert "less than two decades" in (model(sizes=[1 << 20, *((1 << 20) + (k << 16) for k in range(9))]).refused or "")


def test_times_that_do_not_grow_show_no_bandwidth() -> None:
    assert "hardly grows" in (model(lambda _: 1e-5).refused or "")


def test_a_bandwidth_that_may_be_anything_is_no_answer() -> None:
    """Six sizes with 100 % noise."""
    reasons = [model(noisy(seed, noise=1.0), sizes=[8 * 64**k for k in range(6)]).refused for seed in range(8)]
    assert any(reason and ("may be anything" in reason or "hardly grows" in reason) for reason in reasons)


def test_times_of_zero_are_no_times() -> None:
    assert model(lambda size: 0.0 if size > 64 else line(size)).refused is not None


def test_hostile_curves_give_a_model_or_a_reason() -> None:
    """Random times over 18 decades, sizes up to the largest that a file may hold; no warning, no trace."""
    chance = np.random.default_rng(0)
    for _ in range(60):
        sizes = sorted({int(10 ** chance.uniform(0, 18)) for _ in range(int(chance.integers(1, 45)))})
        law = (lambda _: 10 ** chance.uniform(-12, 9)) if chance.random() < 0.4 else noisy(1, noise=0.7)
        found = model(law, sizes)
        assert found.refused or (found.bytes_per_second or 0) > 0


def test_very_many_points_are_fitted() -> None:
    """20 000 sizes, and 20 000 launches of one size."""
    many = sorted({int(size) for size in np.geomspace(8, 2**34, 20_000)})
    assert model(noisy(1), many).latency_seconds == about(20e-6, rel=0.02)
    rows = [point(size, [line(size)], cycle=cycle) for cycle in range(700) for size in SIZES]
    assert fit_sweeps([Sweep(sweep(line).header, tuple(rows))])[0].launches == 700
