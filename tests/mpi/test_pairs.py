"""Pairs of ranks under a real mpirun: all of them are tested, in groups that change from round to round."""

import json
from itertools import combinations
from typing import Any

import pytest

from tests.launched.launching import Result

from .running import run

pytestmark = pytest.mark.mpi


@pytest.fixture(scope="module")
def result() -> Result:
    return run(3, "-n", "3", "-w", "1", "-b", "64K", "--tolerance", "100%", "--json", program="mpi.pairs")


@pytest.fixture(scope="module")
def document(result: Result) -> Any:
    assert result.returncode in (0, 1, 3), result.stderr
    return json.loads(result.stdout, parse_constant=pytest.fail)


def test_every_pair_was_tested(document: Any) -> None:
    assert [tuple(each["ranks"]) for each in document["pairs"]] == list(combinations(range(3), 2))


def test_mpi_issued_the_calls(document: Any) -> None:
    assert document["backend"] == "mpi"
    assert all(each["seconds"] > 0 for each in document["pairs"])


def test_the_exit_code_is_the_verdicts(result: Result, document: Any) -> None:
    """Between ranks of one busy host anything may come out, but both say the same."""
    assert {"healthy": 0, "culprit": 1, "could not tell": 3}[document["verdict"]] == result.returncode


def test_no_result_was_wrong(document: Any) -> None:
    assert [each for each in document["culprits"] if each["fault"] == "wrong"] == []
