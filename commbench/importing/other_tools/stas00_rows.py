"""One row of a table of all_reduce_bench.py, by the columns of its header."""

import re

from commbench.importing.foreign import Line
from commbench.importing.other_tools.collecting import Collector
from commbench.importing.other_tools.printed import Printed, figure, seconds
from commbench.units import GIB, GIGABYTE_PER_SECOND, KIB, MIB, TIB

LATENCY = "latency median"
_PAYLOAD = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)(B|[KMGT]i?B)")
_SHARE = 16  # bytes that one rank's part of a payload is a multiple of
_RATE = re.compile(r"(\d[\d.]{0,20})GBps")
_TIME = re.compile(r"(\d[\d.]{0,20}) ?(us|\u00b5s|\u03bcs|ms)?")
_UNITS = {"B": 1, "K": KIB, "M": MIB, "G": GIB, "T": TIB}
_COARSE = 0.02  # of the time; what two decimals hide is said from there on


def cells(text: str) -> list[str]:
    """The cells of a Markdown row."""
    return [cell.strip() for cell in text.strip().strip("|").split("|")]


def take(
    line: Line, columns: tuple[str, ...], payload: int | None, reduces: bool, collected: Collector, shares: int = 0
) -> tuple[Printed, Printed] | str | None:
    """Take one row: its algorithm and bus bandwidth, or why it cannot be read.

    Args:
        shares: equal parts that the payload is cut into, one a rank; 0 where it is whole or they are not known.
    """
    found = cells(line.text)
    profile = columns[0] in ("busbw", "algbw")
    op = "sum" if reduces else None
    if len(found) != len(columns):
        return f"{len(found)} of {len(columns)} columns"
    texts = dict(zip(columns, found, strict=True))
    message = payload if profile else _bytes(found[0], shares)
    rates = {
        name: figure(match[1]) for name in ("algbw", "busbw") if (match := _RATE.fullmatch(texts[name])) is not None
    }
    algorithm, bus = rates.get("algbw"), rates.get("busbw")
    latency = _seconds(texts.get(LATENCY, ""))
    if message is None:
        return "the payload is not told" if profile else f"the payload {found[0]!r} cannot be read"
    if latency is not None:
        collected.row(
            line.number, message, latency, op=op, statistic="median over calls of the slowest rank",
            reported={name: text for name, text in texts.items() if text},
        )  # fmt: skip
        return (algorithm, bus) if algorithm and bus else None
    if algorithm is None or bus is None:
        return "a bandwidth cannot be read"
    if algorithm.value <= 0:
        collected.leave_out(line.number, message, "algbw is printed as 0, and no time follows from it")
        return None
    error = algorithm.half / algorithm.value
    rounded = (f"algbw has so few digits that the time is known to {error:.0%} only",) if error > _COARSE else ()
    collected.row(
        line.number,
        message,
        message / (algorithm.value * GIGABYTE_PER_SECOND),
        op=op,
        statistic="one call, mean over ranks" if profile else "derived from a mean of bandwidths",
        reported=({} if profile else {"payload": found[0]}) | {"busbw": bus.value, "algbw": algorithm.value},
        notes=rounded,
    )
    return algorithm, bus


def _bytes(text: str, shares: int) -> int | None:
    """A printed payload: six digits of a binary unit, behind which stands a whole number of equal parts."""
    shown = _PAYLOAD.fullmatch(text)
    if shown is None:
        return None
    amount = float(shown[1]) * _UNITS[shown[2][0]]
    if "." not in shown[1]:
        return int(shown[1]) * _UNITS[shown[2][0]]
    step = shares * _SHARE if shares else 4
    return round(amount / step) * step


def _seconds(text: str) -> float | None:
    """The time of a latency's cell, in microseconds where it has no unit."""
    match = _TIME.fullmatch(text)
    value = figure(match[1]) if match else None
    if match is None or value is None:
        return None
    return seconds(value.value * 1000 if match[2] == "ms" else value.value)
