"""Variables that reached some ranks only."""

from commbench.measuring.rank_variables import differing


def test_a_variable_of_one_rank_is_named_with_both_values() -> None:
    assert differing([{"A": "1", "B": "2"}, {"B": "2"}]) == {
        "A": [{"value": "1", "ranks": [0]}, {"value": None, "ranks": [1]}]
    }


def test_alike_is_nothing() -> None:
    assert differing([{"A": "1"}, {"A": "1"}]) == {}
