"""Ranks on the same host: real processes that die or are stopped."""

import signal
import subprocess
import time

import pytest

from commbench.measuring import roll_call
from commbench.measuring.roll_call import RollCall

from .boards import MemoryBoard, post_for

pytestmark = pytest.mark.usefixtures("quick")


def rank(number: int, size: int, board: MemoryBoard) -> RollCall:
    """A rank that has posted twice, so that it knows who is on its host."""
    return RollCall(number, size, board.of(number))


def wait_for_state(pid: int, letter: bytes) -> None:
    """Until the process table shows a state."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        with open(f"/proc/{pid}/stat", "rb") as stat:  # noqa: PTH123
            if stat.read().rpartition(b")")[2].split()[0] == letter:
                return
        time.sleep(0.005)
    pytest.fail(f"process {pid} never came into state {letter!r}")


@pytest.mark.parametrize("reaped", [False, True])
def test_a_dead_process_is_missing_at_once(reaped: bool, neighbour: subprocess.Popen[bytes]) -> None:
    """As a zombie too, which it is until its launcher looks."""
    board = MemoryBoard()
    me = rank(0, 2, board)
    post_for(board, 1, me, pid=neighbour.pid)
    me.look()
    neighbour.kill()
    if reaped:
        neighbour.wait()
    else:
        wait_for_state(neighbour.pid, b"Z")
    assert me.someone_is_missing()


def test_a_dead_rank_is_named_with_its_position(neighbour: subprocess.Popen[bytes]) -> None:
    board = MemoryBoard()
    me = rank(0, 2, board)
    post_for(board, 1, me, pid=neighbour.pid)
    neighbour.kill()
    neighbour.wait()
    where = f"rank 1 on {me.host} (pid {neighbour.pid}), in phase timed of all_reduce 8 B"
    assert me.missing() == [f"{where}: its process died"]


def test_a_stopped_process_is_missing_after_a_while(neighbour: subprocess.Popen[bytes]) -> None:
    """Not at once: a debugger or a suspended shell may let it go on."""
    board = MemoryBoard()
    me = rank(0, 2, board)
    post_for(board, 1, me, pid=neighbour.pid)
    me.look()
    neighbour.send_signal(signal.SIGSTOP)
    wait_for_state(neighbour.pid, b"T")
    assert not me.someone_is_missing()
    time.sleep(0.06)
    assert me.someone_is_missing()
    assert me.missing()[0].endswith("its process is stopped (SIGSTOP)")


def test_a_stopped_process_that_goes_on_is_not_missing(
    neighbour: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roll_call, "SILENCE", 60.0)
    board = MemoryBoard()
    me = rank(0, 2, board)
    post_for(board, 1, me, pid=neighbour.pid)
    me.look()
    neighbour.send_signal(signal.SIGSTOP)
    wait_for_state(neighbour.pid, b"T")
    me.someone_is_missing()
    neighbour.send_signal(signal.SIGCONT)
    wait_for_state(neighbour.pid, b"S")
    assert not me.someone_is_missing()
    time.sleep(0.06)
    neighbour.send_signal(signal.SIGSTOP)
    wait_for_state(neighbour.pid, b"T")
    assert not me.someone_is_missing()  # the second pause has just begun


def test_stopped_neighbours_are_killed(neighbour: subprocess.Popen[bytes]) -> None:
    """SIGTERM would wait until somebody lets them go on."""
    board = MemoryBoard()
    me = rank(0, 2, board)
    post_for(board, 1, me, pid=neighbour.pid)
    me.look()
    neighbour.send_signal(signal.SIGSTOP)
    wait_for_state(neighbour.pid, b"T")
    me.kill_stopped_neighbours()
    assert neighbour.wait(5) == -signal.SIGKILL


@pytest.mark.parametrize("here", [True, False])
def test_nothing_that_runs_or_is_elsewhere_is_killed(here: bool, neighbour: subprocess.Popen[bytes]) -> None:
    """The same pid on another host is another process."""
    board = MemoryBoard()
    me = rank(0, 2, board)
    post_for(board, 1, me, pid=neighbour.pid, here=here)
    me.look()
    if not here:
        neighbour.send_signal(signal.SIGSTOP)
        wait_for_state(neighbour.pid, b"T")
    me.kill_stopped_neighbours()
    assert neighbour.poll() is None
