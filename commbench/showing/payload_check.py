"""Doubts about the data: wrong results, and results nobody looked at."""

from collections.abc import Iterator, Sequence

from commbench.showing.rows import Row
from commbench.showing.warning import ResultWarning, of
from commbench.sweepfile.reader import Sweep


def payload_check(sweep: Sweep, rows: Sequence[Row]) -> Iterator[ResultWarning]:
    """The warnings about correctness."""
    wrong = [row for row in rows if row.check == "WRONG"]
    if wrong:
        worst = max(wrong, key=lambda row: row.wrong or 0)
        elements = f", {worst.wrong} wrong elements" if worst.wrong else ""
        yield ResultWarning(
            "wrong",
            f"the result was WRONG in {of(wrong, len(rows))} (worst: {worst.words}{elements})",
            "a fast collective that gives wrong data is worth nothing: do not use these times",
            "repeat it with another path (NCCL_P2P_DISABLE=1, NCCL_NVLS_ENABLE=0) to find the one that corrupts",
        )
    unchecked = [row for row in rows if row.check == "not checked"]
    if unchecked:
        ours = sweep.header.source.tool == "commbench"
        yield ResultWarning(
            "not-checked",
            f"the result was not checked in {of(unchecked, len(rows))}",
            "not checked is not correct: no acceptance can rest on these rows",
            "leave out -c 0" if ours else "have the tool check its results and keep what it prints about them",
        )
