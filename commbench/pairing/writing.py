"""Append records to a pairs file as they become known. Only rank 0 writes; without a file records stay in memory."""

import os
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec

from commbench.errors import SweepFileError
from commbench.pairing.reading import Pairs
from commbench.pairing.records import PairRecord, PairsEnd, PairsFileRecord, PairsHeader
from commbench.sweepfile.writer import prove_room

LOCK_PATIENCE = 2.0  # seconds: the watch's last record must not wait for a main thread that will never return


class PairsWriter:
    """The tests of a run, in the file first and then in memory.

    Raises:
        SweepFileError: the file exists or cannot be written.
    """

    def __init__(self, path: Path | None, expected_bytes: int) -> None:
        self._descriptor: int | None = None
        self._lock = threading.Lock()
        self._header: PairsHeader | None = None
        self._tests: list[PairRecord] = []
        self._end: PairsEnd | None = None
        self._path = path
        if path is None:
            return
        prove_room(path, expected_bytes)
        try:
            self._descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND, 0o644)
        except OSError as error:
            exists = isinstance(error, FileExistsError)
            raise SweepFileError(
                "a pairs file is never overwritten" if exists else "the pairs file cannot be written",
                expected=f"no file at {path}" if exists else f"a writable folder at {path.parent}",
                found="one is there" if exists else error.strerror or str(error),
                fix="choose another name after -J",
            ) from None

    @property
    def pairs(self) -> Pairs:
        """What was written so far."""
        assert self._header is not None, "the header is written first"
        return Pairs(self._header, tuple(self._tests), self._end)

    def begin(self, header: PairsHeader) -> None:
        self._write(header)
        self._header = header

    def add(self, tests: list[PairRecord]) -> None:
        """Append the tests of a round."""
        for test in tests:
            self._write(test)
        self._tests += tests

    def end(self, status: Literal["complete", "timed-out"], reason: str | None = None) -> None:
        self._end = PairsEnd(finished_at=now(), status=status, reason=reason)
        self._write(self._end)
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def abort(self, reason: str) -> None:
        """From the watch: the last record, although the main thread may be stuck."""
        if self._header is None or self._descriptor is None:
            return
        locked = self._lock.acquire(timeout=LOCK_PATIENCE)
        try:
            os.write(self._descriptor, _line(PairsEnd(finished_at=now(), status="aborted", reason=reason)))
        except OSError:
            return  # the words on standard error are all that can be had
        finally:
            if locked:
                self._lock.release()

    def _write(self, record: PairsFileRecord) -> None:
        if self._descriptor is None:
            return
        line = _line(record)
        with self._lock:
            try:
                while line:
                    line = line[os.write(self._descriptor, line) :]
            except OSError as error:
                problem = SweepFileError(
                    "a record could not be written", expected=f"room at {self._path}",
                    found=error.strerror or str(error), fix="free space and run again",
                )  # fmt: skip
                problem.alone = True  # the file is rank 0's: the other ranks cannot know, and wait for it
                raise problem from None


def _line(record: PairsFileRecord) -> bytes:
    return msgspec.json.encode(record) + b"\n"


def now() -> str:
    """The time in UTC, as files have it."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
