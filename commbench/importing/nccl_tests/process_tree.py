"""Start a program, read its lines as they come, and end it with everything it started.

Launchers put ranks into process groups and sessions of their own, so none of these holds a launch together. Whatever
descends from the program, or carries the mark in its environment although its parents are gone, belongs to it.
"""

import os
import selectors
import signal
import subprocess
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Literal, NamedTuple, Self

MARK = "COMMBENCH_RUN"

GRACE = 5.0  # seconds between SIGTERM and SIGKILL: mpirun and srun end their ranks on other hosts meanwhile
_ORPHANS = 0.5  # … for what is left when the program itself has ended
_TRIES = 50  # rounds of SIGKILL, 0.1 s apart: what survives them waits in the kernel for a device
_START_TIME = 17  # place of `starttime` behind the parent in /proc/PID/stat
_TICK = 0.1  # seconds between two looks at limits and signals
_LEFT_OPEN = 2.0  # seconds that output may stay open after the program has ended: what holds it then is a leftover
_LONGEST_LINE = 1 << 20  # bytes; a longer one is no line of a table and comes in pieces

Stream = Literal["out", "err"]


class ProcessTree:
    """A program that runs, and its descendants.

    Args:
        words: the command line; no shell sees it.
        environ: its environment.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(self, words: Sequence[str], environ: Mapping[str, str]) -> None:
        self._mark = f"{MARK}={uuid.uuid4()}".encode()
        self._known: dict[int, bytes] = {}  # when each member that was seen was started, by its number
        self._stuck = False  # something of it survives SIGKILL: waiting for it would take for ever
        name, _, value = self._mark.decode().partition("=")
        # A session of its own: Ctrl-C of the terminal comes to us alone, and we end the tree in order.
        self._root = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**environ, name: value}, start_new_session=True,
        )  # fmt: skip

    @property
    def status(self) -> int | None:
        """The exit status of the program (negative: ended by that signal), None while it runs."""
        return self._root.poll()

    def lines(self) -> Iterator[tuple[Stream, str] | None]:
        """Each line with its stream as soon as it is whole; None now and then, so that the caller can look around."""
        assert self._root.stdout is not None
        assert self._root.stderr is not None
        pending = {"out": b"", "err": b""}
        ended_at: float | None = None
        with selectors.DefaultSelector() as selector:
            for pipe, stream in ((self._root.stdout, "out"), (self._root.stderr, "err")):
                os.set_blocking(pipe.fileno(), False)
                selector.register(pipe, selectors.EVENT_READ, stream)
            while (selector.get_map() or self.status is None) and not self._stuck:
                for key, _ in selector.select(_TICK):
                    try:
                        piece = os.read(key.fd, 65536)
                    except BlockingIOError:
                        continue
                    if not piece:
                        selector.unregister(key.fileobj)
                    whole, pending[key.data] = _cut(pending[key.data] + piece, last=not piece)
                    for line in whole:
                        yield key.data, line
                yield None
                if not selector.get_map():
                    with suppress(subprocess.TimeoutExpired):
                        self._root.wait(_TICK)
                elif self.status is not None:
                    ended_at = ended_at or time.monotonic()
                    if time.monotonic() - ended_at > _LEFT_OPEN:
                        self.end(0.0)
                        break
            for stream, rest in pending.items():
                if rest:
                    yield ("out" if stream == "out" else "err"), rest.decode(errors="replace")

    def end(self, grace: float = GRACE) -> None:
        """End the program and everything it started; returns when nothing of it is left, or nothing more can be done.

        Args:
            grace: seconds to end in order after SIGTERM.
        """
        if self._root.poll() is None:
            self._members()  # while their parents live
            with suppress(ProcessLookupError):
                self._root.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._root.wait(grace)
        patience = min(grace, _ORPHANS)
        for _ in range(_TRIES):
            until = time.monotonic() + patience
            while (members := self._members()) and time.monotonic() < until:
                time.sleep(0.02)
            if not members and self._root.poll() is not None:
                return
            for pid in members:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            patience = 0.1
        self._stuck = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end(GRACE if isinstance(error, Exception) else 0.0)  # not after a second Ctrl-C
        for pipe in (self._root.stdout, self._root.stderr):
            if pipe is not None:
                pipe.close()

    def _members(self) -> list[int]:
        """The living processes of the tree: the marked, those seen before, and whatever descends from them."""
        seen: dict[int, _Process] = {}
        members: set[int] = set()
        for folder in Path("/proc").iterdir():
            if folder.name.isdecimal() and (process := _process(folder)) is not None:
                pid = int(folder.name)
                seen[pid] = process
                if self._mark in process.environ or self._known.get(pid) == process.started:
                    members.add(pid)
        if self._root.poll() is None:
            members |= {self._root.pid} & seen.keys()
        while more := {pid for pid, process in seen.items() if process.parent in members and pid not in members}:
            members |= more
        # A process whose parent ends is adopted by another, so that it is found by its number and start only.
        self._known.update({pid: seen[pid].started for pid in members})
        return sorted(members)


class _Process(NamedTuple):
    parent: int
    started: bytes
    environ: list[bytes]


def _process(folder: Path) -> _Process | None:
    """What /proc tells of a process; None where it has ended, or is somebody else's."""
    try:
        state, parent, *rest = (folder / "stat").read_bytes().rpartition(b")")[2].split()
        if state in (b"Z", b"X"):
            return None
        return _Process(int(parent), rest[_START_TIME], (folder / "environ").read_bytes().split(b"\0"))
    except (OSError, ValueError, IndexError):
        return None


def _cut(content: bytes, *, last: bool) -> tuple[list[str], bytes]:
    """The whole lines, and what is left."""
    *whole, rest = content.split(b"\n")
    if last or len(rest) > _LONGEST_LINE:
        whole, rest = ([*whole, rest] if rest else whole), b""
    return [line.decode(errors="replace") for line in whole], rest
