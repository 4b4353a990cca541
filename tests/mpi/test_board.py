"""The board of a host's ranks, and the place where torch's workers meet."""

import os
import socket
import tempfile

import pytest

pytest.importorskip("mpi4py")

from commbench.measuring.roll_call import AWAY, Position, RollCall
from mpi.board import SLOT, HostBoard, room

RANKS = (2, 5)


@pytest.fixture
def boards() -> tuple[HostBoard, HostBoard]:
    """Of ranks 2 and 5 on one host; rank 0 is elsewhere."""
    with tempfile.TemporaryFile() as file:
        os.ftruncate(file.fileno(), room(len(RANKS)))
        away = [Position(0, "far", "", 1, 0, AWAY, "")]
        return tuple(HostBoard(os.dup(file.fileno()), rank, RANKS, away) for rank in RANKS)  # type: ignore[return-value]


def test_posts_are_read_by_the_others(boards: tuple[HostBoard, HostBoard]) -> None:
    """The last one counts; who has not posted is not there."""
    first, second = boards
    first.post(b"a longer post")
    first.post(b"short")
    assert second.read(RANKS) == {2: b"short"}


def test_a_post_that_is_being_written_is_not_read(boards: tuple[HostBoard, HostBoard]) -> None:
    """Its checksum does not match."""
    first, second = boards
    first.post(b"a post")
    first._memory[first._slots[2] + 10] ^= 1
    assert second.read(RANKS) == {}


def test_one_claims(boards: tuple[HostBoard, HostBoard]) -> None:
    """Once and for all."""
    first, second = boards
    assert [second.claim("last words"), first.claim("last words"), second.claim("last words")] == [True, False, False]


def test_a_post_that_does_not_fit_is_an_error_of_the_board(boards: tuple[HostBoard, HostBoard]) -> None:
    """Which the roll call takes as it takes an unreachable board."""
    with pytest.raises(OSError, match="does not fit"):
        boards[0].post(b"x" * SLOT)


def test_ranks_of_other_hosts_are_not_missed(boards: tuple[HostBoard, HostBoard]) -> None:
    """Their own hosts watch them."""
    roll, other = RollCall(2, 6, boards[0]), RollCall(5, 6, boards[1])
    other.post("timed", "")
    roll.look(everyone=True)
    assert not roll.someone_is_missing()
    assert roll.missing(0.0) == ["rank 1, 3, 4: never arrived"]
    assert roll.elsewhere("timed", "") == []


def test_workers_meet_where_the_user_says_or_at_rank_0() -> None:
    """On one host at its loopback; a free port unless one is given."""
    pytest.importorskip("torch")
    from mpi.torch_workers import meeting_place

    assert meeting_place(["a", "b"], "10.0.0.1", "29500") == ("10.0.0.1", "29500")
    address, port = meeting_place(["a", "a"], None, None)
    assert address == "127.0.0.1"
    with socket.socket() as free:
        free.bind((address, int(port)))
    assert meeting_place(["here", "localhost"], None, "1")[0] in ("127.0.0.1", "::1")
