"""Who is the culprit: nodes, ranks (GPUs) or links, from the times of pairs of ranks. A function of numbers only."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import exp, log, log1p

from commbench.judging.endpoints import Judged, Trial, judge
from commbench.judging.findings import Draft, Finding, Verdict
from commbench.judging.pair_times import PATHS, PairTimes, PathKind
from commbench.judging.slow_paths import find_slow, is_as_expected

FEWEST_NODES = 3  # of two nodes nobody can tell which one is slow, nor whether both are

LATE = 0.1
"""Share of a call's time by which a rank must be late to be named: less moves no bandwidth that a user would see."""

_MOST_LOST = 0.25  # share of tests without a time: the reference comes from the fastest, and must not be made of them


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
    draft = Draft()
    _wrong(tests, hosts, draft)
    for path, found in judged.items():
        find_slow(path, found, hosts, draft)
    for path, found_late in late.items():
        _late(path, found_late, hosts, draft)
    kept = (
        []
        if expected is None
        else [
            path
            for path, found in judged.items()
            if is_as_expected(path, found, trials[path], expected, tolerance, hosts, draft)
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


def _lateness(tests: Sequence[PairTimes], call: float) -> Judged | None:
    """Members that are late, in shares of a call's seconds.

    Lateness adds the same to a message of any size, a slow path nothing to the smallest.
    """
    return judge(
        [Trial(*test.ranks, small / call, test.retest) for test in tests if (small := test.small_seconds) is not None],
        LATE,
    )


def _late(path: PathKind, found: Judged | None, hosts: Sequence[str], draft: Draft) -> None:
    """Shown late, or looking it; scatter of small calls alone is no finding."""
    for rank, each in (found.members if found else {}).items():
        if each.status in ("slow", "suspect"):
            finding = Finding(
                "rank", "late", path, (rank,), (hosts[rank],), 1 + each.slowness,
                (1 + each.interval[0], 1 + each.interval[1]), each.tests, each.retests, each.partners,
            )  # fmt: skip
            (draft.culprits if each.status == "slow" else draft.open).append(finding)


def _wrong(tests: Sequence[PairTimes], hosts: Sequence[str], draft: Draft) -> None:
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
