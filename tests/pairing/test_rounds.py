"""Rounds: disjoint pairs, everybody in each, few of them."""

from itertools import combinations

import pytest

from commbench.pairing.rounds import retests, rounds_needed, screening, tournament


@pytest.mark.parametrize("members", [2, 3, 4, 5, 8, 9, 16, 33])
def test_a_tournament_has_every_pair_once(members: int) -> None:
    pairs = [pair for each in tournament(members) for pair in each]
    assert sorted(pairs) == list(combinations(range(members), 2))


@pytest.mark.parametrize("members", [2, 3, 4, 5, 8, 9, 16, 33])
def test_a_tournament_takes_n_minus_1_rounds(members: int) -> None:
    """One more where one member must sit out."""
    assert len(tournament(members)) == members - 1 + members % 2


@pytest.mark.parametrize("members", [3, 4, 8, 33, 1024])
def test_nobody_is_in_two_pairs_of_a_round(members: int) -> None:
    for each in screening(members):
        ranks = [rank for pair in each for rank in pair]
        assert len(ranks) == len(set(ranks)) >= members - 1


@pytest.mark.parametrize(("members", "rounds"), [(1, 0), (3, 12), (4, 6), (8, 6), (64, 12), (1024, 20)])
def test_the_first_look_takes_rounds_of_log_n(members: int, rounds: int) -> None:
    assert rounds_needed(members) == len(screening(members)) == rounds


def test_no_two_meet_twice_where_there_are_enough() -> None:
    pairs = [pair for each in screening(64) for pair in each]
    assert len(pairs) == len(set(pairs))


def test_all_pairs_are_n_minus_1_rounds() -> None:
    assert len(screening(64, all_pairs=True)) == 63


def test_a_suspect_meets_another_good_one_in_each_round() -> None:
    found = [partner for each in retests([3], [], [0, 1, 2, 4, 5], rounds=4) for pair in each if 3 in pair
             for partner in pair if partner != 3]  # fmt: skip
    assert len(found) == len(set(found)) == 4


def test_good_members_meet_each_other_meanwhile() -> None:
    """The suspect is compared with tests under the same load."""
    assert all(len(each) == 3 for each in retests([3], [], [0, 1, 2, 4, 5], rounds=4))


def test_a_suspicious_link_is_tested_as_it_is() -> None:
    assert all((1, 4) in each for each in retests([], [(1, 4)], [0, 1, 2, 3, 4, 5], rounds=4))


def test_healthy_pairs_are_tested_again_although_as_many_are_suspects() -> None:
    """Of four, two may be slow: then the two others must meet, or nothing healthy is left to compare with."""
    assert any((0, 1) in each for each in retests([2, 3], [], [0, 1], rounds=4))


def test_suspects_meet_each_other_where_nobody_is_good() -> None:
    assert retests([0, 1], [], [], rounds=2) == (((0, 1),), ((0, 1),))
