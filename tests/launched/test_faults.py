"""Planted faults are found and named: wrong data, a rank that comes late, a rank that is slow.

One launch has all three, each on rank 1 of 2; see faulty.py.
"""

from collections.abc import Sequence

import pytest

from commbench.sweepfile.records import Measurement

from .faulty import RANK
from .launching import Result, sweep

pytestmark = pytest.mark.gloo


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    file = str(tmp_path_factory.mktemp("faulty") / "out.jsonl")
    options = ["all_reduce,all_gather", "-o", "sum,max,min", "-b", "1K", "-e", "64K", "-f", "8", "-n", "12"]
    return sweep(2, *options, "--buffers", "same", "-J", file, program="tests.launched.faulty")


def of(result: Result, op: str) -> Sequence[Measurement]:
    """The rows of an operator."""
    return [row for row in result.rows if row.op == op]


def warning(result: Result, words: str) -> str:
    """The line under the table that says `words`."""
    return next(line for line in result.stdout.splitlines() if words in line)


def test_one_wrong_element_makes_its_rows_wrong(result: Result) -> None:
    """Found before and after timing: two checks of one wrong element each."""
    assert {(row.correct, row.wrong) for row in of(result, "sum")} == {(False, 2)}


def test_only_wrong_rows_are_wrong(result: Result) -> None:
    """The other operators and collectives of the same launch are right."""
    assert {row.correct for row in result.rows if row.op != "sum"} == {True}


def test_wrong_data_fail_the_launch(result: Result) -> None:
    """Our exit code is 1, and torchrun's is 1 for any failure."""
    assert result.returncode == 1
    assert "exitcode  : 1 " in result.stderr


def test_wrong_data_do_not_end_the_sweep(result: Result) -> None:
    """Everything that was asked for is measured, and the file says so."""
    assert [sweep.status for sweep in result.sweeps] == ["complete"]
    assert len(result.rows) == 3 * 3 + 2 * 3


def test_wrong_data_are_shouted_under_the_table(result: Result) -> None:
    """With the number of rows."""
    assert "in 3 of 15 rows" in warning(result, "WRONG")


def test_a_rank_that_enters_late_is_the_fastest(result: Result) -> None:
    """It is in the collective for the shortest time, in every row of its operator."""
    assert [row.fastest_rank for row in of(result, "max")] == [RANK] * 3


def test_it_is_known_whether_ranks_are_apart_at_entry_or_at_exit(result: Result) -> None:
    """Two ranks' times alone could not tell a late one from one with a slow neighbour."""
    assert [{row.skew for row in of(result, op)} for op in ("max", "min")] == [{"entry"}, {"exit"}]


def test_a_rank_that_enters_late_is_named(result: Result) -> None:
    """As late, not as slow."""
    assert f"rank {RANK} entered late in " in warning(result, "entered late")


def test_a_rank_that_sleeps_after_its_call_is_the_slowest(result: Result) -> None:
    """In every row of its operator."""
    assert [row.slowest_rank for row in of(result, "min")] == [RANK] * 3


def test_a_rank_that_sleeps_after_its_call_is_named(result: Result) -> None:
    """As slow."""
    assert f"rank {RANK} was slowest in " in warning(result, "was slowest in")
