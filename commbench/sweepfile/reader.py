"""Read sweep files: strict about what it knows, silent about kinds and fields it does not know.

A reader gets whole `Sweep`s. A cut last line (a killed run) is skipped with a notice; damage anywhere else is an
error that names the line, because a file that lost a row in the middle may have lost the wrong one.
"""

import gc
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from commbench.errors import SweepFileError
from commbench.sweepfile.records import FORMAT, End, Header, LeftOut, MachineState, Measurement, Record, Transport

_DECODER = msgspec.json.Decoder(Record)
_ANY = msgspec.json.Decoder()
_KNOWN = frozenset({"sweep", "measurement", "left_out", "transport", "machine_state", "end"})
_KIND = re.compile(rb'\s*\{\s*"record"\s*:\s*"(\w+)"')


@dataclass(frozen=True)
class Sweep:
    """One sweep, whole: its header, its points and how it ended. Everything behind the file reads this."""

    header: Header
    measurements: tuple[Measurement, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    transports: tuple[Transport, ...] = ()
    states: tuple[MachineState, ...] = ()
    end: End | None = None
    notices: tuple[str, ...] = ()

    @property
    def status(self) -> str:
        """complete, aborted or timed-out; a sweep without an end record was aborted."""
        return self.end.status if self.end else "aborted"

    @property
    def proved(self) -> tuple[str, ...] | None:
        """The proved path, from the header or a later transport record; None when nothing proves it."""
        for record in reversed(self.transports):
            if record.proved is not None:
                return record.proved
        proved = self.header.transport.get("proved")
        return tuple(str(path) for path in proved) if isinstance(proved, list | tuple) else None


@dataclass
class _Draft:
    """A sweep while its lines are being read."""

    header: Header
    measurements: list[Measurement] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    transports: list[Transport] = field(default_factory=list)
    states: list[MachineState] = field(default_factory=list)
    end: End | None = None

    def sweep(self, notices: tuple[str, ...]) -> Sweep:
        if self.end is None:
            notices = (*notices, "no end record: the run was aborted before it could write one")
        return Sweep(
            self.header,
            tuple(self.measurements),
            tuple(self.left_out),
            tuple(self.transports),
            tuple(self.states),
            self.end,
            notices,
        )


def read_sweeps(path: str | Path) -> tuple[Sweep, ...]:
    """Read every sweep of a file, in order of their headers.

    Raises:
        SweepFileError: unreadable, not a sweep file, an unknown format version, or damaged other than by a cut end.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise SweepFileError(
            "a sweep file cannot be read",
            expected=f"a readable file at {path}",
            found=error.strerror or str(error),
            fix="check the path and its permissions",
        ) from None
    return parse_sweeps(content, str(path))


def parse_sweeps(content: bytes, name: str = "<bytes>") -> tuple[Sweep, ...]:
    """As `read_sweeps`, from the file's bytes."""
    drafts: dict[str, _Draft] = {}
    notices: list[str] = []
    with _collector_paused():
        for number, line, is_last in _lines(content):
            try:
                record = _decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                if is_last and drafts and not content.endswith(b"\n"):
                    notices.append(f"line {number} is cut off and was skipped: the run ended while writing it")
                    continue
                raise _damaged(name, number, error) from None
            if record is not None:
                _add(drafts, record, name, number)
    if not drafts:
        raise SweepFileError(
            "this is not a sweep file",
            expected='JSON Lines whose first record is {"record":"sweep", ...}',
            found=f"{name} holds no such record ({len(content)} bytes)",
            fix="give a file written with -J",
        )
    return tuple(draft.sweep(tuple(notices)) for draft in drafts.values())


def _lines(content: bytes) -> Iterator[tuple[int, bytes, bool]]:
    """(line number, line, is the last one) for each line that is not blank."""
    start, number, end = 0, 0, len(content.rstrip())
    while start < end:
        number += 1
        stop = content.find(b"\n", start)
        stop = len(content) if stop < 0 else stop
        line = content[start:stop]
        if line.strip():
            yield number, line, stop >= end
        start = stop + 1


def _decode(line: bytes) -> Record | None:
    """The record of a line, None for a kind we do not know."""
    kind = _KIND.match(line)
    if kind is None or kind[1].decode() not in _KNOWN:  # rare: other key order, or an unknown kind
        document = _ANY.decode(line)
        named = document.get("record") if isinstance(document, dict) else None
        if not isinstance(named, str):
            raise msgspec.ValidationError("Object missing required field `record`")
        if named not in _KNOWN:
            return None
    return _DECODER.decode(line)


def _add(drafts: dict[str, _Draft], record: Record, name: str, number: int) -> None:
    if isinstance(record, Header):
        if record.format != FORMAT:
            raise SweepFileError(
                "this sweep file has a format this version does not read",
                expected=f"format {FORMAT}",
                found=f"format {record.format} at {name}:{number}",
                fix="read it with the commbench that wrote it, or a newer one",
            )
        if record.sweep in drafts:
            raise _damaged(name, number, ValueError(f"a second header of sweep {record.sweep}"))
        drafts[record.sweep] = _Draft(record)
        return
    draft = drafts.get(record.sweep)
    if draft is None:
        raise _damaged(name, number, ValueError(f"a record of sweep {record.sweep!r}, which has no header above it"))
    match record:
        case Measurement():
            draft.measurements.append(record)
        case LeftOut():
            draft.left_out.append(record)
        case Transport():
            draft.transports.append(record)
        case MachineState():
            draft.states.append(record)
        case End():
            draft.end = record


def _damaged(name: str, number: int, error: Exception) -> SweepFileError:
    return SweepFileError(
        f"a sweep file is damaged at line {number}",
        expected="one strict JSON record a line (commbench schema)",
        found=f"{name}:{number}: {error}",
        fix="restore the file, or delete that line if you know what it was",
    )


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Reading a million records makes no cycles, but the collector would walk all of them again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def without_notices(sweep: Sweep) -> Sweep:
    """The same sweep, its notices taken as read."""
    return replace(sweep, notices=())
