"""The watch: when it gives up, and how a real process then ends."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn, Self

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


class Rank:
    """A process of `tests.measuring.leaving` that is ready."""

    def __init__(self, folder: Path, does: str, rank: int = 0, size: int = 1) -> None:
        self.error_file, self._left = folder / f"error-{rank}.json", folder / f"left-{rank}"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.measuring.leaving", str(rank), str(size), str(folder), does],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
            env=os.environ | {"TORCHELASTIC_ERROR_FILE": str(self.error_file)},
        )  # fmt: skip
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"

    def say(self) -> None:
        """Let it give up."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self) -> tuple[int, str]:
        """(exit code, standard error) of a rank that ends by itself."""
        error = self.process.communicate(timeout=30)[1]
        return self.process.returncode, error

    @property
    def left_with(self) -> str | None:
        """What `on_leave` was told."""
        return self._left.read_text() if self._left.exists() else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.__exit__(None, None, None)  # closes the pipes


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Rank, int, str]]:
    """A single rank that has given up, with its exit code and standard error."""
    with Rank(tmp_path_factory.mktemp("alone"), "give-up") as rank:
        rank.say()
        yield (rank, *rank.end())


def test_giving_up_ends_the_process_with_the_code(alone: tuple[Rank, int, str]) -> None:
    assert alone[1] == 3


def test_giving_up_is_said_once_with_the_place(alone: tuple[Rank, int, str]) -> None:
    """The reason in full, then where this rank was."""
    assert alone[2].startswith("commbench: the reason\n  and its details; rank 0 on ")
    assert alone[2].endswith(" was in phase timed of all_reduce 8 B (float32, sum, in place, isolated)\n")


def test_the_recorder_is_told_the_first_line(alone: tuple[Rank, int, str]) -> None:
    """A reason in the sweep file is one line."""
    assert alone[0].left_with == "the reason"


def test_torchrun_can_show_the_last_words(alone: tuple[Rank, int, str]) -> None:
    """Read back by torch's own classes, which print a root cause."""
    errors = pytest.importorskip("torch.distributed.elastic.multiprocessing.errors")
    failure = errors.ProcessFailure(local_rank=0, pid=7, exitcode=3, error_file=str(alone[0].error_file))
    shown: str = errors.ChildFailedError("commbench.sweep", {0: failure}).format_msg()
    assert "the reason" in shown
    assert "was in phase timed" in shown
    assert abs(failure.timestamp - time.time()) < 600


def test_the_error_file_is_json_as_torch_writes_it(alone: tuple[Rank, int, str]) -> None:
    """{"message": {"message": …, "extraInfo": {"py_callstack": …, "timestamp": …}}}"""
    written: Any = json.loads(alone[0].error_file.read_text())
    assert alone[2] == f"commbench: {written['message']['message']}\n"
    assert set(written["message"]["extraInfo"]) == {"py_callstack", "timestamp"}


@pytest.fixture
def two(tmp_path: Path) -> Iterator[list[Rank]]:
    """Two ranks on one board, ready to give up."""
    with Rank(tmp_path, "give-up", 0, 2) as first, Rank(tmp_path, "give-up", 1, 2) as second:
        yield [first, second]


def test_two_ranks_that_give_up_say_it_once(two: list[Rank]) -> None:
    """One speaks; the other leaves with the same words for its recorder and as quietly as it can."""
    for rank in two:
        rank.say()
    ended = [rank.end() for rank in two]
    assert [code for code, _ in ended] == [3, 3]
    assert sum("the reason" in error for _, error in ended) == 1
    assert {"the reason"} == {rank.left_with for rank in two}


def test_a_killed_neighbour_is_noticed_and_named(tmp_path: Path) -> None:
    """Rank 1 is killed: rank 0, which waits and did nothing, ends with its name."""
    with Rank(tmp_path, "wait", 0, 2) as first, Rank(tmp_path, "wait", 1, 2) as second:
        second.process.kill()
        second.process.wait()
        code, error = first.end()
    assert code == 2
    assert f"(pid {second.process.pid})" in error
    assert "its process died (a rank does not answer)" in error
    assert error.count("commbench:") == 1


@pytest.mark.parametrize("taken", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_rank_that_waits_in_c(taken: signal.Signals, tmp_path: Path) -> None:
    """With 128 + the signal, the message, and the recorder told: a Python handler would never run.

    The system may give the signal to a thread that numpy started before anything of ours ran.
    """
    with Rank(tmp_path, "wait") as rank:
        rank.process.send_signal(taken)
        code, error = rank.end()
    assert code == 128 + taken
    assert error.startswith(f"commbench: ended by {taken.name}; rank 0 on ")
    assert rank.left_with is not None


def test_a_signal_after_the_work_is_done_is_quiet(tmp_path: Path) -> None:
    """Nothing was lost: nothing to say."""
    with Rank(tmp_path, "done") as rank:
        rank.process.send_signal(signal.SIGTERM)
        ended = rank.end()
    assert (*ended, rank.left_with) == (128 + signal.SIGTERM, "", None)


def test_the_phases_are_those_that_the_code_enters() -> None:
    """Each has a limit, if only an infinite one."""
    assert set(watching.PHASES) == {"start", "warm-up", "timed", "check", "waiting", "done"}
