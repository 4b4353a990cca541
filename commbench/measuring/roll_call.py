"""Who is still there: ranks post heartbeats and positions to a `Board`, and read those of others.

Across hosts only a missing heartbeat shows that a rank is gone. On one host the process table says at once whether
a rank's process died or is stopped.
"""

import os
import signal
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from commbench.units import format_seconds

HEARTBEAT = 0.5  # seconds between two posts
SEARCH = 6 * HEARTBEAT  # seconds in which every rank that can posts
SILENCE = 20.0  # seconds without a heartbeat after which a rank counts as gone: loading CUDA can hold Python that long
STOPPED = 3.0  # seconds that a process on this host may be stopped (SIGSTOP) before it counts as gone

DONE, LEAVING = "done", "leaving"  # phases of ranks that end by themselves
AWAY = "away"  # where a board reaches one host only: the phase of the others' ranks, whom their own hosts watch
NOT_MISSED = (DONE, LEAVING, AWAY)

UNREACHABLE = (OSError, RuntimeError)  # what a board raises when the process that holds it is gone


class Board(Protocol):
    """Where ranks post their positions. Every method may raise one of UNREACHABLE."""

    def post(self, text: bytes) -> None:
        """Replace this rank's post."""

    def read(self, ranks: Sequence[int]) -> dict[int, bytes]:
        """The last posts of those ranks that have posted."""

    def claim(self, what: str) -> bool:
        """True for the first rank that claims `what`."""


class Position(msgspec.Struct, frozen=True):
    """Where a rank is, as it posts it. `space` tells process tables apart: a pid means something in one only."""

    rank: int
    host: str
    space: str
    pid: int
    beat: int
    phase: str
    point: str

    def __str__(self) -> str:
        point = f" of {self.point}" if self.point else ""
        return f"rank {self.rank} on {self.host} (pid {self.pid}), in phase {self.phase}{point}"


@dataclass
class _Seen:
    position: Position
    changed: float  # monotonic time at which its beat last changed
    stopped: float | None = None  # since when its process is stopped


class RollCall:
    """This rank's view of all ranks.

    Args:
        board: None (a single rank, or no way to talk) makes every question answer "nobody is missing".
    """

    def __init__(self, rank: int, size: int, board: Board | None) -> None:
        self.rank, self.size = rank, size
        self.board = board if size > 1 else None
        self.host = socket.gethostname()
        self._space = f"{self.host}/{Path('/proc/self/ns/pid').readlink()}"
        self._beat = 0
        self._seen: dict[int, _Seen] = {}

    def post(self, phase: str, point: str) -> None:
        """Post a heartbeat with this rank's position."""
        self._beat += 1
        if self.board is None:
            return
        here = Position(self.rank, self.host, self._space, os.getpid(), self._beat, phase, point)
        try:
            self.board.post(msgspec.json.encode(here))
        except UNREACHABLE:
            return  # gone with the rank that held it: the collective, the process table or a limit will tell

    def look(self, *, everyone: bool = False) -> None:
        """Read posts. Rank 0 looks after all ranks, others after rank 0 and those on their host.

        If all ranks read all posts at every beat, the board would answer size * size reads.
        """
        if self.board is None:
            return
        if everyone or self.rank == 0 or self._beat <= 2:
            wanted = list(range(self.size))
        else:
            wanted = sorted({0, *(rank for rank, seen in self._seen.items() if seen.position.space == self._space)})
        try:
            posts = self.board.read([rank for rank in wanted if rank != self.rank])
        except UNREACHABLE:
            return
        now = time.monotonic()
        for rank, post in posts.items():
            position = msgspec.json.decode(post, type=Position)
            if rank not in self._seen or self._seen[rank].position.beat != position.beat:
                self._seen[rank] = _Seen(position, now)

    def forgive(self, seconds: float) -> None:
        """This process itself was stopped for `seconds`: nobody's silence in that time counts."""
        for seen in self._seen.values():
            seen.changed += seconds
            seen.stopped = None

    def someone_is_missing(self) -> bool:
        """Whether a rank died, has been stopped or has been silent for too long. Call at every beat."""
        now = time.monotonic()
        missing = False
        for rank, seen in self._seen.items():
            if seen.position.phase in NOT_MISSED:
                continue
            state = self._process(seen)
            if state == "stopped":
                seen.stopped = seen.stopped or now
                missing |= now - seen.stopped > STOPPED
            else:
                seen.stopped = None
            cared_for = self.rank == 0 or rank == 0 or seen.position.space == self._space
            missing |= state == "dead" or (cared_for and now - seen.changed > SILENCE)
        return missing

    def missing(self, patience: float = SEARCH) -> list[str]:
        """Each rank that is missing now, in words. Watches heartbeats for up to `patience` seconds to find out."""
        if self.board is None:
            return []
        begun = time.monotonic()
        while True:
            self.look(everyone=True)
            now = time.monotonic()
            found = [text for _, seen in sorted(self._seen.items()) if (text := self._obituary(seen, begun, now))]
            if found or now - begun > patience:
                return found + self._never_came()
            time.sleep(HEARTBEAT / 5)

    def verdict(self, patience: float = 1.0) -> str | None:
        """What a rank that is leaving has said, waiting `patience` seconds for it: all ranks should tell one story."""
        begun = time.monotonic()
        while True:
            self.look(everyone=True)
            said = [seen.position.point for seen in self._seen.values() if seen.position.phase == LEAVING]
            if words := next(filter(None, said), None):
                return words
            if time.monotonic() - begun > patience:
                return None
            time.sleep(HEARTBEAT / 10)

    def elsewhere(self, phase: str, point: str) -> list[str]:
        """The ranks whose last position differs from this rank's, in words."""
        others = [seen.position for _, seen in sorted(self._seen.items())]
        return [str(other) for other in others if other.phase != AWAY and (other.phase, other.point) != (phase, point)]

    def is_lowest_left(self) -> bool:
        """Whether no lower rank is known to be alive: who speaks when the board cannot be asked."""
        alive = [rank for rank, seen in self._seen.items() if self._process(seen) != "dead"]
        return self.rank <= min(alive, default=self.rank)

    def kill_stopped_neighbours(self) -> None:
        """SIGKILL this job's stopped processes on this host: torchrun would wait 30 s for each of them."""
        for seen in self._seen.values():
            if self._process(seen) == "stopped":
                try:
                    os.kill(seen.position.pid, signal.SIGKILL)
                except OSError:
                    continue  # it ended by itself in the meantime

    def kill_stopped_siblings(self) -> None:
        """The same for workers that never posted: torchrun's agent has no other children than this host's ranks."""
        parent = str(os.getppid()).encode()
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                words = stat.read_bytes().rpartition(b")")[2].split()
                if words[:2] == [b"T", parent]:
                    os.kill(int(stat.parent.name), signal.SIGKILL)
            except (OSError, IndexError):
                continue  # it ended by itself in the meantime

    def _obituary(self, seen: _Seen, begun: float, now: float) -> str | None:
        state = self._process(seen)
        if seen.position.phase in NOT_MISSED:
            return None
        if state == "dead":
            return f"{seen.position}: its process died"
        if state == "stopped":
            return f"{seen.position}: its process is stopped (SIGSTOP)"
        silent = now - seen.changed
        if silent > SILENCE or now - max(begun, seen.changed) > 5 * HEARTBEAT:
            return f"{seen.position}: no heartbeat for {format_seconds(silent)}"
        return None

    def _never_came(self) -> list[str]:
        """Ranks that never posted."""
        absent = [rank for rank in range(self.size) if rank != self.rank and rank not in self._seen]
        return [f"rank {', '.join(map(str, absent[:16]))}: never arrived"] if absent else []

    def _process(self, seen: _Seen) -> Literal["dead", "stopped", "running", "elsewhere"]:
        if seen.position.space != self._space:
            return "elsewhere"
        try:
            stat = Path(f"/proc/{seen.position.pid}/stat").read_bytes()
        except OSError:
            return "dead"
        state = stat.rpartition(b")")[2].split()[0]
        return "dead" if state in b"ZX" else "stopped" if state == b"T" else "running"
