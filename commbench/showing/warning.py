"""One doubt about a result, in three parts."""

from collections.abc import Sequence
from dataclasses import dataclass

from commbench.showing.rows import Row


@dataclass(frozen=True)
class ResultWarning:
    """A warning that judges a result.

    Attributes:
        kind: one word (with hyphens) for programs; the same for every warning of its kind.
        seen: what was seen, with numbers and the worst row.
        why: why it matters.
        helps: what helps.
    """

    kind: str
    seen: str
    why: str
    helps: str


def of(rows: Sequence[Row], total: int) -> str:
    """`3 of 96 rows`, `1 of 96 rows`, `the only row`."""
    return "the only row" if len(rows) == total == 1 else f"{len(rows)} of {total} rows"


def percent(share: float) -> str:
    """`34 %`, `2.5 %`, `0.4 %`; one decimal below 10."""
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.1f}".removesuffix(".0") + " %"
