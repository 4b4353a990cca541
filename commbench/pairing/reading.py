"""Read a pairs file whole. A cut last line (a killed run) is skipped; damage anywhere else is an error."""

from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from commbench.errors import SweepFileError
from commbench.pairing.records import FORMAT, PairRecord, PairsEnd, PairsFileRecord, PairsHeader
from commbench.sweepfile.damage import is_cut
from commbench.sweepfile.opening import excerpt, open_sweep_file, unreadable

_DECODER = msgspec.json.Decoder(PairsFileRecord)


class _Tag(msgspec.Struct):
    record: str
    format: object = FORMAT


@dataclass(frozen=True)
class Pairs:
    """All tests of one run."""

    header: PairsHeader
    tests: tuple[PairRecord, ...] = ()
    end: PairsEnd | None = None

    @property
    def status(self) -> str:
        """complete, timed-out or aborted."""
        return self.end.status if self.end else "aborted"


def read_pairs(path: str | Path) -> Pairs:
    """Read a file that `-m commbench.pairs -J` wrote.

    Raises:
        SweepFileError: it is not there, is no pairs file, or is damaged.
    """
    try:
        with open_sweep_file(path) as stream:
            first = stream.peek(64)[:64]
            if not first.lstrip().startswith(b"{"):
                raise _no_pairs_file(f"{path} begins with {excerpt(first)}" if first else f"{path} is empty")
            content = stream.read()
    except OSError as error:
        raise unreadable(path, error) from None
    return parse_pairs(content, str(path))


def parse_pairs(content: bytes, name: str = "<bytes>") -> Pairs:
    """As `read_pairs`, from the file's bytes."""
    header: PairsHeader | None = None
    tests: list[PairRecord] = []
    end: PairsEnd | None = None
    for number, line in enumerate(content.splitlines(keepends=True), 1):
        if not line.strip():
            continue
        try:
            record = _DECODER.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            if header is not None and (_unknown(line) or is_cut(line)):
                continue
            raise _refused(line, number, error, name, begun=header is not None) from None
        if isinstance(record, PairsHeader):
            if header is not None:
                raise _damaged(name, number, "one run a file", "a second header")
            if record.format != FORMAT:
                raise _damaged(name, number, f"format {FORMAT}", f"format {record.format}")
            header = record
        elif header is None:
            raise _no_pairs_file(f"{name} begins with a record {type(record).__name__}")
        elif isinstance(record, PairsEnd):
            end = record
        else:
            if max(record.ranks) >= header.world_size:
                raise _damaged(name, number, f"ranks below {header.world_size}", f"ranks {record.ranks}")
            one_host = header.hosts[record.ranks[0]] == header.hosts[record.ranks[1]]
            if one_host != (record.path == "inside"):
                raise _damaged(name, number, "a path inside a host, or between two", f"{record.path} of {record.ranks}")
            tests.append(record)
    if header is None:
        raise _no_pairs_file(f"{name} holds no such record")
    return Pairs(header, tuple(tests), end)


def with_tolerance(pairs: Pairs, tolerance: float) -> Pairs:
    """The same tests, to be judged with another tolerance (a share)."""
    return replace(pairs, header=msgspec.structs.replace(pairs.header, tolerance=tolerance))


def with_expected(pairs: Pairs, rate: float) -> Pairs:
    """The same tests, to be held against a rate (bytes/s in each direction)."""
    return replace(pairs, header=msgspec.structs.replace(pairs.header, expected_bytes_per_second=rate))


def _unknown(line: bytes) -> bool:
    try:
        return msgspec.json.decode(line, type=_Tag).record not in ("pairs", "pair", "end")
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False


def _refused(line: bytes, number: int, error: Exception, name: str, *, begun: bool) -> SweepFileError:
    try:
        tag = msgspec.json.decode(line, type=_Tag)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        tag = None
    if not begun and (tag is None or tag.record not in ("pairs", "pair", "end")):
        what = "is a sweep file" if tag is not None and tag.record == "sweep" else f"begins with {excerpt(line)}"
        return _no_pairs_file(f"{name} {what}")
    return _damaged(name, number, "a record of a pairs file", str(error))


def _damaged(name: str, number: int, expected: str, found: str) -> SweepFileError:
    return SweepFileError("a pairs file is damaged", expected=expected, found=f"{found}, in line {number} of {name}",
                          fix="give the file as it was written")  # fmt: skip


def _no_pairs_file(found: str) -> SweepFileError:
    return SweepFileError(
        "this is not a pairs file",
        expected='JSON Lines whose first record is {"record":"pairs", ...}',
        found=found,
        fix="give a file that -m commbench.pairs wrote with -J; sweep files are read by commbench show",
    )
