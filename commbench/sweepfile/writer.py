"""Append records to a sweep file, so that a kill, a hang or a full disk loses nothing that was finished."""

import fcntl
import os
from collections.abc import Iterable
from contextlib import nullcontext, suppress
from itertools import islice
from pathlib import Path
from tempfile import mkstemp
from types import TracebackType
from typing import Self

import msgspec

from commbench.errors import SweepFileError
from commbench.sweepfile.damage import is_cut
from commbench.sweepfile.records import Record

_AT_ONCE = 1000  # records written together
_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Record)
_UNREADABLE = (msgspec.MsgspecError, UnicodeEncodeError, RecursionError)


class SweepWriter:
    """Writes one record a line and flushes it to the file at once; a line that does not fit is taken back whole."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    @classmethod
    def create(cls, path: str | Path, expected_bytes: int = 0) -> Self:
        """Start a new file, after proving that `expected_bytes` fit beside it.

        Raises:
            SweepFileError: the file exists, its folder cannot be written, or the disk has no room.
        """
        path = Path(path)
        prove_room(path, expected_bytes)
        try:
            descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND, 0o644)
        except FileExistsError:
            raise SweepFileError(
                "a sweep file is never overwritten",
                expected=f"no file at {path}",
                found="one is there",
                fix=f"choose another name after -J; commbench.sweep and mpi.sweep continue theirs with --resume {path}",
            ) from None
        except OSError as error:
            raise _unwritable(path, error) from None
        _lock(path, descriptor)
        return cls(path, descriptor)

    @classmethod
    def append(cls, path: str | Path, expected_bytes: int = 0) -> Self:
        """Continue an existing file; a cut last line is removed first, a whole one gets the newline it lacks.

        Raises:
            SweepFileError: the file cannot be written, or the disk has no room.
        """
        path = Path(path)
        prove_room(path, expected_bytes)
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
            _lock(path, descriptor)
            content = path.read_bytes()
            whole = content.rfind(b"\n") + 1
            if whole < len(content):
                if is_cut(content[whole:]):
                    os.ftruncate(descriptor, whole)
                else:  # readers count it as written, so it must stay
                    os.write(descriptor, b"\n")
        except OSError as error:
            raise _unwritable(path, error) from None
        return cls(path, descriptor)

    def write(self, record: Record) -> None:
        """Append one record.

        Raises:
            SweepFileError: the disk is full or gone, or the record could not be read again; the file keeps every
                record written before.
        """
        self._append(_readable(record))

    def write_all(self, records: Iterable[Record]) -> None:
        """Append many records that are all known already, many at once.

        Raises:
            SweepFileError: as for `write`; the records that were written before stay.
        """
        waiting = iter(records)
        while some := list(islice(waiting, _AT_ONCE)):
            try:
                lines = _ENCODER.encode_lines(some)
                _DECODER.decode_lines(lines)
            except _UNREADABLE:  # which one it is, and all before it into the file
                for record in some:
                    self.write(record)
                raise
            self._append(lines)

    def _append(self, line: bytes) -> None:
        before = os.fstat(self._descriptor).st_size
        try:
            written = 0
            while written < len(line):
                written += os.write(self._descriptor, line[written:])
        except OSError as error:
            with suppress(OSError):  # a disk that is gone cannot be tidied either; readers skip a cut line
                os.ftruncate(self._descriptor, before)
            raise SweepFileError(
                "a record could not be written",
                expected=f"room for {len(line)} bytes at {self.path}",
                found=error.strerror or str(error),
                fix=f"free space, then continue with --resume {self.path}; every record before this one is kept",
            ) from None

    def close(self) -> None:
        """Hand the data to the disk and close; safe to call twice.

        Raises:
            SweepFileError: the disk did not take the data.
        """
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor < 0:
            return
        try:
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise SweepFileError(
                "the disk did not take the last records",
                expected=f"a working disk under {self.path}",
                found=error.strerror or str(error),
                fix=f"check what commbench show {self.path} reads, then continue with --resume {self.path}",
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(SweepFileError) if error is not None else nullcontext():  # the first error is the one to see
            self.close()


def _readable(record: Record) -> bytes:
    """The record's line, proved readable: msgspec writes NaN as null, which no reader of ours would take back."""
    try:
        line = _ENCODER.encode(record)
        _DECODER.decode(line)
    except _UNREADABLE as error:
        raise SweepFileError(
            "a record was not written, because no reader could read it",
            expected="finite numbers and plain text (commbench schema)",
            found=f"{type(record).__name__}: {error}",
            fix="report this as a bug of commbench, with the command line; the file keeps every record before it",
        ) from None
    return line + b"\n"


def _lock(path: Path, descriptor: int) -> None:
    """Keep a second run from writing to the same file. Ends with the process; some network file systems have none."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise SweepFileError(
            "another run is writing this sweep file", expected="one run at a time", found=f"{path} is locked",
            fix="wait for the other run to end, or choose another name after -J",
        ) from None  # fmt: skip
    except OSError:
        return


def prove_room(path: Path, expected_bytes: int) -> None:
    """Reserve `expected_bytes` beside `path` and give them back: a real answer, quotas included.

    Raises:
        SweepFileError: the folder is missing or not writable, or there is no room.
    """
    try:
        descriptor, probe = mkstemp(prefix=".commbench-room-", dir=path.parent)
        try:
            Path(probe).unlink()  # at once, so that a kill leaves nothing behind
            if expected_bytes > 0:
                os.posix_fallocate(descriptor, 0, expected_bytes)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: Path, error: OSError) -> SweepFileError:
    return SweepFileError(
        "the sweep file cannot be written",
        expected=f"a writable folder with free space at {path.parent}",
        found=error.strerror or str(error),
        fix="choose another path after -J, or free space; nothing was measured yet",
    )
