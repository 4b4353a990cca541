"""The tool judges its own result: every warning of a sweep, gravest first.

Each says what was seen, why it matters and what helps, once for all rows it concerns, and nothing that the user has
already done.
"""

from collections.abc import Iterator, Sequence

from commbench.showing.machine import machine
from commbench.showing.noise import noise
from commbench.showing.payload_check import payload_check
from commbench.showing.peak import above_peak
from commbench.showing.rows import Row, rows
from commbench.showing.skew import skew
from commbench.showing.warning import ResultWarning
from commbench.sweepfile.reader import Sweep

_NO_END = "no end record"  # the reader's notice of what the status says too


def judge(sweep: Sweep, table: Sequence[Row] | None = None) -> tuple[ResultWarning, ...]:
    """All warnings of a sweep.

    Args:
        table: `rows(sweep)`, when it is at hand already.
    """
    known = rows(sweep) if table is None else table
    return (
        *_void(sweep),
        *payload_check(sweep, known),
        *_unfinished(sweep),
        *_notices(sweep),
        *skew(sweep, known),
        *above_peak(sweep, known),
        *noise(sweep, known),
        *machine(sweep),
    )


def _void(sweep: Sweep) -> Iterator[ResultWarning]:
    for void in sweep.voids:
        yield ResultWarning(
            "void",
            f"the sweep is void: {void.reason}",
            "it did not measure what its name says, so nothing may be compared with it",
            "find out why the setting did not take, move this file away and measure again",
        )


def _unfinished(sweep: Sweep) -> Iterator[ResultWarning]:
    if sweep.status == "complete":
        return
    reason = sweep.end.reason if sweep.end else "it has no end record, so it was killed or still runs"
    ours = sweep.header.source.tool == "commbench"
    yield ResultWarning(
        sweep.status,
        f"the sweep is {sweep.status}" + (f": {reason}" if reason else ""),
        "points are missing, perhaps the ones that would have shown the trouble",
        "continue it with --resume FILE; what was finished is kept" if ours else "run it again and import all of it",
    )


def _notices(sweep: Sweep) -> Iterator[ResultWarning]:
    for notice in sweep.notices:
        if not notice.startswith(_NO_END):
            yield ResultWarning(
                "notice", notice, "the file holds less than was written or said", "look at the file where it says so"
            )
