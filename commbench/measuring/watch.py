"""Notice that a rank died, stopped or hangs; say so once; keep what was measured; leave.

A collective cannot be interrupted from Python: while the main thread waits in one, only another thread can act.
So each rank runs two daemon threads. One posts heartbeats and calls the roll; the other takes SIGTERM and SIGINT,
since a Python signal handler would wait for the main thread. Whoever gives up finds out who is
missing and ends the process with os._exit.
"""

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from commbench.measuring.last_words import say
from commbench.measuring.roll_call import DONE, HEARTBEAT, LEAVING, SEARCH, UNREACHABLE, Board, RollCall
from commbench.measuring.seam import Case
from commbench.units import format_seconds, format_size

SIGNALS = (signal.SIGTERM, signal.SIGINT)
SLOWEST_RATE = 10e6  # bytes per second that even a broken link is expected to reach
PATIENCE = 20.0  # a phase may take so many times longer than expected
LAST_POST = 10.0  # seconds that a board may take to answer the calls under way when all is done
UNLIMITED = float("inf")

# Seconds each phase may take beside what its bytes and samples are expected to need. Ranks outside a sub-world wait.
PHASES = {"start": 300.0, "warm-up": 60.0, "timed": 60.0, "check": 60.0, "waiting": UNLIMITED, DONE: UNLIMITED}


def catch_signals() -> int:
    """Leave SIGTERM and SIGINT to the watch; returns the pipe on which their numbers arrive.

    Threads inherit the mask, but numpy and MPI may have started some before, and the system may choose one of those:
    Python's own handler, in C and on whatever thread, writes to the pipe.
    """
    arriving, written = os.pipe()
    os.set_blocking(written, False)
    signal.set_wakeup_fd(written)
    for number in SIGNALS:
        signal.signal(number, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    return arriving


def describe(case: Case) -> str:
    """A case in words: collective, size, and what else tells it apart."""
    place = f"{case.placement} of place" if case.placement == "out" else "in place" if case.placement else None
    words = [word for word in (case.dtype, case.op, place, case.mode, case.beside and f"beside {case.beside}") if word]
    return f"{case.collective} {format_size(case.message_bytes)} ({', '.join(words)})"


class Watch:
    """This rank's watch. The main thread calls `enter`; everything else runs beside it.

    Args:
        board: where positions are posted; None (tests, one rank) leaves limits and signals.
        time_limit: seconds for the whole run (-T), None for no limit.
        signals: what `catch_signals` returned.
        grace: seconds that the launcher leaves a rank between SIGTERM and SIGKILL.
    """

    def __init__(
        self,
        rank: int,
        size: int,
        board: Board | None = None,
        *,
        time_limit: float | None = None,
        signals: int | None = None,
        grace: float = SEARCH,
    ) -> None:
        self.roll = RollCall(rank, size, board)
        self.on_leave: Callable[[str], None] = lambda _: None
        self.file: Path | None = None  # what holds the finished measurements, once it is open
        self._time_limit, self._signals, self._grace = time_limit, signals, grace
        self._started = time.monotonic()
        self._phase, self._point = "start", ""
        self._overdue_at = self._started + PHASES["start"]
        self._leaving = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="commbench-watch", daemon=True)

    def start(self) -> None:
        """Start both threads."""
        self.roll.post(self._phase, self._point)
        self._thread.start()
        if self._signals is not None:
            threading.Thread(target=self._take_signals, args=(self._signals,), daemon=True).start()

    def stop(self) -> None:
        """End the watch before the process ends.

        The interpreter ends daemon threads where they next need it. In the store's C++ that aborts the whole process,
        after everything went well.
        """
        self._phase = DONE
        self._over.set()
        if self._thread.is_alive():
            self._thread.join(LAST_POST)

    def enter(self, phase: str, case: Case | None = None, *, expected: float = 0.0) -> None:
        """The main thread enters a phase that is expected to take `expected` seconds.

        It does not return once the watch has given up: what is said about this rank stays true.
        """
        if self._leaving.locked():
            threading.Event().wait()
        moved = case.message_bytes / SLOWEST_RATE if case else 0.0
        self._phase, self._point = phase, describe(case) if case else ""
        self._overdue_at = time.monotonic() + PHASES[phase] + moved + PATIENCE * expected

    def time_is_up(self, elapsed: float) -> bool:
        """Whether `elapsed` seconds, a number all ranks share, reach the limit of the whole run."""
        return self._time_limit is not None and elapsed >= self._time_limit

    def give_up(self, reason: str, code: int = 2, patience: float = SEARCH) -> NoReturn:
        """Name who is missing, say so once over all ranks, and end this process within about `patience` seconds."""
        if not self._leaving.acquire(blocking=False):
            threading.Event().wait()  # another thread of this rank is already on its way out
        phase, point = self._phase, self._point
        self.roll.post(LEAVING, "")
        try:
            message = self._last_words(reason, self.roll.missing(patience), phase, point)
            if self._may_speak():
                self.roll.post(LEAVING, message.partition("\n")[0])
                say(message)
            else:
                message = self.roll.verdict(patience / 2) or message
            self.roll.kill_stopped_neighbours()
            if "TORCHELASTIC_RUN_ID" in os.environ:
                self.roll.kill_stopped_siblings()
            self.on_leave(message.partition("\n")[0])
        finally:
            os._exit(code)

    def _last_words(self, reason: str, missing: list[str], phase: str, point: str) -> str:
        here = f"rank {self.roll.rank} on {self.roll.host} was in phase {phase}" + (f" of {point}" if point else "")
        kept = f"\n  what was finished before is kept: continue with --resume {self.file}" if self.file else ""
        if missing:
            return f"{'; '.join(missing)} ({reason})\n  {here}{kept}"
        elsewhere = self.roll.elsewhere(phase, point)
        others = f"\n  all ranks answer; elsewhere: {'; '.join(elsewhere[:8])}" if elsewhere else ""
        return f"{reason}; {here}{others}{kept}"

    def _may_speak(self) -> bool:
        if self.roll.board is None:
            return True
        try:
            return self.roll.board.claim("last words")
        except UNREACHABLE:
            return self.roll.is_lowest_left()

    def _run(self) -> None:
        last = time.monotonic()
        while not self._over.wait(HEARTBEAT):
            now = time.monotonic()
            if now - last > 4 * HEARTBEAT:  # this process itself was stopped: what it saw before says nothing
                self.roll.forgive(now - last)
                self._overdue_at += now - last
            last = now
            self.roll.post(self._phase, self._point)
            self.roll.look()
            self._judge(now)
        self.roll.post(DONE, "")  # so that no slower rank misses this one

    def _judge(self, now: float) -> None:
        if self._phase == DONE:
            return
        if self.roll.someone_is_missing():
            self.give_up("a rank does not answer")
        if now > self._overdue_at:
            self.give_up("the phase took longer than its limit")
        limit = self._time_limit
        if limit is not None and now > self._started + limit + max(5.0, limit / 4):
            # between points the run ends by itself at -T; this is for a point that never ends
            self.give_up(f"the time limit of {format_seconds(limit)} (-T) passed inside a point", 3)

    def _take_signals(self, arriving: int) -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        taken = os.read(arriving, 1)[0]
        if self._phase == DONE:
            os._exit(128 + taken)
        self.give_up(f"ended by {signal.Signals(taken).name}", 128 + taken, self._grace)
