"""What the bandwidths that nccom-test prints mean: their unit, and which rows an average is of."""

from collections.abc import Sequence

from commbench.importing.foreign import Row
from commbench.importing.other_tools.printed import Printed, figure, is_rate
from commbench.units import GIB, GIGABYTE_PER_SECOND, MICROSECOND

_DECIMAL, _BINARY = GIGABYTE_PER_SECOND * MICROSECOND, GIB * MICROSECOND  # bytes per microsecond of one unit


def unit_note(rows: Sequence[Row]) -> str | None:
    """What GB/s means in these rows; None where they are in 10^9 bytes per second, or there is no row."""
    decimal, binary = (all(_fits(row, unit) for row in rows) for unit in (_DECIMAL, _BINARY))
    if not rows or (decimal and not binary):
        return None
    largest = max(rows, key=lambda row: row.message_bytes)
    printed = float(largest.reported["algbw(GB/s)"])
    if binary and not decimal:
        converted = printed * GIB / GIGABYTE_PER_SECOND
        return f"bandwidths are GiB/s though labelled GB/s: {printed:g} at line {largest.line} is {converted:.4g} GB/s"
    if binary:
        return "whether bandwidths are GB/s or GiB/s cannot be told from so few digits; the tool's manual says GiB/s"
    return "bandwidths follow from size and time neither as GB/s nor as GiB/s"


def _fits(row: Row, unit: float) -> bool:
    column = next(name for name in row.reported if name.startswith("time"))
    rate, time = figure(str(row.reported["algbw(GB/s)"])), figure(str(row.reported[column]))
    return rate is not None and time is not None and is_rate(_rounded(rate).times(unit), row.message_bytes, time)


def _rounded(rate: Printed) -> Printed:
    """A rate that lost a trailing zero when it was kept as a number was still printed with two decimals."""
    return Printed(rate.value, min(rate.half, 0.005))


def average_note(text: str, bandwidths: Sequence[Printed]) -> tuple[float | None, str | None]:
    """The printed average, and what is wrong with it: that it is no number, or not of these rows."""
    average = figure(text)
    if average is None:
        return None, "the printed average is no number"
    if not bandwidths:
        return average.value, "the printed average stands under no row"
    mean = sum(one.value for one in bandwidths) / len(bandwidths)
    slack = sum(one.half for one in bandwidths) / len(bandwidths) + average.half
    if abs(average.value - mean) > slack * 1.001:
        return average.value, f"the printed average {text} is not that of these rows ({mean:.4g})"
    return average.value, None
