"""A finding: what one check before a launch saw. Checks return findings; they neither print nor raise."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warning", "problem"]


@dataclass(frozen=True)
class Finding:
    """What one check saw.

    Attributes:
        level: "problem" stops a launch or a measurement, "warning" may change what is measured, "ok" is a fact.
        check: what was looked at, in a few words ("rendezvous port").
        found: what was seen, with values and units.
        fix: what to do about it, None where there is nothing to do.
    """

    level: Level
    check: str
    found: str
    fix: str | None = None


def has_problem(findings: Iterable[Finding]) -> bool:
    """Whether any finding stops a launch or a measurement."""
    return any(finding.level == "problem" for finding in findings)
