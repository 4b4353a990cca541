"""A replay under a real mpirun: MPI issues the calls of a step, and results are right."""

import json
from typing import Any

import pytest

from .running import run

pytestmark = pytest.mark.mpi


@pytest.fixture(scope="module")
def replay() -> Any:
    words = ("--model", "tiny", "--strategy", "zero2", "--variant", "paper", "-n", "1", "-w", "0", "--json")
    result = run(2, *words, program="mpi.replay")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout, parse_constant=pytest.fail)["replay"]


def test_results_are_right(replay: Any) -> None:
    assert replay["correct"] is True


def test_every_call_was_issued_by_mpi(replay: Any) -> None:
    assert replay["backend"] == "mpi"
    assert {call["collective"] for call in replay["schedule"]} == {"reduce", "all_reduce", "all_gather"}
    assert all(call["measured_seconds"] > 0 for call in replay["schedule"])


def test_a_type_that_mpi_cannot_reduce_is_replaced_and_told(replay: Any) -> None:
    """bfloat16 gradients go as float32 of as many bytes."""
    assert "reduce: sum bfloat16 replayed as sum float32" in replay["notes"]
