"""Append records to a sweep file, so that a kill, a hang or a full disk loses nothing that was finished."""

import os
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from commbench.errors import SweepFileError
from commbench.sweepfile.records import Record

_ENCODER = msgspec.json.Encoder()


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
                fix=f"choose another name after -J, or continue it with --resume {path}",
            ) from None
        except OSError as error:
            raise _unwritable(path, error) from None
        return cls(path, descriptor)

    @classmethod
    def append(cls, path: str | Path, expected_bytes: int = 0) -> Self:
        """Continue an existing file; a cut last line (no newline at its end) is removed first.

        Raises:
            SweepFileError: the file cannot be written, or the disk has no room.
        """
        path = Path(path)
        prove_room(path, expected_bytes)
        try:
            content = path.read_bytes()
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
            if content and not content.endswith(b"\n"):
                os.ftruncate(descriptor, content.rfind(b"\n") + 1)
        except OSError as error:
            raise _unwritable(path, error) from None
        return cls(path, descriptor)

    def write(self, record: Record) -> None:
        """Append one record.

        Raises:
            SweepFileError: the disk is full or gone; the file keeps every record written before.
        """
        line = _ENCODER.encode(record) + b"\n"
        before = os.fstat(self._descriptor).st_size
        try:
            written = 0
            while written < len(line):
                written += os.write(self._descriptor, line[written:])
        except OSError as error:
            os.ftruncate(self._descriptor, before)
            raise SweepFileError(
                "a record could not be written",
                expected=f"room for {len(line)} bytes at {self.path}",
                found=error.strerror or str(error),
                fix=f"free space, then continue with --resume {self.path}; every record before this one is kept",
            ) from None

    def close(self) -> None:
        """Hand the data to the disk and close; safe to call twice."""
        if self._descriptor >= 0:
            os.fsync(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def prove_room(path: Path, expected_bytes: int) -> None:
    """Reserve `expected_bytes` beside `path` and give them back: a real answer, quotas included.

    Raises:
        SweepFileError: the folder is missing or not writable, or there is no room.
    """
    probe = path.with_name(f".{path.name}.room-{os.getpid()}")
    try:
        descriptor = os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            if expected_bytes > 0:
                os.posix_fallocate(descriptor, 0, expected_bytes)
        finally:
            os.close(descriptor)
            probe.unlink()
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: Path, error: OSError) -> SweepFileError:
    return SweepFileError(
        "the sweep file cannot be written",
        expected=f"a writable folder with free space at {path.parent}",
        found=error.strerror or str(error),
        fix="choose another path after -J, or free space; nothing was measured yet",
    )
