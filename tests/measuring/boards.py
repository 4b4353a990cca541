"""Boards for tests of the watch: in memory for threads and single processes, in a folder for several processes."""

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from commbench.measuring.roll_call import Position, RollCall


class MemoryBoard:
    """All posts in a dict; `gone` makes it unreachable, as the store is when rank 0's process died."""

    def __init__(self) -> None:
        self.posts: dict[int, bytes] = {}
        self.claims: set[str] = set()
        self.gone = False

    def of(self, rank: int) -> "MemorySeat":
        """The board as one rank sees it."""
        return MemorySeat(self, rank)


class MemorySeat:
    """See `commbench.measuring.roll_call.Board`."""

    def __init__(self, board: MemoryBoard, rank: int) -> None:
        self._board, self._rank = board, rank

    def _reach(self) -> None:
        if self._board.gone:
            raise RuntimeError("connection closed by peer")

    def post(self, text: bytes) -> None:
        self._reach()
        self._board.posts[self._rank] = text

    def read(self, ranks: Sequence[int]) -> dict[int, bytes]:
        self._reach()
        return {rank: self._board.posts[rank] for rank in ranks if rank in self._board.posts}

    def claim(self, what: str) -> bool:
        self._reach()
        first = what not in self._board.claims
        self._board.claims.add(what)
        return first


class FolderBoard:
    """A file for each post and claim."""

    def __init__(self, folder: Path, rank: int) -> None:
        self._folder, self._rank = folder, rank

    def post(self, text: bytes) -> None:
        new = self._folder / f"new-{self._rank}-{os.getpid()}"
        new.write_bytes(text)
        new.rename(self._folder / f"post-{self._rank}")

    def read(self, ranks: Sequence[int]) -> dict[int, bytes]:
        files = {rank: self._folder / f"post-{rank}" for rank in ranks}
        return {rank: file.read_bytes() for rank, file in files.items() if file.exists()}

    def claim(self, what: str) -> bool:
        try:
            (self._folder / f"claim-{what}").touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


def post_for(board: MemoryBoard, rank: int, like: RollCall, *, pid: int, beat: int = 1, phase: str = "timed",
             here: bool = True) -> None:  # fmt: skip
    """Post for a rank that exists only on the board: on this host (`here`) or on another one."""
    host, space = (like.host, like._space) if here else ("far", "far/pid:[1]")
    board.posts[rank] = msgspec.json.encode(Position(rank, host, space, pid, beat, phase, "all_reduce 8 B"))
