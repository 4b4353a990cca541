"""Open foreign logs and read them: files, pipes and standard input, whatever bytes they hold."""

import gzip
import io
import stat
import sys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from commbench.collectives import collective_named
from commbench.errors import UsageError
from commbench.importing import detecting
from commbench.importing.foreign import Reading, Reject, Run, Stated
from commbench.importing.lines import Lines, decoded, is_utf16
from commbench.measuring.nccl_log import Link, links

STANDARD_INPUT = "-"
_GZIP = b"\x1f\x8b"
_MOST_UNPACKED = 1 << 31
_MAGIC = {
    _GZIP: "it is compressed with gzip, and cut, broken or above 2 GiB: give <(zcat FILE)",
    b"\x28\xb5\x2f\xfd": "it is compressed with zstd: give <(zstdcat FILE)",
    b"\xfd7zXZ": "it is compressed with xz: give <(xzcat FILE)",
    b"BZh": "it is compressed with bzip2: give <(bzcat FILE)",
    b"PK\x03\x04": "it is a zip archive: unpack it and give the files inside",
}
_SWEEP = b'{"record":"sweep"'
_BINARY_SHARE = 0.02  # of control characters, from which on bytes are no text
_VIA = " via "


@dataclass(frozen=True)
class Log:
    """One log that was read.

    Attributes:
        name: as the user gave it.
        paths: for each run, what NCCL's own lines in the log prove about its pairs of ranks.
    """

    name: str
    reading: Reading
    paths: tuple[tuple[Link, ...], ...] = ()


def read_log(name: str, stated: Stated) -> Log:
    """Read one log.

    Raises:
        UsageError: it is not there, not readable, or a folder.
    """
    return read_content(name, content_of(name), stated)


def read_content(name: str, content: bytes, stated: Stated) -> Log:
    """Read one log from its bytes; whatever they are, what cannot be read is a reject with its reason."""
    if refusal := _refusal(content):
        return Log(name, Reading(rejects=(Reject(None, refusal),)))
    lines = Lines(content)
    del content
    text = lines.text
    has_paths = _VIA in text and "[" in text
    reading = detecting.read(lines, text, stated)
    paths = _paths(text, reading.runs) if has_paths else tuple(() for _ in reading.runs)
    return Log(name, reading, paths)


def content_of(name: str) -> bytes:
    """The bytes of a file, or of standard input for `-`; those inside it where it is compressed with gzip.

    Raises:
        UsageError: it is not there, not readable, or a folder.
    """
    if name == STANDARD_INPUT:
        return _unpacked(sys.stdin.buffer.read())
    try:
        path = Path(name)
        if stat.S_ISDIR(path.stat().st_mode):
            raise _unreadable(name, "a folder", "give the files in it")
        return _unpacked(path.read_bytes())
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise _unreadable(name, str(reason), "check the path and its permissions") from None


def _unpacked(content: bytes) -> bytes:
    """What a whole gzip file holds; anything else as it is."""
    if not content.startswith(_GZIP):
        return content
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            unpacked = file.read(_MOST_UNPACKED + 1)
    except (OSError, EOFError, zlib.error):
        return content
    return unpacked if len(unpacked) <= _MOST_UNPACKED else content


def stated_by(world_size: str | None, collective: str | None, label: str | None) -> Stated:
    """What the user states, from the words of the options.

    Raises:
        UsageError: a number of ranks or a name that makes no sense.
    """
    ranks = None
    if world_size is not None:
        ranks = int(world_size) if world_size.isascii() and world_size.isdigit() and len(world_size) < 8 else 0
        if ranks == 0:
            raise UsageError(
                "the number of ranks makes no sense", expected="a whole number above 0 after --world-size",
                found=repr(world_size), fix="give the ranks of one collective, such as --world-size 16",
            )  # fmt: skip
    return Stated(ranks, None if collective is None else collective_named(collective).name, label)


def paths_of(name: str) -> tuple[Link, ...]:
    """The paths that a log of NCCL proves.

    Raises:
        UsageError: it cannot be read, or proves none.
    """
    found = links(decoded(content_of(name)))
    if not found:
        raise UsageError(
            "the transport log proves no path",
            expected="lines of NCCL such as `0[0] -> 1[1] via P2P/CUMEM`, which NCCL_DEBUG=INFO prints",
            found=f"none in {name!r}", fix="log the run with NCCL_DEBUG=INFO, or leave --transport-log away",
        )  # fmt: skip
    return found


def _unreadable(name: str, found: str, fix: str) -> UsageError:
    return UsageError("a log cannot be read", expected=f"a readable file at {name!r}", found=found, fix=fix)


def _refusal(content: bytes) -> str | None:
    """Why bytes are no log at all, None where they may be one."""
    if not content.strip():
        return "the file is empty"
    for magic, words in _MAGIC.items():
        if content.startswith(magic):
            return words
    if content.lstrip()[: len(_SWEEP)] == _SWEEP:
        return "it is a sweep file already: commbench show reads it"
    if content[257:262] == b"ustar":
        return "it is a tar archive: unpack it and give the files inside"
    if is_utf16(content):
        return None
    start = content[:65536]
    strange = sum(start.count(bytes([code])) for code in range(32) if code not in (7, 8, 9, 10, 12, 13, 27))
    return "it is no text" if strange > _BINARY_SHARE * len(start) else None


def _paths(text: str, runs: Sequence[Run]) -> tuple[tuple[Link, ...], ...]:
    """The paths that stand between the end of the run before and the end of each run."""
    lines = text.split("\n")
    found, start = [], 0
    for place, run in enumerate(runs):
        end = len(lines) if place == len(runs) - 1 else max(start, run.lines[1])
        found.append(links("\n".join(line for line in lines[start:end] if _VIA in line)))
        start = end
    return tuple(found)
