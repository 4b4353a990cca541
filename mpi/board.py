"""Where the ranks of one host post their positions: a piece of shared memory that leaves nothing behind.

The watch may not call MPI, which only the main thread does. So each host's ranks share one file, mapped by all and
deleted before anything is posted: whichever way the ranks end, nothing stays. Ranks of other hosts cannot be read here;
each host watches its own, and mpirun notices when a process or a host is gone and ends all the others.
"""

import fcntl
import mmap
import os
import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from commbench.measuring.roll_call import AWAY, Position
from mpi.implementation import MPI

SLOT = 8192  # bytes for a rank's post
HEAD = 8  # bytes of a slot: length and checksum of the post
CLAIMS = 64  # bytes, one for each thing that can be claimed
TRIES = 5  # a post that is being written while it is read does not match its checksum


class HostBoard:
    """The board of this host's ranks.

    Args:
        file: of all ranks of this host, at least `room(len(ranks))` bytes.
        ranks: this host's ranks, as the job numbers them, in the same order everywhere.
        elsewhere: positions of the other hosts' ranks, as they were when the ranks met.
    """

    def __init__(self, file: int, rank: int, ranks: Sequence[int], elsewhere: Sequence[Position]) -> None:
        self._file, self._rank = file, rank
        self._slots = {other: CLAIMS + place * SLOT for place, other in enumerate(ranks)}
        self._memory = mmap.mmap(file, room(len(ranks)))
        self._claims: dict[str, int] = {}
        self._elsewhere = {position.rank: msgspec.json.encode(position) for position in elsewhere}

    def post(self, text: bytes) -> None:
        """Replace this rank's post."""
        if len(text) > SLOT - HEAD:
            raise OSError(f"a post of {len(text)} bytes does not fit")
        start = self._slots[self._rank]
        head = len(text).to_bytes(4, "little") + zlib.crc32(text).to_bytes(4, "little")
        self._memory[start : start + HEAD + len(text)] = head + text

    def read(self, ranks: Sequence[int]) -> dict[int, bytes]:
        """The last posts of those ranks that have posted."""
        posts = {rank: post for rank in ranks if (post := self._post_of(rank)) is not None}
        return posts | {rank: self._elsewhere[rank] for rank in ranks if rank in self._elsewhere}

    def claim(self, what: str) -> bool:
        """True for the first rank of this host that claims `what`."""
        place = zlib.crc32(what.encode()) % CLAIMS
        fcntl.lockf(self._file, fcntl.LOCK_EX, 1, place)  # the kernel frees it if its holder dies
        try:
            first = self._memory[place] == 0
            self._memory[place] = 1
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, place)
        return first

    def _post_of(self, rank: int) -> bytes | None:
        start = self._slots.get(rank)
        for _ in range(TRIES if start is not None else 0):
            assert start is not None
            slot = self._memory[start : start + SLOT]
            length = int.from_bytes(slot[:4], "little")
            text = slot[HEAD : HEAD + length]
            if length and zlib.crc32(text) == int.from_bytes(slot[4:HEAD], "little"):
                return text
        return None


def room(ranks: int) -> int:
    """Bytes of the file for so many ranks."""
    return CLAIMS + ranks * SLOT


def meet(job: MPI.Intracomm, host: MPI.Intracomm) -> HostBoard | None:
    """The board of this host's ranks; None where they cannot map one file. Collective over all ranks.

    Args:
        job: all ranks.
        host: those that share memory with this one.
    """
    ranks = host.allgather(job.Get_rank())
    path = host.bcast(_new_file(room(len(ranks))) if host.Get_rank() == 0 else None)
    file = _opened(path)
    everywhere = host.allgather(file is not None)
    if host.Get_rank() == 0 and path is not None:
        Path(path).unlink(missing_ok=True)
    positions = job.allgather(Position(job.Get_rank(), os.uname().nodename, "", os.getpid(), 0, AWAY, ""))
    if file is None or not all(everywhere):
        return None
    elsewhere = [position for position in positions if position.rank not in ranks]
    return HostBoard(file, job.Get_rank(), ranks, elsewhere)


def _new_file(size: int) -> str | None:
    for folder in ("/dev/shm", tempfile.gettempdir()):
        try:
            file, path = tempfile.mkstemp(prefix="commbench-board-", dir=folder)
            os.ftruncate(file, size)
            os.close(file)
        except OSError:
            continue
        return path
    return None


def _opened(path: str | None) -> int | None:
    try:
        return None if path is None else os.open(path, os.O_RDWR)
    except OSError:
        return None
