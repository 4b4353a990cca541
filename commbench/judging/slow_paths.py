"""Slow nodes, ranks and links of one path.

What is slow with every good partner is slow itself; what is slow with one partner is the link to it. A node is named
where its ranks are slow together, a rank where it is slow alone.
"""

from collections import defaultdict
from collections.abc import Sequence
from math import exp, log, log1p
from typing import Literal

from commbench.judging.endpoints import Estimate, Judged, Trial
from commbench.judging.expected_rate import against_expected
from commbench.judging.findings import Draft, Finding
from commbench.judging.pair_times import PathKind


def find_slow(path: PathKind, found: Judged, hosts: Sequence[str], draft: Draft) -> None:
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


def _unanchored(path: PathKind, found: Judged, bad: Sequence[int], hosts: Sequence[str], draft: Draft) -> None:
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


def is_as_expected(
    path: PathKind, found: Judged, trials: Sequence[Trial], expected: float, tolerance: float, hosts: Sequence[str],
    draft: Draft,
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
