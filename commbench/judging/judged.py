"""What `accept` finds, as frozen records: the verb prints them, JUnit, monitoring, the report and pytest read them."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

Outcome = Literal["pass", "fail", "inconclusive", "not_verified"]
Interval = tuple[float, float]

EXIT_CODES: dict[Outcome, int] = {"pass": 0, "fail": 1, "inconclusive": 3, "not_verified": 3}
_WORST_FIRST: tuple[Outcome, ...] = ("fail", "not_verified", "inconclusive", "pass")


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One question and its answer.

    Attributes:
        name: unique in an acceptance; what a test runner calls it.
        limit: what was asked for, as it was written.
        measured, interval, bound: in `unit`; None where there is no number. The interval is None, too, where a value
            has no samples: `assumed` then holds what was assumed instead.
        assumed: half the interval that a value without samples was given, as a share of it.
        margin: by how much the bound is kept, as a share of it; negative where it is missed.
        reason: why the outcome is what it is, in a sentence with numbers.
        because: why the limit stands in the file.
        more_samples, more_launches: what would decide an inconclusive check, None where that would not.
        files: where the measurements stand.
    """

    name: str
    limit: str
    outcome: Outcome
    reason: str
    measured: float | None = None
    interval: Interval | None = None
    bound: float | None = None
    unit: Literal["B/s", "s", "B", "1"] | None = None
    assumed: float | None = None
    basis: str | None = None
    margin: float | None = None
    because: str | None = None
    collective: str | None = None
    message_bytes: int | None = None
    quantity: str | None = None
    more_samples: int | None = None
    more_launches: int | None = None


class Acceptance(msgspec.Struct, frozen=True, kw_only=True):
    """All checks, the worst first, and what follows from them.

    Attributes:
        limits: the name in the limits file.
        machine: what was judged, in a line.
        notes: what a reader must know beside the checks.
    """

    verdict: Outcome
    checks: tuple[Check, ...]
    limits: str
    machine: str
    notes: tuple[str, ...] = ()

    def count(self, outcome: Outcome) -> int:
        """Checks with this outcome."""
        return sum(check.outcome == outcome for check in self.checks)


def acceptance(limits: str, machine: str, checks: Iterable[Check], notes: Iterable[str] = ()) -> Acceptance:
    """Order checks (the worst first, then by how little of the limit is left) and draw the verdict.

    No check at all is not verified: nothing was asked, so nothing was answered.
    """
    ordered = sorted(_unique(checks), key=lambda check: (_WORST_FIRST.index(check.outcome), _left(check)))
    verdict = ordered[0].outcome if ordered else "not_verified"
    return Acceptance(verdict=verdict, checks=tuple(ordered), limits=limits, machine=machine, notes=tuple(notes))


def _unique(checks: Iterable[Check]) -> Iterator[Check]:
    """The same checks, each with a name of its own: two limits may be about one quantity of one size."""
    seen: Counter[str] = Counter()
    for check in checks:
        seen[check.name] += 1
        again = seen[check.name]
        yield check if again == 1 else msgspec.structs.replace(check, name=f"{check.name} ({again})")


def _left(check: Check) -> float:
    """Checks without a number stand before those with one of the same outcome."""
    return float("-inf") if check.margin is None else check.margin
