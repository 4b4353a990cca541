"""Printed numbers, and whether the figures of a row agree with each other.

A tool that prints size, time and two bandwidths says the same thing three times. Within the rounding of the print,
algbw = size / time and busbw = factor x algbw; where they do not agree, a column was shifted, a unit misread, or the
tool means something else. The factor also says how many ranks there were, when nothing else does.
"""

import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from math import inf, isfinite, isnan, nan

from commbench.collectives import COLLECTIVES

_DIGITS = r"(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})"
_NUMBER = re.compile(rf"[+-]?{_DIGITS}(?:e[+-]?\d{{1,3}})?|[+-]?(?:nan|inf)", re.IGNORECASE)
NOT_CHECKED = frozenset({"N/A", "n/a", "NA", "null"})
_SLACK = 1 + 1e-6  # the tool rounds a float, we compute with another
_MOST_RANKS = 1 << 22
LARGEST = (1 << 63) - 1  # bytes and counts that a sweep file holds


def number(token: str) -> float:
    """A printed number; `12*` counts as 12 (rccl-tests marks errors so). Raises ValueError for anything else."""
    token = token.removesuffix("*")
    if not _NUMBER.fullmatch(token) or not token.isascii():
        raise ValueError(token)
    return float(token)


def whole(token: str) -> int | None:
    """A printed whole number of bytes or elements, None for anything else or one that no sweep file holds."""
    if not (token.isascii() and token.isdigit()) or len(token) > 19:
        return None
    value = int(token)
    return value if value <= LARGEST else None


def half_digit(token: str) -> float:
    """Half of the last printed digit: 0.005 for 33.61, 0.5 for 30471, 500000 for 5e+06."""
    mantissa, _, exponent = token.partition("e")
    decimals = len(mantissa) - mantissa.find(".") - 1 if "." in mantissa else 0
    try:
        return 0.5 * 10.0 ** (int(exponent or 0) - decimals)
    except (ValueError, OverflowError):
        return nan


def quotient_range(top: float, top_half: float, bottom: float, bottom_half: float) -> tuple[float, float]:
    """The smallest and largest quotient of two values that were rounded by up to `..._half`."""
    if isnan(top) or isnan(bottom) or isnan(top_half) or isnan(bottom_half):
        return 0.0, inf
    low_bottom = bottom - bottom_half
    low = max(0.0, top - top_half) / (bottom + bottom_half) if bottom + bottom_half > 0 else 0.0
    high = (top + top_half) / low_bottom if low_bottom > 0 else inf
    return low / _SLACK, high * _SLACK


def agrees(printed: float, half: float, low: float, high: float) -> bool:
    """Whether a printed value, rounded by up to `half`, can lie between two computed ones."""
    return isfinite(printed) and low <= (printed + half) * _SLACK and high * _SLACK >= printed - half


@lru_cache(maxsize=4096)
def printed_factor(collective: str, ranks: int) -> float:
    """The factor that tools print busbw with: ours, but for one rank too where it depends on no ranks (broadcast)."""
    return COLLECTIVES[collective].bus_factor(2 if _constant(collective) else ranks)


@cache
def _constant(collective: str) -> bool:
    factor = COLLECTIVES[collective].bus_factor
    return factor(2) == factor(3)


def ranks_allowed(collective: str, low: float, high: float, up_to: int = _MOST_RANKS) -> tuple[int, int] | None:
    """The smallest and largest number of ranks whose bus factor lies in a range; None where none does.

    A factor that does not depend on the ranks (broadcast) allows any number.
    """
    if high < low:
        return None
    if _constant(collective):
        return (1, up_to) if low <= printed_factor(collective, 1) <= high else None

    def factor(ranks: int) -> float:
        return printed_factor(collective, ranks)

    first = 1 if low <= 0.0 else _first(lambda n: factor(n) >= low, up_to)
    last = _first(lambda n: factor(n) > high, up_to + 1) - 1
    return (first, last) if first <= last and first <= up_to else None


def _first(holds: Callable[[int], bool], up_to: int) -> int:
    """The smallest n >= 1 for which a condition that stays true holds, `up_to` + 1 if none."""
    low, high = 1, 1
    while high <= up_to and not holds(high):  # nearly always a few ranks
        low, high = high + 1, 2 * high
    high = min(high, up_to + 1)
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


def intersection(ranges: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """What all ranges have in common; the first is above the second where nothing is."""
    low, high = 0.0, inf
    for lower, upper in ranges:
        low, high = max(low, lower), min(high, upper)
    return low, high
