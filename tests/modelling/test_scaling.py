"""Larger worlds: the law behind the times is found, and refused where it cannot be."""

from collections.abc import Callable, Sequence
from functools import partial
from math import log2

import pytest

from commbench.modelling.fitting import fit_sweeps
from commbench.modelling.laws import laws_of
from commbench.modelling.model import Model
from commbench.modelling.scaling import RefusedScalingError, fit_scaling
from commbench.sweepfile.reader import Sweep
from tests.modelling.building import SIZES, about, noisy, sweep

Law = Callable[[int, float], float]
LAUNCH, HOP, LINK = 8e-6, 2e-6, 100e9


def ring(ranks: int, size: float) -> float:
    """An all-reduce in a ring."""
    return LAUNCH + 2 * (ranks - 1) * HOP + 2 * (ranks - 1) / ranks * size / LINK


def tree(ranks: int, size: float) -> float:
    """An all-reduce over a tree, pipelined."""
    return LAUNCH + 2 * log2(ranks) * HOP + 2 * size / LINK


def two_levels(ranks: int, size: float) -> float:
    """A ring over hosts of 8: hops between hosts cost ten times as much, and the network sets the rate."""
    hosts = max(1, ranks // 8)
    between = 2 * (hosts - 1)
    rate = LINK if hosts == 1 else LINK / 4
    return LAUNCH + (2 * (ranks - 1) - between) * HOP + between * 10 * HOP + 2 * (ranks - 1) / ranks * size / rate


def family(law: Law, worlds: Sequence[int], *, per_host: int | None = None, noise: float = 0.01) -> list[Model]:
    """Models of these numbers of ranks."""
    sweeps: list[Sweep] = []
    for ranks in worlds:
        hosts = () if per_host is None else (min(ranks, per_host),) * max(1, ranks // per_host)
        sweeps.append(sweep(noisy(ranks, partial(law, ranks), noise), SIZES, world_size=ranks,
                            ranks_per_host=hosts or None))  # fmt: skip
    return list(fit_sweeps(sweeps))


@pytest.mark.parametrize(("law", "name"), [(ring, "ring"), (tree, "tree")])
def test_the_law_is_found_and_predicts_a_larger_world(law: Law, name: str) -> None:
    """From 2, 4, 8 and 16 ranks to 32, small and large messages; the interval holds the truth."""
    found = fit_scaling(family(law, (2, 4, 8, 16)))
    assert found.law.name == name
    for size in (8, 1 << 20, 1 << 30):
        answer = found.predict(size, 32)
        assert answer.seconds == about(law(32, size), rel=0.08)
        assert answer.interval[0] <= law(32, size) <= answer.interval[1]
        assert answer.extrapolated == about(2.0)


def test_constants_of_a_ring_come_back() -> None:
    constants = fit_scaling(family(ring, (2, 4, 8, 16), noise=0.0)).constants
    assert (constants.launch, constants.hop) == (about(LAUNCH, rel=0.05), about(HOP, rel=0.05))
    assert 1 / constants.link == about(LINK, rel=0.02)


def test_hops_and_links_between_hosts_are_their_own() -> None:
    """From 4 ranks on one host to 32 on four, to 64 on eight."""
    found = fit_scaling(family(two_levels, (4, 8, 16, 32), per_host=8, noise=0.0))
    assert found.constants.host_hop == about(10 * HOP, rel=0.1)
    assert 1 / found.constants.host_link == about(LINK / 4, rel=0.05)
    for size in (8, 1 << 30):
        assert found.predict(size, 64).seconds == about(two_levels(64, size), rel=0.05)


def test_a_larger_world_takes_more_noise_into_its_interval() -> None:
    """Further away is less known."""
    found = fit_scaling(family(ring, (2, 4, 8)))
    near, far = ((one := found.predict(1 << 20, ranks)).interval[1] / one.seconds for ranks in (16, 256))
    assert far > near


@pytest.mark.parametrize("worlds", [(2,), (2, 4)])
def test_two_worlds_are_too_few(worlds: tuple[int, ...]) -> None:
    with pytest.raises(RefusedScalingError, match="other numbers of ranks"):
        fit_scaling(family(ring, worlds))


def test_a_ring_takes_nccls_steps() -> None:
    """2(p-1) for all-reduce, p-1 for reduce-scatter and all-gather (src/graph/tuning.cc)."""
    steps = {name: laws_of(name)[0].steps(8) for name in ("all_reduce", "reduce_scatter", "all_gather")}
    assert steps == {"all_reduce": 14, "reduce_scatter": 7, "all_gather": 7}


def test_every_collective_has_a_law() -> None:
    from commbench.collectives import COLLECTIVES

    assert all(laws_of(name) for name in COLLECTIVES)
