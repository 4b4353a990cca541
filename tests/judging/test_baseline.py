"""Limits from good launches keep the rates they state, on a simulated and on a recorded cluster."""

from pathlib import Path

import pytest

from commbench.errors import UsageError
from commbench.judging.acceptance import accept
from commbench.judging.baseline import Made, make_baseline
from commbench.judging.judged import Outcome
from commbench.judging.limits import Limits, parse_limits
from commbench.sweepfile.reader import Sweep, read_sweeps

from .synthetic import law, sweep

RECORDED = Path(__file__).parents[1] / "data" / "judging" / "emulated4"


def launch(seed: int, factor: float = 1.0, launch_noise: float = 0.005, **more: object) -> Sweep:
    return sweep("a", seed=seed, seconds=lambda size: factor * law(size), launch_noise=launch_noise, noise=0.01, **more)  # type: ignore[arg-type]


def made(launches: int = 5, **more: object) -> Made:
    good = [launch(seed, **more) for seed in range(launches)]  # type: ignore[arg-type]
    return make_baseline(good, false_alarms=0.02, detect=0.05, every_size=False, name="good")


@pytest.fixture(scope="module")
def limits() -> Limits:
    return parse_limits(made().text.encode())


def test_what_is_derived_is_a_limits_file_for_that_machine(limits: Limits) -> None:
    assert (limits.cluster.world_size, limits.cluster.device, limits.cluster.paths) == (2, "CPU", ("sm",))


def test_smallest_middle_and_largest_size_have_a_limit(limits: Limits) -> None:
    assert [limit.sizes and limit.sizes[0] for limit in limits.limits] == [8, 8192, 2 << 20]


def test_every_size_may_have_one() -> None:
    good = [launch(seed, launch_noise=0.001) for seed in range(5)]
    text = make_baseline(good, false_alarms=0.02, detect=0.1, every_size=True, name="good").text
    assert len(parse_limits(text.encode()).limits) == 10


def outcomes(limits: Limits, factor: float) -> list[Outcome]:
    return [accept(limits, [launch(seed, factor)]).verdict for seed in range(100, 200)]


def test_healthy_launches_pass_and_hardly_ever_fail(limits: Limits) -> None:
    found = outcomes(limits, 1.0)
    assert found.count("fail") <= 6  # 2 % are stated; 7 of 100 would be one chance in 1,000
    assert found.count("pass") >= 90


def test_a_machine_slower_by_what_must_show_hardly_ever_passes(limits: Limits) -> None:
    assert outcomes(limits, 1.05).count("pass") <= 8  # 2.5 % are stated


def test_a_machine_slower_by_far_always_fails(limits: Limits) -> None:
    assert set(outcomes(limits, 1.3)) == {"fail"}


def test_launches_that_differ_too_much_give_no_limit() -> None:
    with pytest.raises(UsageError, match="least to show"):
        made(launch_noise=0.08)


@pytest.mark.parametrize(
    "sweeps",
    [
        [],
        [launch(0), launch(1)],
        [launch(0), launch(1), launch(2, correct=None)],
        [launch(0), launch(1), launch(2, environment={"device": "NVIDIA H200"})],
        [launch(seed, world_size=1, ranks_per_host=(1,)) for seed in range(5)],
        [Sweep(launch(seed).header, launch(seed).measurements) for seed in range(5)],
    ],
    ids=["none", "two", "unchecked", "two machines", "one rank", "unfinished"],
)
def test_what_is_no_good_launch_is_refused(sweeps: list[Sweep]) -> None:
    with pytest.raises(UsageError):
        make_baseline(sweeps, false_alarms=0.02, detect=0.05, every_size=False, name="bad")


def test_names_with_quotes_stay_strings() -> None:
    good = [launch(seed, environment={"device": 'a "b" \\ c\n'}) for seed in range(5)]
    text = make_baseline(good, false_alarms=0.02, detect=0.05, every_size=False, name='x"\n[[limit]]').text
    assert parse_limits(text.encode()).cluster.device == 'a "b" \\ c '


def test_unproved_launches_ask_for_no_path_and_say_so() -> None:
    assert 'path = "any"  # nothing proves' in made(proved=None).text


@pytest.fixture(scope="module")
def recorded() -> Limits:
    """From 5 launches over links of 1 Gbit/s."""
    good = [one for file in sorted(RECORDED.glob("baseline-*")) for one in read_sweeps(file)]
    return parse_limits(make_baseline(good, false_alarms=0.02, detect=0.05, every_size=False, name="lan").text.encode())


@pytest.mark.parametrize(
    ("series", "allowed"),
    [("healthy", {"pass"}), ("500mbit", {"fail"}), ("950mbit", {"fail", "inconclusive"})],
)
def test_launches_of_an_emulated_cluster_are_judged_rightly(recorded: Limits, series: str, allowed: set[str]) -> None:
    """4 nodes, recorded by benchmarks.emulated_acceptance: healthy, one link at half the rate, one 5 % slower."""
    files = sorted(RECORDED.glob(f"{series}-*"))
    assert files
    assert {accept(recorded, read_sweeps(file)).verdict for file in files} <= allowed
