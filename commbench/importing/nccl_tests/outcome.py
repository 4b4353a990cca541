"""What the end of a run means: its exit code, what the sweep's end record says, and the message for the user."""

import signal
from dataclasses import dataclass
from typing import Literal

from commbench.importing.nccl_tests.conduct import Conduct
from commbench.sweepfile.records import Status
from commbench.units import format_seconds, format_size

RIGHT, WRONG, FAILED, COULD_NOT_TELL = 0, 1, 2, 3
_GRAVEST_FIRST = (WRONG, FAILED, COULD_NOT_TELL, RIGHT)


@dataclass(frozen=True)
class Ending:
    """How a program's run ended.

    Attributes:
        by: the program itself, our time limit, its silence, or a signal to us.
        status: its exit status (negative: ended by that signal), None where it had to be ended.
        after: seconds of the limit that ended it, or the signal's number.
    """

    by: Literal["itself", "limit", "silence", "signal"]
    status: int | None = None
    after: float = 0.0


@dataclass(frozen=True)
class Counts:
    """What was read: rows with a time (one a placement), those with wrong results, and lines that resist reading."""

    rows: int
    wrong: int
    unread: tuple[str, ...] = ()
    disagreement: str | None = None


@dataclass(frozen=True)
class Outcome:
    """How one program's run counts."""

    code: int
    status: Status
    message: str | None = None


def judge(ending: Ending, conduct: Conduct, counts: Counts) -> Outcome:
    """The outcome of a run; the first reason that holds is the one that is told."""
    kept = f"after {counts.rows} rows, which are kept" if counts.rows else "before its first row"
    if ending.by == "signal":
        name = signal.Signals(int(ending.after)).name
        return Outcome(128 + int(ending.after), "aborted", f"ended by {name} {kept}")
    if ending.by == "limit":
        return Outcome(COULD_NOT_TELL, "timed-out", f"the time limit (-T {ending.after:g}) ended it {kept}")
    if ending.by == "silence":
        silence = f"it printed nothing for {format_seconds(ending.after)} and was ended {kept}"
        return Outcome(COULD_NOT_TELL, "timed-out", f"{silence}; -T sets another limit")
    explained = bool(conduct.wrong) or conduct.too_slow is not None
    died = ending.status != 0 and not (conduct.concluded and explained)
    if died and not conduct.concluded:
        verb = "failed" if counts.rows == 0 else "crashed"
        return Outcome(FAILED, "aborted", f"it {verb} {kept} ({_status(ending.status)}): {conduct.why}")
    if counts.rows == 0:
        return Outcome(WRONG, "aborted", f"it ended without an error and printed no row: {conduct.why}")
    if conduct.wrong or counts.wrong:
        bounds = f"{conduct.wrong} out of bounds values FAILED" if conduct.wrong else "no FAILED in its footer"
        return Outcome(WRONG, "complete", f"wrong data in {counts.wrong} of {counts.rows} rows ({bounds})")
    if conduct.too_slow is not None:
        return Outcome(
            WRONG, "complete", f"its average bus bandwidth, {conduct.too_slow} GB/s, is below 0.9 of NCCL_TESTS_MIN_BW"
        )
    if died:
        return Outcome(FAILED, "complete", f"all rows are there, then it failed ({_status(ending.status)})")
    if not conduct.concluded:
        return Outcome(COULD_NOT_TELL, "aborted", f"it ended without its footer {kept}: the output may be cut")
    if counts.disagreement is not None:
        return Outcome(COULD_NOT_TELL, "complete", f"its JSON and its table disagree: {counts.disagreement}")
    if counts.unread:
        return Outcome(COULD_NOT_TELL, "complete", f"not all rows could be read: {'; '.join(counts.unread[:3])}")
    if conduct.reduced_to is not None:
        missing = conduct.beyond_memory()
        named = f"{len(missing)} sizes from {format_size(missing[0])}" if missing else "larger sizes"
        limit = f"memory allows {format_size(conduct.reduced_to)}"
        return Outcome(COULD_NOT_TELL, "complete", f"{named} were left out: {limit}")
    return Outcome(RIGHT, "complete")


def together(codes: list[int]) -> int:
    """The exit code of several runs: the gravest."""
    return next((code for code in _GRAVEST_FIRST if code in codes), RIGHT)


def _status(status: int | None) -> str:
    if status is None:
        return "no exit status"
    if status < 0:
        try:
            return f"signal {signal.Signals(-status).name}"
        except ValueError:
            return f"signal {-status}"
    return f"exit status {status}"
