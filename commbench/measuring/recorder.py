"""Where measurements go as they are finished: into the file, if there is one, and into the result shown at the end.

Only rank 0 has a recorder that records; the others' does nothing, so that the program reads the same on all ranks.
"""

import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import msgspec

from commbench.errors import SweepFileError
from commbench.sweepfile.reader import Sweep, parse_sweeps, read_sweeps
from commbench.sweepfile.records import End, Header, Record, Status
from commbench.sweepfile.writer import SweepWriter

LOCK_PATIENCE = 2.0  # seconds: the watch's last record must not wait for a main thread that will never return


class Recorder:
    """Collects the records of a run.

    Args:
        active: False on every rank but 0.
        writer: the open sweep file, None to keep records in memory only.
    """

    def __init__(self, *, active: bool, writer: SweepWriter | None = None) -> None:
        self.active = active
        self.writer = writer
        self.records: list[Record] = []
        self._open: str | None = None
        self._lock = threading.Lock()

    def begin(self, header: Header | None, sweep: str) -> None:
        """Start a sweep, or go on with a stored one (`header` None)."""
        self._open = sweep
        if header is not None:
            self.add(header)

    def add(self, record: Record) -> None:
        """Keep a record, in the file first."""
        if not self.active:
            return
        with self._lock:
            if self.writer is not None:
                with _alone():
                    self.writer.write(record)
            self.records.append(record)

    def end(self, status: Status, reason: str | None = None) -> None:
        """End the sweep that is open."""
        if self._open is not None:
            self.add(End(sweep=self._open, finished_at=now(), status=status, reason=reason))
            self._open = None

    def abort(self, reason: str) -> None:
        """From the watch: end the open sweep although the main thread may be stuck, even inside a write."""
        if not self.active or self._open is None or not self._lock.acquire(timeout=LOCK_PATIENCE):
            return
        sweep, self._open = self._open, None
        status: Status = "timed-out" if "-T" in reason else "aborted"
        if self.writer is not None:
            self.writer.write(End(sweep=sweep, finished_at=now(), status=status, reason=reason))
            self.writer.close()

    def sweeps(self) -> tuple[Sweep, ...]:
        """The sweeps of the file (with a resume, also what an earlier run wrote), else of this run."""
        if self.writer is not None:
            with _alone():
                return read_sweeps(self.writer.path)
        return parse_sweeps(b"".join(msgspec.json.encode(record) + b"\n" for record in self.records), "this run")

    def close(self) -> None:
        """Close the file."""
        if self.writer is not None:
            with _alone():
                self.writer.close()


@contextmanager
def _alone() -> Iterator[None]:
    """The file is rank 0's: what goes wrong with it there, the other ranks cannot know, and they wait for rank 0."""
    try:
        yield
    except SweepFileError as error:
        error.alone = True
        raise


def now() -> str:
    """The time in UTC, as the file holds it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def new_id() -> str:
    """A new sweep's id."""
    return str(uuid.uuid4())
