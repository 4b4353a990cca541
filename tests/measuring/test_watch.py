"""The watch: what it calls overdue, and when a run has had its time."""

import time
from pathlib import Path
from typing import NoReturn

import pytest

from commbench.measuring import watch as watching
from commbench.measuring.seam import Case
from commbench.measuring.watch import Watch, describe

ROOT = Path(__file__).parents[2]
CASE = Case("all_reduce", 2, "float32", "sum", None, "in", "isolated")


class GivenUpError(Exception):
    """Stands for the end of the process."""


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    """A single rank's watch without threads, that raises instead of ending pytest."""

    def give_up(self: Watch, reason: str, code: int = 2) -> NoReturn:
        raise GivenUpError(reason, code)

    monkeypatch.setattr(Watch, "give_up", give_up)
    return Watch(0, 1, time_limit=20.0)


@pytest.mark.parametrize(
    ("words", "case"),
    [
        ("all_reduce 8 B (float32, sum, in place, isolated)", CASE),
        (
            "all_gather 1 MiB (int8, out of place, graph)",
            Case("all_gather", 1 << 20, "int8", None, None, "out", "graph"),
        ),
        ("barrier 0 B (isolated)", Case("barrier", 0, None, None, None, None, "isolated")),
    ],
)
def test_a_case_in_words(words: str, case: Case) -> None:
    assert words == describe(case)


def test_the_time_limit_is_reached_at_its_number(watch: Watch) -> None:
    """A number that all ranks share, not this rank's clock."""
    assert [watch.time_is_up(elapsed) for elapsed in (19.9, 20.0, 21.0)] == [False, True, True]


def test_without_a_limit_time_is_never_up() -> None:
    assert not Watch(0, 1).time_is_up(1e9)


def test_a_phase_has_its_limit(watch: Watch) -> None:
    """A minute for a small check; nothing before."""
    watch.enter("check", CASE)
    now = time.monotonic()
    watch._judge(now + 59.0 - 41.0)
    with pytest.raises(GivenUpError, match="the phase took longer"):
        Watch._judge(_without_time_limit(watch), now + 61.0)


def _without_time_limit(watch: Watch) -> Watch:
    watch._time_limit = None
    return watch


@pytest.mark.parametrize(("allowed", "expected", "elements"), [(60 + 20 * 5.0, 5.0, 2), (60 + 400.0, 0.0, 10**9)])
def test_a_phase_may_take_what_its_bytes_and_samples_need(allowed: float, expected: float, elements: int) -> None:
    """20 times the expected time; 4 GB at 10 MB/s."""
    watch = Watch(0, 1)
    watch.enter("timed", Case("all_reduce", elements, "float32", "sum", None, "in", "isolated"), expected=expected)
    assert allowed == pytest.approx(watch._overdue_at - time.monotonic(), abs=1.0)


@pytest.mark.parametrize("phase", ["waiting", "done"])
def test_ranks_that_wait_for_others_have_no_limit(phase: str, watch: Watch) -> None:
    _without_time_limit(watch).enter(phase)
    watch._judge(time.monotonic() + 1e7)


def test_a_point_that_never_ends_is_ended_a_little_after_the_time_limit(watch: Watch) -> None:
    """-T 20 ends between points by itself until 25 s; then the watch does, with exit code 3."""
    watch.enter("waiting")
    watch._judge(watch._started + 24.9)
    with pytest.raises(GivenUpError, match="-T") as caught:
        watch._judge(watch._started + 25.1)
    assert caught.value.args[1] == 3


def test_the_phases_are_those_that_the_code_enters() -> None:
    """Each has a limit, if only an infinite one."""
    assert set(watching.PHASES) == {"start", "warm-up", "timed", "check", "waiting", "done"}
