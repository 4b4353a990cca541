"""Who is the culprit: known faults of known size, with the real schedule of tests and retests."""

import numpy as np
import pytest

from commbench.judging.culprits import find_culprits
from commbench.judging.findings import Finding, Verdict
from commbench.judging.pair_times import PairTimes

from .laws_of_pairs import CALL, SMALL, TOLERANCE, verdict_on

FOUR = [f"node{node}" for node in range(4)]
EIGHT = [f"node{node}" for node in range(8)]
GPUS = [f"node{rank // 4}" for rank in range(16)]  # four nodes of four


def named(verdict: Verdict) -> list[tuple[str, str, tuple[int, ...]]]:
    return sorted((each.kind, each.fault, each.ranks) for each in verdict.culprits)


def only(verdict: Verdict) -> Finding:
    (finding,) = verdict.culprits
    return finding


@pytest.mark.parametrize("hosts", [FOUR, EIGHT, GPUS])
def test_a_healthy_cluster_names_nobody(hosts: list[str]) -> None:
    """And leaves nothing open, in none of twenty runs."""
    for seed in range(20):
        verdict = verdict_on(hosts, seed=seed)
        assert (verdict.culprits, verdict.open) == ((), ())


@pytest.mark.parametrize("bad", range(4))
def test_a_node_at_half_its_rate_is_named(bad: int) -> None:
    assert named(verdict_on(FOUR, slow={bad: 2.0})) == [("node", "slow", (bad,))]


def test_its_slowness_is_what_it_is() -> None:
    finding = only(verdict_on(EIGHT, slow={5: 2.0}))
    assert finding.interval is not None
    assert finding.interval[0] < 2.0 < finding.interval[1]


def test_its_evidence_is_tests_with_good_partners() -> None:
    finding = only(verdict_on(EIGHT, slow={5: 2.0}))
    assert len(finding.partners) >= 6
    assert finding.retests >= 3


def test_nobody_is_named_without_retests() -> None:
    verdict = verdict_on(EIGHT, slow={5: 2.0}, cycles=0)
    assert (verdict.culprits, verdict.suspects) == ((), {"between": (5,)})


@pytest.mark.parametrize("bad", [(0, 1), (0, 3), (1, 2)])
def test_two_bad_nodes_of_four_are_both_named(bad: tuple[int, int]) -> None:
    assert named(verdict_on(FOUR, slow=dict.fromkeys(bad, 2.0))) == [("node", "slow", (node,)) for node in bad]


def test_two_bad_nodes_of_eight_are_both_named_though_one_is_slower() -> None:
    assert named(verdict_on(EIGHT, slow={2: 2.0, 6: 1.3})) == [("node", "slow", (2,)), ("node", "slow", (6,))]


def test_a_node_at_95_percent_is_never_called_healthy() -> None:
    """It is named, or open."""
    for seed in range(20):
        verdict = verdict_on(FOUR, slow={1: 1 / 0.95}, sigma=0.01, seed=seed)
        assert 1 in {rank for each in (*verdict.culprits, *verdict.open) for rank in each.ranks}
        assert {rank for each in verdict.culprits for rank in each.ranks} <= {1}


def test_a_slow_link_is_no_slow_node() -> None:
    assert named(verdict_on(EIGHT, links={(2, 5): 1.5}, all_pairs=True)) == [("link", "slow", (2, 5))]


def test_a_late_rank_is_late_and_its_path_is_not_slow() -> None:
    assert named(verdict_on(FOUR, late={2: 20e-3})) == [("rank", "late", (2,))]


def test_late_and_slow_are_told_apart_in_one_run() -> None:
    found = named(verdict_on(EIGHT, slow={6: 2.0}, late={2: 20e-3}))
    assert found == [("node", "slow", (6,)), ("rank", "late", (2,))]


def test_one_slow_network_card_is_its_rank_and_not_the_node() -> None:
    finding = only(verdict_on(GPUS, slow={6: 1.5}))
    assert (finding.kind, finding.path, finding.ranks) == ("rank", "between", (6,))


def test_a_slow_cable_of_a_node_is_the_node() -> None:
    finding = only(verdict_on(GPUS, slow=dict.fromkeys(range(4, 8), 1.5)))
    assert (finding.kind, finding.path, finding.hosts) == ("node", "between", ("node1",))


def test_a_slow_gpu_inside_a_node_is_told_apart() -> None:
    finding = only(verdict_on(GPUS, inside={9: 1.5}))
    assert (finding.kind, finding.path, finding.ranks) == ("rank", "inside", (9,))


def test_a_gpu_that_is_slow_everywhere_is_one_culprit() -> None:
    finding = only(verdict_on(GPUS, slow={9: 1.5}, inside={9: 1.5}))
    assert (finding.kind, finding.path, finding.ranks) == ("rank", "both", (9,))


def test_a_node_that_is_slow_inside_is_the_node() -> None:
    finding = only(verdict_on(GPUS, inside=dict.fromkeys(range(8, 12), 1.5)))
    assert (finding.kind, finding.path, finding.hosts) == ("node", "inside", ("node2",))


def test_of_two_ranks_inside_a_node_the_link_is_named() -> None:
    """Nobody can tell which of both ends it is."""
    hosts = [f"node{rank // 2}" for rank in range(8)]
    finding = only(verdict_on(hosts, inside={4: 1.5, 5: 1.5}))
    assert (finding.kind, finding.path, finding.ranks) == ("link", "inside", (4, 5))


def test_two_nodes_have_no_reference() -> None:
    verdict = verdict_on(["node0", "node1"])
    assert (verdict.culprits, verdict.without_reference) == ((), ("between",))


def test_wrong_results_are_the_rank_that_has_them_with_everybody() -> None:
    assert ("rank", "wrong", (3,)) in named(verdict_on(EIGHT, wrong=[3]))
    assert len(verdict_on(EIGHT, wrong=[3]).culprits) == 1


def test_scatter_larger_than_the_fault_leaves_it_open() -> None:
    verdict = verdict_on(FOUR, slow={1: 1.05}, sigma=0.1)
    assert verdict.culprits == ()
    assert verdict.open


def test_no_tests_are_no_verdict() -> None:
    verdict = find_culprits([], FOUR, 0.03)
    assert (verdict.culprits, verdict.open, verdict.reference) == ((), (), {})


def test_nor_have_two_nodes_of_several_ranks() -> None:
    """Ranks can be compared with each other, the two nodes cannot."""
    verdict = verdict_on([f"node{rank // 4}" for rank in range(8)])
    assert verdict.without_reference == ("between",)


def test_disturbed_tests_name_no_link() -> None:
    """Of hundreds of links that something disturbed once, some are disturbed again when they are tested again."""
    hosts = [f"node{node}" for node in range(128)]
    for seed in range(3):
        assert verdict_on(hosts, sigma=0.01, glitches=0.05, seed=seed).culprits == ()


@pytest.mark.parametrize(
    ("expected", "kinds", "without"),
    [(CALL, [], ()), (CALL / 1.5, ["all"], ("between",)), (CALL / 1.03, [], ("between",))],
)
def test_an_expected_time_is_a_reference_for_two_nodes(
    expected: float, kinds: list[str], without: tuple[str, ...]
) -> None:
    """Kept, missed by far, and missed by just the tolerance, which nobody can tell."""
    verdict = find_culprits(two_nodes(), ["node0", "node1"], TOLERANCE, expected)
    assert ([each.kind for each in verdict.culprits], verdict.without_reference) == (kinds, without)


def test_a_time_that_scatter_hides_is_open() -> None:
    verdict = find_culprits(two_nodes(), ["node0", "node1"], TOLERANCE, CALL / 1.03)
    assert [each.kind for each in verdict.open if each.kind == "all"] == ["all"]


def test_all_pairs_that_are_slow_alike_are_named_with_how_slow() -> None:
    """Among themselves nobody is slow."""
    verdict = find_culprits(two_nodes(), ["node0", "node1"], TOLERANCE, CALL / 2.0)
    assert verdict.culprits[0].slowness == pytest.approx(2.0, rel=0.01)
    assert find_culprits(two_nodes(), ["node0", "node1"], TOLERANCE).culprits == ()


def test_a_message_that_takes_no_longer_than_the_smallest_shows_nothing() -> None:
    same = [
        PairTimes("between", (a, b), ((SMALL,), (SMALL,)), ((SMALL,), (SMALL,))) for a in range(4) for b in range(a)
    ]
    verdict = find_culprits(same, FOUR, TOLERANCE)
    assert (verdict.untimed, verdict.reference) == (("between",), {})


def test_messages_too_small_to_show_a_path_name_nobody() -> None:
    """Some of the tests take less than their small messages did: what is left is noise, and no rate."""
    random = np.random.default_rng(0)
    noise = np.exp(random.normal(0.0, 0.5, (2, 12, 3)))
    pairs = [(a, b) for a in range(4) for b in range(a)]
    tests = [
        PairTimes("between", pair, ((SMALL * one,),) * 2, ((SMALL * other,),) * 2, (0, 0), retest=again > 0)
        for again in range(3)
        for pair, one, other in zip(pairs, noise[0, :, again].tolist(), noise[1, :, again].tolist(), strict=False)
    ]
    verdict = find_culprits(tests, FOUR, TOLERANCE)
    assert (verdict.culprits, verdict.untimed) == ((), ("between",))


def two_nodes() -> list[PairTimes]:
    random = np.random.default_rng(0)
    seconds = (CALL * np.exp(random.normal(0.0, 0.005, 14))).tolist()
    return [PairTimes("between", (0, 1), ((one,), (one,)), None, (0, 0)) for one in seconds]
