"""Printed figures of tools whose units stand beside them: the value, how far rounding hides it, and its unit.

Nothing is read that is not surely a number: a comma, `N/A`, `nan` or a cut exponent gives None, never 0.
"""

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import NamedTuple

from commbench.importing.figures import LARGEST, agrees, half_digit, intersection, quotient_range, ranks_allowed, whole
from commbench.units import GIB, KIB, MIB, TIB

_NUMBER = re.compile(r"\d{1,25}(?:\.\d{0,25})?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_SIZE = re.compile(r"(\d{1,19}(?:\.\d{1,9})?) {0,4}(B|[KMGT]i?B)", re.ASCII)
_HUNDREDTH = 0.01
LONGEST_ROW = 2000  # characters; a longer line is no row, and searching it for one would take long
_ENDLESS = 1e300  # beyond it sums and squares overflow; no tool prints that
_BINARY = {"B": 1, "K": KIB, "M": MIB, "G": GIB, "T": TIB}


class Printed(NamedTuple):
    """A printed number: its value, and half of its last digit."""

    value: float
    half: float

    def times(self, factor: float) -> "Printed":
        """The same number in another unit."""
        return Printed(self.value * factor, self.half * factor)


def figure(text: str) -> Printed | None:
    """A number of at least 0, such as `12`, `0.00`, `1.2e+06`; None for anything else."""
    if _NUMBER.fullmatch(text) is None:
        return None
    value = float(text)
    return Printed(value, half_digit(text.lower())) if value < _ENDLESS else None


def seconds(microseconds: float) -> float:
    """The float nearest to a printed number of microseconds, in seconds; a quotient of floats would often miss it."""
    text = repr(microseconds)
    return float(f"{text}e-6") if "e" not in text else float(Decimal(text).scaleb(-6))


def reported(text: str) -> int | float | str:
    """A printed cell for `Row.reported`: a number where it is one, else its text."""
    if _NUMBER.fullmatch(text) is None:
        return text
    return int(text) if whole(text) is not None else float(text) if float(text) < _ENDLESS else text


def decimals(text: str) -> int:
    """Digits after the point."""
    return len(text.partition(".")[2])


def size(text: str) -> Printed | None:
    """Bytes of `64.0 MB`, `1.45 GB`, `512 B`, `0B`: powers of 1024, as the tools mean that print them.

    `half` is what rounding to two decimals hides (zeros at the end are not printed); 0 for plain bytes.
    """
    match = _SIZE.fullmatch(text.strip())
    amount = figure(match[1]) if match else None
    if match is None or amount is None:
        return None
    unit = _BINARY[match[2][0]]
    if amount.value * unit > LARGEST:
        return None
    return Printed(amount.value, 0.0 if unit == 1 else _HUNDREDTH / 2).times(unit)


def is_rate(rate: Printed, amount: float, time: Printed) -> bool:
    """Whether a rate is amount / time within the rounding of both; all in one system of units."""
    return agrees(rate.value, rate.half, *quotient_range(amount, 0.0, time.value, time.half))


def ranks_that_fit(collective: str, figures: Iterable[tuple[Printed, Printed]]) -> tuple[int, int] | None:
    """The ranks, from 2 on, whose bus factor is busbw / algbw in every row within the rounding; None where none is.

    Args:
        figures: (algorithm bandwidth, bus bandwidth) as printed, in one unit. Without any, every number fits.
    """
    ratios = (quotient_range(bus.value, bus.half, rate.value, rate.half) for rate, bus in figures)
    allowed = ranks_allowed(collective, *intersection(ratios))
    return (max(2, allowed[0]), allowed[1]) if allowed and allowed[1] >= 2 else None
