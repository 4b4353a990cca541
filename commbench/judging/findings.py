"""Who is to blame, as far as tests of pairs show it."""

from dataclasses import dataclass, field
from typing import Literal

from commbench.judging.pair_times import PathKind


@dataclass(frozen=True)
class Finding:
    """A culprit, or something that could not be decided.

    Attributes:
        kind: a node, a rank of it, the link of two ranks, or all pairs of a path, which are slower than expected.
        fault: a slow path; late, with the smallest messages, too; or wrong data.
        path: where it shows; None where that does not matter.
        slowness: time over that of healthy pairs (1 = as fast); of late ranks 1 + lateness over the call's time; of
            all pairs time over the expected one.
        interval: 95 %.
    """

    kind: Literal["node", "rank", "link", "all"]
    fault: Literal["slow", "late", "wrong"]
    path: Literal["between", "inside", "both"] | None
    ranks: tuple[int, ...]
    hosts: tuple[str, ...]
    slowness: float | None
    interval: tuple[float, float] | None
    tests: int
    retests: int
    partners: tuple[int, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """What the tests show.

    Attributes:
        suspects, links: what should be tested again, by path: ranks, and pairs of ranks.
        undecided: ranks that are neither shown slow nor shown fine; more tests may tell.
        reference: seconds of a healthy pair, by path.
        without_reference: paths with nothing to compare: two nodes, or one pair.
        untimed: paths where a message took hardly longer than the smallest one: no bandwidth shows, nobody is judged.
    """

    culprits: tuple[Finding, ...]
    open: tuple[Finding, ...]
    suspects: dict[PathKind, tuple[int, ...]]
    links: dict[PathKind, tuple[tuple[int, int], ...]]
    undecided: dict[PathKind, tuple[int, ...]]
    reference: dict[PathKind, float]
    scale: dict[PathKind, float]
    without_reference: tuple[PathKind, ...]
    untimed: tuple[PathKind, ...] = ()

    @property
    def wants_more(self) -> bool:
        """Whether more tests could tell more."""
        return any(any(each.values()) for each in (self.suspects, self.links, self.undecided))


@dataclass
class Draft:
    """Culprits, and what could not be decided, while they are being found."""

    culprits: list[Finding] = field(default_factory=list)
    open: list[Finding] = field(default_factory=list)
