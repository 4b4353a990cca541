"""Read sweep files: strict about what it knows, silent about kinds and fields it does not know.

A reader gets whole `Sweep`s. A cut last line (a killed run) is skipped with a notice; damage anywhere else is an
error that names the line, because a file that lost a row in the middle may have lost the wrong one.
"""

import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

import msgspec

from commbench.sweepfile.damage import at_line, damaged, is_cut, other_format
from commbench.sweepfile.opening import excerpt, not_a_sweep_file, open_sweep_file, refuse_foreign, unreadable
from commbench.sweepfile.records import FORMAT, End, Header, LeftOut, MachineState, Measurement, Record, Transport, Void


class _Tag(msgspec.Struct):
    """The fields of any record of any version."""

    record: str
    format: object = FORMAT


_DECODER = msgspec.json.Decoder(Record)
_TAG = msgspec.json.Decoder(_Tag)
_KNOWN = frozenset(str(kind.__struct_config__.tag) for kind in get_args(Record))


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
    voids: tuple[Void, ...] = ()

    @property
    def status(self) -> str:
        """complete, aborted or timed-out; a sweep without an end record was aborted."""
        return self.end.status if self.end else "aborted"

    @property
    def proved(self) -> tuple[str, ...] | None:
        """The proved path, from the header or a later transport record; None when nothing proves it."""
        proved = self.header.transport.get("proved")
        paths = {str(path) for path in proved} if isinstance(proved, list | tuple) else set()
        paths.update(path for record in self.transports for path in record.proved or ())
        return tuple(sorted(paths)) or None


@dataclass
class _Draft:
    """A sweep while its lines are being read."""

    header: Header
    measurements: list[Measurement] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    transports: list[Transport] = field(default_factory=list)
    states: list[MachineState] = field(default_factory=list)
    end: End | None = None
    voids: list[Void] = field(default_factory=list)

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
            tuple(self.voids),
        )


def read_sweeps(path: str | Path) -> tuple[Sweep, ...]:
    """Read every sweep of a file (or pipe), in order of their headers.

    Raises:
        SweepFileError: the file is not there, not a sweep file, of another format version, or damaged other than
            by a cut end.
    """
    with open_sweep_file(path) as stream:
        try:
            return _parse(stream, str(path))
        except OSError as error:
            raise unreadable(path, error) from None


def parse_sweeps(content: bytes, name: str = "<bytes>") -> tuple[Sweep, ...]:
    """As `read_sweeps`, from the file's bytes."""
    return _parse(io.BufferedReader(io.BytesIO(content)), name)


def _parse(stream: io.BufferedReader, name: str) -> tuple[Sweep, ...]:
    refuse_foreign(stream, name)
    drafts: dict[str, _Draft] = {}
    notices: list[str] = []
    decode = _DECODER.decode
    for number, line in enumerate(stream, 1):
        try:
            record = decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            if notice := _skipped(line, number, error, name, begun=bool(drafts)):
                notices.append(notice)
            continue
        draft = drafts.get(record.sweep)
        if type(record) is Measurement and draft is not None:  # nearly every line of a large file
            draft.measurements.append(record)
            draft.end = None
        elif type(record) is Header:
            drafts[record.sweep] = _begin(record, draft, name, number)
        elif draft is not None:
            _add(draft, record)
        else:
            raise at_line(
                name, number, "every record below its sweep's header", f"no header of sweep {record.sweep[:40]!r} above"
            )
    if not drafts:
        raise not_a_sweep_file(f"{name} holds no such record")
    return tuple(draft.sweep(tuple(notices)) for draft in drafts.values())


def _skipped(line: bytes, number: int, error: Exception, name: str, *, begun: bool) -> str:
    """Why a line that is no record may be skipped: a notice, or nothing to say (blank, or an unknown kind).

    Raises:
        SweepFileError: it may not.
    """
    if not line.strip():
        return ""
    kind, version = _kind_and_format(line) if isinstance(error, msgspec.ValidationError) else (None, FORMAT)
    if kind is not None and kind not in _KNOWN:
        return ""
    if kind == "sweep" and version != FORMAT:  # before its fields are judged by our rules
        raise other_format(name, number, version)
    if is_cut(line):
        if begun:
            return f"line {number} is cut off and was skipped: the run ended while writing it"
        raise not_a_sweep_file(
            f"{name}:{number}: the run ended while writing the first record", "delete it and measure again"
        )
    if not begun and not line.startswith(b'{"record"'):
        raise not_a_sweep_file(f"{name}:{number}: {excerpt(line)}")
    raise damaged(name, number, line, error) from None


def _kind_and_format(line: bytes) -> tuple[str | None, object]:
    try:
        tag = _TAG.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None, FORMAT
    return tag.record, tag.format


def _begin(header: Header, already: _Draft | None, name: str, number: int) -> _Draft:
    if header.format != FORMAT:
        raise other_format(name, number, header.format)
    if already is not None:
        raise at_line(name, number, "one header a sweep", f"a second header of sweep {header.sweep[:40]!r}")
    return _Draft(header)


def _add(draft: _Draft, record: Record) -> None:
    if type(record) is Void:  # said of a sweep that is over
        draft.voids.append(record)
        return
    draft.end = None  # what stands after an end record was written by a resumed run, which needs an end of its own
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
