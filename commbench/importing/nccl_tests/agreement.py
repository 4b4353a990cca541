"""The JSON and the table of one run must tell the same: row by row, within what the table rounds away."""

from collections.abc import Sequence

from commbench.importing.foreign import Row
from commbench.units import MICROSECOND, format_size

_SLACK = 1.02  # a half rounds either way


def disagreement(table: Sequence[Row], exact: Sequence[Row]) -> str | None:
    """Where they differ first, None where they agree."""
    if len(table) != len(exact):
        return f"{len(table)} rows in the table, {len(exact)} in the JSON"
    for printed, row in zip(table, exact, strict=True):
        if _key(printed) != _key(row):
            return f"the table has {_words(printed)} where the JSON has {_words(row)}"
        if abs(printed.seconds - row.seconds) > _rounding(printed):
            return (
                f"{_words(printed)}: {printed.seconds / MICROSECOND:g} us in the table, "
                f"{row.seconds / MICROSECOND:g} us in the JSON"
            )
        if printed.wrong != row.wrong and not (printed.wrong and row.wrong):  # a large count is rounded
            return f"{_words(printed)}: {printed.wrong} wrong in the table, {row.wrong} in the JSON"
    return None


def _key(row: Row) -> tuple[object, ...]:
    return row.message_bytes, row.placement, row.dtype, row.op or None, row.root


def _words(row: Row) -> str:
    place = {"in": "in place", "out": "out of place", None: ""}[row.placement]
    return " ".join(word for word in (format_size(row.message_bytes), row.dtype or "", place) if word)


def _rounding(row: Row) -> float:
    """Half a unit of the last digit that the table prints of this time (s).

    nccl-tests gives a time seven characters: two, one or no decimals, and above that two digits and an exponent.
    Relatives of it print one decimal less from 100 us and from 10 ms on.
    """
    microseconds = row.seconds / MICROSECOND
    for limit, half in ((100.0, 0.005), (10_000.0, 0.05), (9_999_999.0, 0.5)):
        if microseconds <= limit:
            return half * _SLACK * MICROSECOND
    return 0.05 * row.seconds
