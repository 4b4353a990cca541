"""What a limit is written as: `340 GB/s`, `12 us`, `75 % of peak`, `95 % of baseline`, `64M..4G`. Data, never code."""

import re
from math import isfinite
from typing import Literal, NamedTuple

from commbench.errors import UsageError
from commbench.units import format_rate, format_seconds, format_size, format_size_short, parse_size

Kind = Literal["rate", "time", "share", "bytes"]
Measure = Literal["busbw", "algbw", "time", "latency", "plateau", "n_half", "spread", "gap", "node_spread"]
Share = Literal["peak", "ring", "bridge", "host", "network", "baseline"]

KINDS: dict[str, Kind] = {
    "busbw": "rate", "algbw": "rate", "plateau": "rate", "time": "time", "latency": "time", "n_half": "bytes",
    "spread": "share", "gap": "share", "node_spread": "share",
}  # fmt: skip
"""What each quantity is measured in."""

FITTED = ("latency", "plateau", "n_half")
"""Quantities of a whole curve, from its fit; all others belong to one size."""

_RATES = {"GB/s": 1e9, "MB/s": 1e6, "TB/s": 1e12, "Gbit/s": 1.25e8, "Mbit/s": 1.25e5}
_TIMES = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
_NUMBER = r"([0-9]{1,15}(?:\.[0-9]{1,15})?)"
_RATE = re.compile(rf"{_NUMBER} ?({'|'.join(_RATES)})")
_TIME = re.compile(rf"{_NUMBER} ?({'|'.join(_TIMES)})")
_PERCENT = re.compile(rf"{_NUMBER} ?%")
_SHARE = re.compile(rf"{_NUMBER} ?% of (peak|ring|bridge|host|network|baseline)")
_SMALLEST_FACTOR, _LARGEST_FACTOR = 1.01, 1000.0


class Bound(NamedTuple):
    """A number to hold a quantity against.

    Attributes:
        text: as it was written.
        value: in bytes/s, s or bytes; a share (1 = 100 %) where `of` is set, or where the quantity is one.
        of: what a share is a share of, None for an absolute bound.
    """

    text: str
    value: float
    of: Share | None = None


def parse_bound(text: str, quantity: Measure, where: str) -> Bound:
    """Read a bound of a quantity.

    Raises:
        UsageError: naming `where` in the file it stands, and what would fit the quantity.
    """
    kind = KINDS[quantity]
    if kind != "share" and (match := _SHARE.fullmatch(text)):
        share = float(match[1]) / 100.0
        of: Share = match[2]  # type: ignore[assignment]  # the pattern holds nothing else
        if of != "baseline" and kind != "rate":
            raise unreadable(where, f"a bound of {quantity}, which no link has a peak of", repr(text))
        return Bound(text, _positive(share, where, text), of)
    if kind == "rate" and (match := _RATE.fullmatch(text)):
        return Bound(text, _positive(float(match[1]) * _RATES[match[2]], where, text))
    if kind == "time" and (match := _TIME.fullmatch(text)):
        return Bound(text, _positive(float(match[1]) * _TIMES[match[2]], where, text))
    if kind == "share" and _PERCENT.fullmatch(text):
        return Bound(text, _positive(parse_percent(text, where), where, text))
    if kind == "bytes":
        return Bound(text, _positive(float(_size(text, where)), where, text))
    raise unreadable(where, _EXPECTED[kind], repr(text))


_EXPECTED = {
    "rate": "a rate (340 GB/s, 96 Gbit/s) or a share (75 % of peak, ring, bridge, host, network or baseline)",
    "time": "a time (12 us, 3.5 ms) or a share (105 % of baseline)",
    "share": "a share (5 %)",
    "bytes": "a size (512 KiB)",
}


def parse_rate(text: str) -> float:
    """`10GB/s`, `96 Gbit/s` in bytes per second. Raises UsageError."""
    match = _RATE.fullmatch(text.strip())
    rate = float(match[1]) * _RATES[match[2]] if match else 0.0
    if rate <= 0.0:
        raise UsageError("a rate cannot be read", expected=f"a number above 0 with {', '.join(_RATES)}",
                         found=repr(text[:200]), fix="write for example 10GB/s or 1Gbit/s")  # fmt: skip
    return rate


def parse_percent(text: str, where: str, most: float = 1000.0) -> float:
    """`2.5 %` as 0.025. Raises UsageError."""
    match = _PERCENT.fullmatch(text)
    if match is None or float(match[1]) > most:
        raise unreadable(where, f"a share such as 3 %, at most {most:g} %", repr(text))
    return float(match[1]) / 100.0


def share_of(text: str, option: str, most: int) -> float:
    """`5`, `5%` and `5 %` as 0.05; in a limits file the sign must stand, on a command line it need not.

    Raises:
        UsageError: no such share, or one above `most` percent.
    """
    try:
        return parse_percent(text if text.endswith("%") else f"{text} %", option, most)
    except UsageError:
        raise UsageError(f"{option} is no usable share", expected=f"percent, at most {most}", found=text[:200],
                         fix=f"{option} 5") from None  # fmt: skip


def parse_range(text: str, where: str) -> tuple[int, int]:
    """`1G` as (1 GiB, 1 GiB), `64M..4G` as both ends. Raises UsageError."""
    low, dots, high = text.partition("..")
    first = _size(low, where)
    last = _size(high, where) if dots else first
    if not 0 < first <= last:
        raise unreadable(where, "a size above 0, or a range that ascends (64M..4G)", repr(text))
    return first, last


def parse_factor(value: float, where: str) -> float:
    """The factor between sizes that must all have been measured. Raises UsageError."""
    if not isfinite(value) or not _SMALLEST_FACTOR <= value <= _LARGEST_FACTOR:
        raise unreadable(where, f"a factor from {_SMALLEST_FACTOR} to {_LARGEST_FACTOR}", repr(value))
    return value


def format_value(value: float, kind: Kind) -> str:
    """A quantity for a person: `341 GB/s`, `12.3 us`, `2.1 %`, `512 KiB`."""
    if kind == "rate":
        return format_rate(value) if value >= 0.995e9 else f"{value / 1e9:.3g} GB/s"
    if kind == "time":
        return format_seconds(value)
    if kind == "bytes":
        return format_size(int(value)) if value == int(value) else format_size_short(value)
    return f"{100 * value:.3g} %"


def unreadable(where: str, expected: str, found: str) -> UsageError:
    """The error for anything in a limits file that makes no sense."""
    return UsageError("a limits file cannot be used", expected=expected, found=f"{where}: {found[:200]}",
                      fix="commbench accept --example prints a file that can be used")  # fmt: skip


def _size(text: str, where: str) -> int:
    try:
        return parse_size(text)
    except UsageError as error:
        raise unreadable(where, error.expected, error.found) from None


def _positive(value: float, where: str, text: str) -> float:
    if not isfinite(value) or value <= 0.0:
        raise unreadable(where, "a bound above 0", repr(text))
    return value
