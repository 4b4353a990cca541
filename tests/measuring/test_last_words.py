"""How a real process ends when its watch gives up: what it says, to whom, and with which code."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pytest

from commbench.measuring.seam import Case

ROOT = Path(__file__).parents[2]
CASE = Case("all_reduce", 2, "float32", "sum", None, "in", "isolated")


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
