"""One row of the Intel MPI Benchmarks, by the columns of its table."""

from collections.abc import Mapping

from commbench.importing.figures import whole
from commbench.importing.foreign import Line
from commbench.importing.other_tools.collecting import Collector
from commbench.importing.other_tools.mpi_names import Operation, mpi_datatype
from commbench.importing.other_tools.printed import figure, is_rate, reported, seconds
from commbench.units import MIB

_FAILURES = ("out-of-mem.", "int-overflow", "time-out")
_TIMES = ("t_pure[usec]", "t_avg[usec]", "t[usec]")
_DEFECT = 0.01  # IMB's own limit; it prints two decimals


def take(
    line: Line, columns: tuple[str, ...], operation: Operation, settings: Mapping[str, str], collected: Collector
) -> str | None:
    """Take one row; return why it cannot be read, None where it can or where the tool says that it did not measure."""
    words = line.text.split()
    size = whole(words[0]) if columns[0] == "#bytes" else 0
    if size is None:
        return "#bytes is no whole number"
    failed = next((place for place in (1, 2) if words[place:] and words[place].startswith(_FAILURES)), None)
    if failed is not None:  # in place of the repetitions, or behind them
        collected.leave_out(line.number, collected.whole(size) or 0, " ".join(words[failed:]))
        return None
    if len(words) == len(columns) + 1 and "defects" not in columns:
        columns = (*columns, "defects")  # builds that check, under the header of those that do not
    if len(words) != len(columns):
        return f"{'the row is cut: ' if len(words) < len(columns) else ''}{len(words)} of {len(columns)} columns"
    values = dict(zip(columns, words, strict=True))
    name = next((name for name in _TIMES if name in values), None)
    if name is None:
        return "the table has no time"
    time, defects = figure(values[name]), figure(values.get("defects", ""))
    if time is None:
        return f"{name} is {values[name]!r}, no number"
    datatype = settings.get("MPI_Datatype for reductions" if operation.operator else "MPI_Datatype")
    collected.row(
        line.number,
        size,
        seconds(time.value),
        dtype=mpi_datatype(datatype) if datatype and operation.moves else None,
        op=operation.operator if settings.get("MPI_Op", "MPI_SUM") == "MPI_SUM" else None,
        moves=operation.moves,
        correct=None if defects is None else defects.value < _DEFECT,
        statistic="mean over ranks" if name == "t_avg[usec]" else "slowest rank",
        reported={column: reported(word) for column, word in values.items()},
        notes=_bandwidth_note(size, values),
    )
    return None


def _bandwidth_note(size: int, values: Mapping[str, str]) -> tuple[str, ...]:
    """What Mbytes/sec means, which counts both directions over t_max: 10^6 bytes, or 2^20 in old versions."""
    rate, slowest = figure(values.get("Mbytes/sec", "")), figure(values.get("t_max[usec]", ""))
    if rate is None or slowest is None or not size or is_rate(rate, 2.0 * size, slowest):
        return ()
    if is_rate(rate, 2.0 * size * 1_000_000 / MIB, slowest):
        return ("Mbytes/sec counts 2^20 bytes",)
    return ("Mbytes/sec is not twice the bytes over t_max",)
