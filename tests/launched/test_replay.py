"""Replays under a real torchrun on gloo, two and four ranks: what is issued, and that results are right."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from .launching import Result, side_by_side, sweep

pytestmark = pytest.mark.gloo

REPLAY = "commbench.replay"
TINY = ("--model", "tiny", "-n", "1", "-w", "0", "--json")
LAUNCHES = {
    "zero3": partial(sweep, 2, "--strategy", "zero3", *TINY, program=REPLAY),
    "hsdp": partial(sweep, 4, "--strategy", "fsdp", "--variant", "hsdp", "--set", "mesh=2", *TINY, program=REPLAY),
}


@pytest.fixture(scope="module")
def launched() -> Iterator[Callable[[str], Result]]:
    with side_by_side(LAUNCHES) as results:
        yield results


def found(result: Result) -> Any:
    """The replay's document."""
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout, parse_constant=pytest.fail)["replay"]


@pytest.mark.parametrize("name", LAUNCHES)
def test_results_are_right(launched: Callable[[str], Result], name: str) -> None:
    assert found(launched(name))["correct"] is True


@pytest.mark.parametrize("name", LAUNCHES)
def test_every_call_took_time(launched: Callable[[str], Result], name: str) -> None:
    replay = found(launched(name))
    assert len(replay["schedule"]) == replay["calls"] > 0
    assert all(call["measured_seconds"] > 0 for call in replay["schedule"])


@pytest.mark.parametrize("name", LAUNCHES)
def test_every_call_has_a_prediction(launched: Callable[[str], Result], name: str) -> None:
    assert all(call["predicted_seconds"] > 0 for call in found(launched(name))["schedule"])


def test_a_mesh_issues_in_its_groups(launched: Callable[[str], Result]) -> None:
    groups = {(call["group"], call["group_size"]) for call in found(launched("hsdp"))["schedule"]}
    assert groups == {("shard", 2), ("replicate", 2)}
