"""Where rows go as they come, and how a sweep's provisional rows give way to its exact ones.

nccl-tests prints three digits at once and writes all of them as JSON, which is whole only at the end. So a row goes
into the sweep file as it was printed; once the program has ended, its sweep is written anew with what is known then,
into a second file that takes the place of the first in one step. A kill at any moment leaves one or the other.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Self

import msgspec

from commbench.errors import SweepFileError
from commbench.sweepfile.reader import Sweep, parse_sweeps
from commbench.sweepfile.records import Header, Record
from commbench.sweepfile.writer import SweepWriter

_ROOM = 1 << 16  # bytes that must be free before anything starts


class Keeper:
    """All records of a command, in a file if there is one.

    Args:
        path: the sweep file, None to keep records in memory only.

    Raises:
        SweepFileError: the file exists or cannot be written.
    """

    def __init__(self, path: Path | None) -> None:
        self.records: list[Record] = []
        self._begun = 0
        self._path = path and path.absolute()
        self._writer = SweepWriter.create(self._path, _ROOM) if self._path else None

    def begin(self, header: Header) -> None:
        """Start a sweep."""
        self._begun = len(self.records)
        self.add(header)

    def add(self, record: Record) -> None:
        """Keep a record, in the file first."""
        if self._writer is not None:
            self._writer.write(record)
        self.records.append(record)

    def replace(self, records: Iterable[Record]) -> bool:
        """Put these records in the place of the sweep that was begun last; False where the disk does not take them.

        The sweep then stays as it was written row by row.
        """
        anew = [*self.records[: self._begun], *records]
        if self._path is not None and not self._rewritten(self._path, anew):
            return False
        self.records = anew
        return True

    def _rewritten(self, path: Path, records: Iterable[Record]) -> bool:
        beside = path.with_name(f".{path.name}.{os.getpid()}")
        beside.unlink(missing_ok=True)
        try:
            with SweepWriter.create(beside) as writer:
                for record in records:
                    writer.write(record)
            if self._writer is not None:
                self._writer.close()
            beside.replace(path)
            self._writer = SweepWriter.append(path)
        except (SweepFileError, OSError):
            with suppress(OSError):
                beside.unlink(missing_ok=True)
            if self._writer is not None:  # closed above, or still open: appending goes on either way
                with suppress(SweepFileError):
                    self._writer.close()
                self._writer = SweepWriter.append(path)
            return False
        return True

    def sweeps(self) -> tuple[Sweep, ...]:
        """What was kept, as sweeps; empty where nothing began."""
        if not self.records:
            return ()
        return parse_sweeps(b"".join(msgspec.json.encode(record) + b"\n" for record in self.records), "this run")

    def close(self) -> None:
        """Close the file; one that holds no sweep is taken away."""
        if self._writer is not None:
            self._writer.close()
            if not self.records and self._path is not None:
                self._path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class RawLog:
    """What a program printed, line by line, in a file beside the sweep file.

    Args:
        path: None to keep nothing.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._file = path.open("x", encoding="utf-8", errors="surrogateescape", buffering=1) if path else None

    def line(self, text: str) -> None:
        """Add a line; a full disk takes nothing from the run."""
        if self._file is not None:
            try:
                self._file.write(text + "\n")
            except OSError:
                with suppress(OSError):
                    self._file.close()
                self._file = None

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()


def raw_log_beside(sweep_file: Path | None, collective: str) -> RawLog:
    """`sweep.jsonl` has `sweep.all_reduce.log` beside it; a name that is taken gets a number."""
    if sweep_file is None:
        return RawLog(None)
    stem = sweep_file.name.removesuffix(".jsonl")
    number = 1
    while True:
        name = f"{stem}.{collective}{'' if number == 1 else f'-{number}'}.log"
        try:
            return RawLog(sweep_file.with_name(name))
        except FileExistsError:
            number += 1
