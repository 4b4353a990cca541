"""Who is missing: heartbeats that cease, boards that are gone, and ranks that left by themselves."""

import os
import subprocess
import threading
import time
from itertools import count

import pytest

from commbench.measuring.roll_call import DONE, LEAVING, RollCall

from .boards import MemoryBoard, post_for

pytestmark = pytest.mark.usefixtures("quick")


def rank(number: int, size: int, board: MemoryBoard) -> RollCall:
    """A rank that has posted twice, so that it knows who is on its host."""
    return RollCall(number, size, board.of(number))


def test_a_rank_that_beats_is_not_missing(neighbour: subprocess.Popen[bytes]) -> None:
    board, stop = MemoryBoard(), threading.Event()
    me = rank(0, 2, board)

    def beat() -> None:
        for number in count(1):
            post_for(board, 1, me, pid=neighbour.pid, beat=number)
            if stop.wait(0.01):
                return

    heart = threading.Thread(target=beat)
    heart.start()
    for _ in range(15):
        me.look()
        assert not me.someone_is_missing()
        time.sleep(0.02)
    assert me.missing() == []
    stop.set()
    heart.join()


@pytest.mark.parametrize("here", [True, False])
def test_a_silent_rank_is_missing_after_the_silence(here: bool) -> None:
    """On another host silence is all there is; on this one a process may live and hang."""
    board = MemoryBoard()
    me = rank(0, 2, board)
    post_for(board, 1, me, pid=os.getpid(), here=here)
    me.look()
    assert not me.someone_is_missing()
    time.sleep(0.32)
    me.look()
    assert me.someone_is_missing()
    assert "no heartbeat for" in me.missing()[0]


def test_a_pid_of_another_host_is_not_looked_up() -> None:
    """It means nothing here."""
    board = MemoryBoard()
    me = rank(0, 2, board)
    post_for(board, 1, me, pid=(1 << 22) + 7, here=False)
    me.look()
    assert not me.someone_is_missing()


@pytest.mark.parametrize("phase", [DONE, LEAVING])
def test_ranks_that_left_are_not_missed(phase: str) -> None:
    """Their process has died and they are silent, as they should be."""
    board = MemoryBoard()
    me = rank(0, 2, board)
    post_for(board, 1, me, pid=(1 << 22) + 7, phase=phase)
    me.look()
    time.sleep(0.32)
    assert not me.someone_is_missing()
    assert me.missing() == []


def test_only_rank_0_looks_after_other_hosts() -> None:
    """Or the board would answer size * size reads; everybody looks after rank 0."""
    board = MemoryBoard()
    me = rank(1, 3, board)
    post_for(board, 0, me, pid=1, here=False)
    post_for(board, 2, me, pid=1, here=False)
    for _ in range(3):
        me.post("timed", "")
        me.look()
    time.sleep(0.32)
    post_for(board, 0, me, pid=1, here=False, beat=2)
    me.look()
    assert not me.someone_is_missing()
    time.sleep(0.32)
    assert me.someone_is_missing()


def test_silence_while_this_process_was_stopped_is_forgiven() -> None:
    """It saw nobody's heartbeat in that time."""
    board = MemoryBoard()
    me = rank(0, 2, board)
    post_for(board, 1, me, pid=os.getpid())
    me.look()
    time.sleep(0.32)
    me.forgive(0.32)
    assert not me.someone_is_missing()


def test_a_rank_that_never_came_is_named() -> None:
    board = MemoryBoard()
    me = rank(0, 4, board)
    post_for(board, 2, me, pid=os.getpid(), phase=DONE)
    assert me.missing() == ["rank 1, 3: never arrived"]


def test_a_single_rank_misses_nobody() -> None:
    alone = RollCall(0, 1, MemoryBoard().of(0))
    alone.post("timed", "")
    alone.look()
    assert (alone.someone_is_missing(), alone.missing()) == (False, [])


def test_a_board_that_is_gone_breaks_nothing(neighbour: subprocess.Popen[bytes]) -> None:
    """It went with the rank that held it, and the process table tells that."""
    board = MemoryBoard()
    me = rank(1, 2, board)
    post_for(board, 0, me, pid=neighbour.pid)
    me.look()
    board.gone = True
    neighbour.kill()
    neighbour.wait()
    me.post("timed", "")
    me.look()
    assert "rank 0" in me.missing()[0]


def test_the_first_verdict_is_everybody_s() -> None:
    """What a leaving rank has said, told by all."""
    board = MemoryBoard()
    first, second = rank(0, 2, board), rank(1, 2, board)
    first.post(LEAVING, "rank 7 died")
    assert second.verdict() == "rank 7 died"


def test_there_is_no_verdict_where_nobody_leaves() -> None:
    board = MemoryBoard()
    first, second = rank(0, 2, board), rank(1, 2, board)
    first.post("timed", "all_reduce 8 B")
    assert second.verdict() is None


def test_ranks_elsewhere_are_named() -> None:
    """One rank is in the check while others still time: that is where to look for a hang."""
    board = MemoryBoard()
    me = rank(0, 3, board)
    post_for(board, 1, me, pid=os.getpid(), phase="check")
    post_for(board, 2, me, pid=os.getpid())
    me.look()
    (other,) = me.elsewhere("timed", "all_reduce 8 B")
    assert other.startswith("rank 1 ")
    assert "in phase check" in other


def test_the_lowest_rank_that_lives_speaks(neighbour: subprocess.Popen[bytes]) -> None:
    """When the board cannot be asked: rank 0's process is dead, so rank 1 speaks and rank 2 does not."""
    board = MemoryBoard()
    one, two = rank(1, 3, board), rank(2, 3, board)
    for me in (one, two):
        post_for(board, 0, me, pid=neighbour.pid)
        post_for(board, 3 - me.rank, me, pid=os.getpid())
        me.look()
    neighbour.kill()
    neighbour.wait()
    assert (one.is_lowest_left(), two.is_lowest_left()) == (True, False)
