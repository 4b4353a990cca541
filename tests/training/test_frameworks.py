"""Our schedules are what the real frameworks issue: kind, operator, dtype, elements, group and order of every call.

All cases of torch run in one launch a world size, and all of DeepSpeed. A recorder below torch.distributed sees every
collective.
"""

import json
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

from commbench.training.schedules import schedule
from tests.launched.launching import sweep
from tests.training.frameworks.cases import MODELS, PYTORCH, ZERO, Case

pytestmark = pytest.mark.gloo

PROGRAMS = {"pytorch": PYTORCH, "zero": ZERO}
COPIED = {"torch": "2.13.", "deepspeed": "0.19.6"}  # the releases whose behaviour our schedules copy
ENVIRONMENT = {"DS_ACCELERATOR": "cpu", "PYTHONWARNINGS": "ignore", "TOKENIZERS_PARALLELISM": "false"}
LONGEST = 240.0  # seconds; a guard, ten times what the slowest launch takes on two idle cores

Issued = Mapping[str, list[list[Any]]]


@pytest.fixture(scope="module")
def issued(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, int], Issued]:
    """What a program's cases issued on so many ranks; launched when it is first asked for."""

    @cache
    def launched(program: str, world: int) -> Issued:
        output = tmp_path_factory.mktemp(program) / "issued.json"
        ended = sweep(
            world, str(output), program=f"tests.training.frameworks.{program}", env=ENVIRONMENT, timeout=LONGEST
        )
        assert ended.returncode == 0, ended.stderr[-4000:]
        calls: Issued = json.loads(Path(output).read_text())
        return calls

    return launched


CASES = [
    pytest.param(program, world, case, id=f"{world} ranks, {case.name}")
    for program, cases in PROGRAMS.items()
    for world in (2, 4)
    for case in cases
    if world in case.worlds
]


@pytest.mark.parametrize(("program", "world", "case"), CASES)
def test_a_schedule_is_what_the_framework_issues(
    program: str, world: int, case: Case, issued: Callable[[str, int], Issued]
) -> None:
    """Equal lists, call by call."""
    _needs("torch")
    if program == "zero":
        _needs("deepspeed")
    model = MODELS[case.model].shapes(case.model, "this test")
    expected = [
        [call.phase, call.micro_step, call.collective, call.op, call.dtype, call.elements, call.group.size]
        for call in schedule(case.strategy, model, world, case.variant, case.settings).calls
    ]
    assert issued(program, world)[case.name] == expected


def _needs(package: str) -> None:
    """Skip where another release is installed than the one whose behaviour is copied."""
    try:
        found = version(package)
    except PackageNotFoundError:
        found = "none"
    if not found.startswith(COPIED[package]):
        pytest.skip(f"the schedules copy {package} {COPIED[package].rstrip('.')}, and {found} is installed")
