"""Open what a user gave as a sweep file, and refuse at once what cannot be one.

Everything is refused before it is read whole: a compressed file, a core dump or a device has no lines to speak of.
"""

import io
import os
import stat
from pathlib import Path

from commbench.errors import SweepFileError

# First bytes of what people give by mistake: (what it is, what to do about it).
_FOREIGN = {
    b"\x1f\x8b": ("compressed with gzip", "unpack it with gunzip, or give <(zcat FILE)"),
    b"\x28\xb5\x2f\xfd": ("compressed with zstd", "unpack it with unzstd, or give <(zstdcat FILE)"),
    b"\xfd7zXZ": ("compressed with xz", "unpack it with unxz, or give <(xzcat FILE)"),
    b"BZh": ("compressed with bzip2", "unpack it with bunzip2, or give <(bzcat FILE)"),
    b"PK\x03\x04": ("a zip archive", "unpack it and give the file inside"),
    b"\xef\xbb\xbf": ("text with a byte-order mark", "save it as plain UTF-8, as it was written"),
    b"\xff\xfe": ("UTF-16 text", "save it as plain UTF-8, as it was written"),
    b"\xfe\xff": ("UTF-16 text", "save it as plain UTF-8, as it was written"),
}
_GIVE_ANOTHER = "give a file written with -J; another tool's log becomes one with commbench import LOG -J FILE"


def open_sweep_file(path: str | Path) -> io.BufferedReader:
    """Open a file or pipe for reading.

    A named pipe that nobody writes to reads as empty instead of hanging: it is opened without waiting.

    Raises:
        SweepFileError: it is not there, not readable, a folder or a device.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None
    mode = os.fstat(descriptor).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        os.close(descriptor)
        raise SweepFileError(
            "a sweep file cannot be read",
            expected=f"a file at {path}",
            found="a folder" if stat.S_ISDIR(mode) else "a device",
            fix="give the path of one file",
        )
    os.set_blocking(descriptor, True)
    return open(descriptor, "rb")  # noqa: PTH123 - a descriptor, closed by the caller


def refuse_foreign(stream: io.BufferedReader, name: str) -> None:
    """Look at the first bytes, without taking them.

    Raises:
        SweepFileError: nothing is there, or no JSON object starts there.
    """
    start = stream.peek(16)[:16]
    for magic, (what, fix) in _FOREIGN.items():
        if start.startswith(magic):
            raise not_a_sweep_file(f"{name} is {what}", fix)
    if not start:
        raise not_a_sweep_file(f"{name} is empty")
    if start.lstrip() and not start.lstrip().startswith(b"{"):
        raise not_a_sweep_file(f"{name} begins with {excerpt(start)}")


def excerpt(line: bytes, middle: int = 0, width: int = 48) -> str:
    """The text around byte `middle`, safe to print: control characters and broken UTF-8 are escaped."""
    start = max(0, middle - width // 2)
    text = repr(line[start : start + width].rstrip())[2:-1]
    return f"{'...' if start else ''}{text}{'...' if start + width < len(line.rstrip()) else ''}"


def not_a_sweep_file(found: str, fix: str = _GIVE_ANOTHER) -> SweepFileError:
    """The error for content that never was a sweep file."""
    return SweepFileError(
        "this is not a sweep file",
        expected='JSON Lines whose first record is {"record":"sweep", ...}',
        found=found,
        fix=fix,
    )


def unreadable(path: str | Path, error: Exception) -> SweepFileError:
    """The error for a file that the system does not let us read."""
    reason = error.strerror if isinstance(error, OSError) else None
    return SweepFileError(
        "a sweep file cannot be read",
        expected=f"a readable file at {path}",
        found=reason or str(error),
        fix="check the path and its permissions",
    )
