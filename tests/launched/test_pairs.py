"""Pairs of ranks under a real torchrun on gloo, inside one host: groups change from round to round."""

import json
from itertools import combinations
from typing import Any

import pytest

from .launching import Result, sweep

pytestmark = pytest.mark.gloo


@pytest.fixture(scope="module")
def result() -> Result:
    """An odd number of ranks: in each round one sits out."""
    return sweep(3, "-n", "3", "-w", "1", "-b", "64K", "--tolerance", "100%", "--json", program="commbench.pairs")


@pytest.fixture(scope="module")
def document(result: Result) -> Any:
    return json.loads(result.stdout, parse_constant=pytest.fail)


def test_every_pair_was_tested_inside_the_host(document: Any) -> None:
    tested = [(tuple(each["ranks"]), each["path"]) for each in document["pairs"]]
    assert tested == [(pair, "inside") for pair in combinations(range(3), 2)]


def test_no_result_was_wrong(document: Any) -> None:
    assert [each for each in document["culprits"] if each["fault"] == "wrong"] == []


def test_health_is_success_and_nothing_else_is(result: Result, document: Any) -> None:
    """Between ranks of one busy host anything may come out, but both say the same."""
    assert (document["verdict"] == "healthy") == (result.returncode == 0)


def test_progress_goes_to_standard_error(result: Result) -> None:
    assert "round 1: 1 pairs inside" in result.stderr
