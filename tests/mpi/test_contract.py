"""The contract of backends, unchanged, on MPI: 1 to 4 ranks, their sub-worlds and groups, calls and persistent ones."""

import json

import pytest

from commbench.collectives import COLLECTIVES
from tests.launched.launching import Result

from . import contract
from .running import run

pytestmark = pytest.mark.mpi

EVERY = set(COLLECTIVES)
# by ranks; a type costs seconds where there are more ranks than cores
TYPES = {1: contract.TYPES, 2: contract.TYPES, 3: ("float32", "float8_e4m3"), 4: ("float32",)}


def ran(result: Result) -> dict[str, set[str]]:
    """The collectives that each world ran."""
    assert result.returncode == 0, result.stderr
    return {name: set(collectives) for name, collectives in json.loads(result.stdout).items()}


@pytest.mark.parametrize("ranks", TYPES)
def test_mpi_keeps_the_contract(ranks: int) -> None:
    """Every collective and placement, with numbers that MPI knows and types that it only moves."""
    found = ran(run(ranks, "--types", ",".join(TYPES[ranks]), program="tests.mpi.contract"))
    assert found["whole"] == (EVERY if ranks > 1 else EVERY - {"send_recv"})
    assert len(found) == ranks + (ranks % 2 == 0)


def test_persistent_collectives_keep_the_contract() -> None:
    """All but send_recv, which MPI has none of."""
    found = ran(run(2, "--persistent", "--types", "float32", program="tests.mpi.contract"))
    assert found["whole"] == EVERY - {"send_recv"}
