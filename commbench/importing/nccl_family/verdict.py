"""What the lines around a table say about its rows: which format, how timed, whether whole, whether right."""

from collections.abc import Sequence
from typing import Any

from commbench.importing.nccl_family.banner import Banner
from commbench.importing.nccl_family.checks import is_average_of
from commbench.importing.nccl_family.layout import Layout
from commbench.importing.nccl_family.rows import RowTable
from commbench.importing.nccl_family.table import Table
from commbench.sweepfile.records import Mode

_LARGE_ERROR = 1e-3  # far above the rounding of any dtype that has more than 16 bits
_LARGE_ERROR_16 = 0.1


def mode_of(settings: dict[str, Any]) -> Mode | None:
    """How the tool timed: calls back to back, or replays of a graph; None where each call was waited for."""
    if settings.get("replays"):
        return "graph"
    if settings.get("blocking_enabled") or settings.get("blocking"):
        return None
    return "pipelined"


def variant(banner: Banner, layout: Layout) -> str:
    """The row of the table in docs/importing.md that describes this text."""
    if banner.reporter:
        return "rccl-tests CSV or JSON"
    if banner.tool == "mscclpp-test":
        return "mscclpp-test text"
    generation = layout.generation
    if generation == "C":
        if banner.version:
            generation = "C3"
        elif banner.program or banner.concluded:
            generation = "C2"
        elif layout.inferred:
            generation = "C"
        else:
            generation = "C0 or C1"
    return f"{banner.tool} text {generation}"


def footer_of(table: Table, rows: RowTable, copies: int) -> dict[str, Any]:
    """What stands below the table, and whether the average is that of these rows."""
    banner = table.banner
    averages = [average for average in banner.averages if average is not None]
    fitting = [average for average in averages if is_average_of(rows, average, table.zero_busbw)]
    footer: dict[str, Any] = {}
    if averages:
        footer["average"] = fitting[0] if fitting else averages[0]
        footer["average_is_of_these_rows"] = bool(fitting)
    if banner.out_of_bounds:
        count, word = banner.out_of_bounds[0] if copies < 2 else _worst(banner.out_of_bounds)
        footer["out_of_bounds"] = count
        footer["out_of_bounds_verdict"] = word
    return footer


def _worst(footers: Sequence[tuple[int, str | None]]) -> tuple[int, str | None]:
    return max(footers, key=lambda footer: (footer[0], footer[1] == "FAILED"))


def judge(rows: RowTable, layout: Layout, footer: dict[str, Any]) -> list[str]:
    """Say whether the data were right. A magnitude of error is judged by the tool's own footer only."""
    failed = footer.get("out_of_bounds", 0) or footer.get("out_of_bounds_verdict") == "FAILED"
    if layout.error_is_magnitude and "out_of_bounds" in footer:
        rows.judge_errors(failed=bool(failed), limit=_LARGE_ERROR, limit_16=_LARGE_ERROR_16)
    wrong, checked = rows.wrong_rows, rows.checked("out") or rows.checked("in") or rows.checked(None)
    said = []
    if wrong:
        said.append(f"wrong data in {wrong} of {len(rows)} rows")
    elif failed:
        said.append(f"the footer counts {footer['out_of_bounds']} failures, which rows have them is not printed")
    elif not checked and rows.has_magnitudes:
        said.append("errors are printed as magnitudes, and no footer stands below that judges them")
    elif not checked:
        said.append("nobody checked the data" + (", whatever the footer says" if "out_of_bounds" in footer else ""))
    return said


def completeness(table: Table, footer: dict[str, Any]) -> tuple[bool | None, str | None]:
    """Whether the tool's own end stands below the rows, and why not."""
    if table.banner.failures:
        return False, f"the program failed: {table.banner.failures[0][1]}"
    if not table.banner.ended:
        return False, "the program did not write its end"
    if table.cut is not None:
        return False, f"the row of line {table.cut} is cut"
    if footer.get("average_is_of_these_rows") is False:
        return False, "the printed average is not that of these rows"
    if table.banner.whole_file:
        return True, None
    if table.banner.reporter and not footer:
        return None, None
    if not footer and not table.banner.concluded:
        return False, "no footer stands below the rows"
    return True, None
