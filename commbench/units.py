"""Bytes, seconds and rates: parsed and printed here, and nowhere else.

Inside commbench a size is an int of bytes, a time a float of seconds, a rate a float of bytes per second.
K, M, G and KiB, MiB, GiB are all binary (as in nccl-tests); rates are decimal: 1 GB/s = 1e9 bytes per second.
"""

import re
from fractions import Fraction
from math import inf

from commbench.errors import UsageError

KIB, MIB, GIB, TIB = 1 << 10, 1 << 20, 1 << 30, 1 << 40
MICROSECOND = 1e-6
GIGABYTE_PER_SECOND = 1e9

_BINARY = {"": 1, "K": KIB, "M": MIB, "G": GIB, "T": TIB}
_SIZE = re.compile(r"\s*(\d{1,30}(?:\.\d{1,30})?(?:E[+-]?\d{1,2})?)\s*([KMGT]?)(?:I?B)?\s*", re.IGNORECASE)
_DURATION = re.compile(r"\s*(\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+)\s*(us|ms|s|min|h)?\s*", re.IGNORECASE)
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}


def parse_size(text: str) -> int:
    """Read a size as nccl-tests does: `8`, `16M`, `1.5K`, `2GiB`, `64MB` (B, KB and KiB all binary), `1e6`.

    Returns:
        The size in bytes.

    Raises:
        UsageError: for anything else, a negative size, or one that is not a whole number of bytes.
    """
    match = _SIZE.fullmatch(text)
    size = Fraction(match[1]) * _BINARY[match[2].upper()] if match else Fraction(1, 2)
    if size.denominator != 1 or size >= 1 << 63:
        raise UsageError(
            "a size cannot be read",
            expected="bytes with an optional binary suffix, such as 8, 64K, 16M, 1G or 1GiB",
            found=repr(text),
            fix="write a whole number of bytes, or one with K, M, G or T (powers of 1024)",
        )
    return int(size)


def parse_duration(text: str) -> float:
    """Read a time: `20` or `20s` (seconds), `250ms`, `35us`, `10min`, `2h`. Returns seconds.

    Raises:
        UsageError: for anything else.
    """
    match = _DURATION.fullmatch(text)
    seconds = float(match[1]) * _SECONDS[(match[2] or "s").lower()] if match else inf
    if seconds == inf:  # 1e999 too
        raise UsageError(
            "a time cannot be read",
            expected="seconds, or a number with us, ms, s, min or h",
            found=repr(text),
            fix="write for example 20, 250ms or 10min",
        )
    return seconds


def format_size(size: int) -> str:
    """Print a size exactly: `8 B`, `64 KiB`, `1.5 MiB`; a size that no suffix holds in four digits stays in bytes."""
    for unit, name in ((TIB, "TiB"), (GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        text = f"{size / unit:.4g}"
        if unit <= size < 10_000 * unit and Fraction(text) * unit == size:
            return f"{text} {name}"
    return f"{size} B"


def format_size_short(size: float) -> str:
    """Print a size in about three digits (`64 KiB`, `119 MiB`), for axes, progress and memory plans."""
    for unit, name in ((TIB, "TiB"), (GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}" if size < 999.5 * unit else f"{size / unit:.0f} {name}"
    return f"{size:.0f} B"


def format_seconds(seconds: float) -> str:
    """Print a time in three digits with the unit that suits it: `1.23 us`, `45.6 ms`, `7.89 s`, `12 min`."""
    if seconds >= 600:
        return f"{seconds / 60:.3g} min" if seconds < 999.5 * 60 else f"{seconds / 60:.0f} min"
    for unit, name in ((1.0, "s"), (1e-3, "ms")):
        if seconds >= unit * 0.9995:
            return f"{_three_digits(seconds / unit)} {name}"
    return f"{_three_digits(seconds / MICROSECOND)} us"


def format_rate(rate: float) -> str:
    """Print bytes per second as decimal `GB/s` in three digits, as nccl-tests does."""
    return f"{_three_digits(rate / GIGABYTE_PER_SECOND)} GB/s"


def _three_digits(value: float) -> str:
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{digits}f}"
