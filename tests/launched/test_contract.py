"""torch's gloo keeps the contract that the measuring core relies on; see tests/measuring/backend_contract.py."""

import json

import pytest

from commbench.collectives import COLLECTIVES

from .launching import Result, sweep

pytestmark = pytest.mark.gloo

WORLDS = ("1 of 4", "2 of 4", "3 of 4", "4 of 4", "halves")


@pytest.fixture(scope="module")
def result() -> Result:
    return sweep(4, program="tests.launched.contract")


def test_gloo_keeps_the_contract(result: Result) -> None:
    """With buffers that rotate and buffers that do not."""
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("world", WORLDS)
def test_every_collective_was_checked(result: Result, world: str) -> None:
    """None was skipped as refused, but a send to oneself."""
    expected = set(COLLECTIVES) - ({"send_recv"} if world == "1 of 4" else set())
    assert set(json.loads(result.stdout)[world]) == expected
