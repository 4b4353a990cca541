"""Who is the culprit: nodes, ranks (GPUs) or links, from the times of pairs of ranks. A function of numbers only.

What is slow with every good partner is slow itself; what is slow with one partner is the link to it. A node is named
where its ranks are slow together, a rank where it is slow alone.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import exp, log, log1p
from typing import Literal, NamedTuple

from commbench.judging.endpoints import Estimate, Judged, Trial, judge, lower_quarter
from commbench.judging.expected_rate import against_expected

PathKind = Literal["between", "inside"]
Samples = tuple[Sequence[float], Sequence[float]]
PATHS: tuple[PathKind, ...] = ("between", "inside")
FEWEST_NODES = 3  # of two nodes nobody can tell which one is slow, nor whether both are

LATE = 0.1
"""Share of a call's time by which a rank must be late to be named: less moves no bandwidth that a user would see."""

_SHOWS = 0.1  # share of a test's time that its bytes must take: less is lost in how the smallest messages scatter
_MOST_LOST = 0.25  # share of such tests: the reference comes from the fastest ones, and must not be made of them


class PairTimes(NamedTuple):
    """One test of two ranks.

    Attributes:
        seconds: each one's own time of the message in every sample.
        small: the same of a message so small that no bandwidth shows in it; None: not measured.
        wrong: wrong elements that each found; None: nobody looked.
    """

    path: PathKind
    ranks: tuple[int, int]
    seconds: Samples
    small: Samples | None = None
    wrong: tuple[int, int] | None = None
    retest: bool = False

    @property
    def call_seconds(self) -> float:
        """What the message took on who entered last; the lower quartile."""
        return lower_quarter(map(min, *self.seconds))

    @property
    def path_seconds(self) -> float | None:
        """What the bytes took: without what the smallest message takes, too. None where that is too little to show.

        Of each sample the rank counts that entered last, because it waited for nobody. Of the samples it is the lower
        quartile: other work on a host makes half of them longer long before it reaches the fastest quarter.
        """
        whole = self.call_seconds
        waits = lower_quarter(map(min, *self.small)) if self.small else 0.0
        return whole - waits if whole - waits > _SHOWS * whole else None

    @property
    def small_seconds(self) -> float | None:
        """What the smallest message took on the slower of both ranks; the lower quartile."""
        return lower_quarter(map(max, *self.small)) if self.small else None


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
class _Draft:
    culprits: list[Finding] = field(default_factory=list)
    open: list[Finding] = field(default_factory=list)


def find_culprits(
    tests: Sequence[PairTimes], hosts: Sequence[str], tolerance: float, expected: float | None = None
) -> Verdict:
    """Name who is slow, late or wrong.

    Args:
        hosts: of each rank.
        tolerance: share by which a healthy path may be slower than the others.
        expected: seconds that a healthy path should take; None where pairs are only compared with each other.
    """
    untimed = tuple(path for path in PATHS if _untimed([test for test in tests if test.path == path]))
    trials = {
        path: [] if path in untimed else list(_logged(test for test in tests if test.path == path)) for path in PATHS
    }
    judged = {path: found for path in PATHS if (found := judge(trials[path], log1p(tolerance))) is not None}
    late = {path: _lateness([test for test in tests if test.path == path], exp(found.reference))
            for path, found in judged.items()}  # fmt: skip
    draft = _Draft()
    _wrong(tests, hosts, draft)
    for path, found in judged.items():
        _slow(path, found, hosts, draft)
    for path, found_late in late.items():
        _late(path, found_late, hosts, draft)
    kept = (
        []
        if expected is None
        else [
            path
            for path, found in judged.items()
            if _as_expected(path, found, trials[path], expected, tolerance, hosts, draft)
        ]
    )
    without = tuple(path for path in judged if _without_reference(path, tests, hosts) and path not in kept)
    suspects = {
        path: tuple(sorted({*_members(found, "suspect"), *(_members(late_found, "suspect") if late_found else ())}))
        for path, found in judged.items()
        for late_found in (late[path],)
    }
    return Verdict(
        culprits=tuple(_merged(draft.culprits)), open=tuple(draft.open), suspects=suspects,
        links={path: tuple(link for link, each in found.links.items() if each.status in ("suspect", "open"))
               for path, found in judged.items()},
        undecided={path: _members(found, "open") for path, found in judged.items()},
        reference={path: exp(found.reference) for path, found in judged.items()},
        scale={path: found.scale for path, found in judged.items()},
        without_reference=without,
        untimed=untimed,
    )  # fmt: skip


def _logged(tests: Iterable[PairTimes]) -> Iterator[Trial]:
    """The tests that show what the bytes took."""
    for test in tests:
        if (seconds := test.path_seconds) is not None:
            yield Trial(*test.ranks, log(seconds), test.retest)


def _members(found: Judged, status: str) -> tuple[int, ...]:
    return tuple(member for member, each in found.members.items() if each.status == status)


def _untimed(tests: Sequence[PairTimes]) -> bool:
    return sum(test.path_seconds is None for test in tests) > _MOST_LOST * len(tests)


def _without_reference(path: PathKind, tests: Sequence[PairTimes], hosts: Sequence[str]) -> bool:
    pairs = {tuple(sorted(test.ranks)) for test in tests if test.path == path}
    nodes = {hosts[rank] for pair in pairs for rank in pair}
    return len(pairs) < 2 or (path == "between" and len(nodes) < FEWEST_NODES)


def _slow(path: PathKind, found: Judged, hosts: Sequence[str], draft: _Draft) -> None:
    """Findings of one path, from its members and links."""
    of_host: dict[str, list[int]] = defaultdict(list)
    for rank in found.members:
        of_host[hosts[rank]].append(rank)
    for host, ranks in of_host.items():
        for status, into in (("slow", draft.culprits), ("open", draft.open), ("suspect", draft.open)):
            bad = [rank for rank in ranks if found.members[rank].status == status]
            if not bad:
                continue
            together = len(ranks) == 1 or (len(bad) > 1 and 2 * len(bad) >= len(ranks))
            if path == "inside" and len(ranks) == 2 and len(bad) == 2:
                into.append(_finding("link", path, bad, (host,), [found.members[rank] for rank in bad]))
            elif path == "between" and not any(found.members[rank].anchored for rank in bad):
                _unanchored(path, found, bad, hosts, draft)
            elif together:
                into.append(_finding("node", path, bad, (host,), [found.members[rank] for rank in bad]))
            else:
                into += [_finding("rank", path, [rank], (host,), [found.members[rank]]) for rank in bad]
    for link, each in found.links.items():
        if each.status == "fine":
            continue
        into = draft.culprits if each.status == "slow" else draft.open
        into.append(_finding("link", path, link, tuple(dict.fromkeys(hosts[rank] for rank in link)), [each]))


def _unanchored(path: PathKind, found: Judged, bad: Sequence[int], hosts: Sequence[str], draft: _Draft) -> None:
    """Slow ranks that met no good one: with a single partner the link is named, else nobody can tell."""
    for rank in bad:
        own = found.members[rank]
        pair = tuple(sorted((rank, *own.partners)))
        if len(pair) == 2 and found.members[pair[0]].status == found.members[pair[1]].status:
            if rank == pair[0]:
                into = draft.culprits if own.status == "slow" else draft.open
                into.append(_finding("link", path, pair, tuple(hosts[end] for end in pair), [own]))
        else:
            draft.open.append(_finding("rank", path, [rank], (hosts[rank],), [own]))


def _as_expected(
    path: PathKind, found: Judged, trials: Sequence[Trial], expected: float, tolerance: float, hosts: Sequence[str],
    draft: _Draft,
) -> bool:  # fmt: skip
    """Whether healthy pairs take no longer than expected; a finding where they do, or nobody can tell."""
    held = against_expected(found, trials, log(expected), log1p(tolerance))
    if held.status != "fine":
        ranks = tuple(found.members)
        finding = Finding(
            "all", "slow", path, ranks, tuple(dict.fromkeys(hosts[rank] for rank in ranks)), exp(held.slowness),
            (exp(held.interval[0]), exp(held.interval[1])), held.tests, sum(trial.retest for trial in trials),
        )  # fmt: skip
        (draft.culprits if held.status == "slow" else draft.open).append(finding)
    return held.status == "fine"


def _finding(
    kind: Literal["node", "rank", "link"], path: PathKind, ranks: Sequence[int], hosts: tuple[str, ...],
    estimates: Sequence[Estimate],
) -> Finding:  # fmt: skip
    middle = sorted(estimates, key=lambda each: each.slowness)[len(estimates) // 2]
    partners = sorted({partner for each in estimates for partner in each.partners} - set(ranks))
    return Finding(
        kind, "slow", path, tuple(ranks), hosts, exp(middle.slowness),
        (exp(middle.interval[0]), exp(middle.interval[1])),
        sum(each.tests for each in estimates), sum(each.retests for each in estimates), tuple(partners),
    )  # fmt: skip


def _lateness(tests: Sequence[PairTimes], call: float) -> Judged | None:
    """Members that are late, in shares of a call's seconds.

    Lateness adds the same to a message of any size, a slow path nothing to the smallest.
    """
    return judge(
        [Trial(*test.ranks, small / call, test.retest) for test in tests if (small := test.small_seconds) is not None],
        LATE,
    )


def _late(path: PathKind, found: Judged | None, hosts: Sequence[str], draft: _Draft) -> None:
    """Shown late, or looking it; scatter of small calls alone is no finding."""
    for rank, each in (found.members if found else {}).items():
        if each.status in ("slow", "suspect"):
            finding = Finding(
                "rank", "late", path, (rank,), (hosts[rank],), 1 + each.slowness,
                (1 + each.interval[0], 1 + each.interval[1]), each.tests, each.retests, each.partners,
            )  # fmt: skip
            (draft.culprits if each.status == "slow" else draft.open).append(finding)


def _wrong(tests: Sequence[PairTimes], hosts: Sequence[str], draft: _Draft) -> None:
    """Wrong data: the rank that has them with most of its partners, else the link."""
    looked: dict[int, set[int]] = defaultdict(set)
    found: dict[int, set[int]] = defaultdict(set)
    for test in tests:
        if test.wrong is None:
            continue
        for rank, partner in (test.ranks, test.ranks[::-1]):
            looked[rank].add(partner)
            if any(test.wrong):
                found[rank].add(partner)
    guilty = {rank for rank, partners in found.items() if len(partners) > 1 and 2 * len(partners) > len(looked[rank])}
    for rank in sorted(guilty):
        draft.culprits.append(Finding("rank", "wrong", None, (rank,), (hosts[rank],), None, None, len(looked[rank]), 0,
                                      tuple(sorted(found[rank]))))  # fmt: skip
    links = {(rank, partner) for rank, partners in found.items() for partner in partners if rank < partner}
    for link in sorted(links):
        if not guilty & set(link):
            ends = tuple(dict.fromkeys(hosts[rank] for rank in link))
            draft.culprits.append(Finding("link", "wrong", None, link, ends, None, None, 1, 0))


def _merged(findings: Sequence[Finding]) -> list[Finding]:
    """A rank that is slow inside its node and between nodes is one culprit."""
    merged: dict[tuple[object, ...], Finding] = {}
    for each in findings:
        key = (each.kind, each.fault, each.ranks, each.hosts, each.path if each.kind == "all" else None)
        before = merged.get(key)
        merged[key] = each if before is None else replace(
            max(before, each, key=lambda one: one.slowness or 0.0), path="both",
            tests=before.tests + each.tests, retests=before.retests + each.retests,
            partners=tuple(sorted({*before.partners, *each.partners})),
        )  # fmt: skip
    return sorted(merged.values(), key=lambda one: -(one.slowness or float("inf")))
