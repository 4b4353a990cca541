"""The verdict on a run's tests, in words that a program can branch on."""

import re
from typing import Literal

from commbench.judging.culprits import find_culprits
from commbench.judging.findings import Verdict
from commbench.judging.pair_times import PairTimes
from commbench.pairing.reading import Pairs
from commbench.pairing.records import PairRecord

Outcome = Literal["healthy", "culprit", "could not tell"]
EXIT_CODES: dict[Outcome, int] = {"healthy": 0, "culprit": 1, "could not tell": 3}

_GONE = re.compile(r"rank (\d+) on (\S+)")


def judged(pairs: Pairs) -> Verdict:
    """Who is the culprit, from all tests of a run."""
    tests = [_tested(each) for each in pairs.tests]
    rate = pairs.header.expected_bytes_per_second
    expected = None if rate is None else pairs.header.message_bytes / rate
    return find_culprits(tests, pairs.header.hosts, pairs.header.tolerance, expected)


def _tested(each: PairRecord) -> PairTimes:
    return PairTimes(each.path, each.ranks, each.seconds, each.small_seconds, each.wrong, each.retest)


def path_seconds(each: PairRecord) -> float | None:
    """What the bytes of a message took on a pair's path (s), or the whole call where that is too little to show.

    None where the clock could not tell the call from nothing.
    """
    test = _tested(each)
    return test.path_seconds or test.call_seconds or None


def outcome(pairs: Pairs, verdict: Verdict) -> Outcome:
    """Healthy only where every rank was shown to be fine."""
    if verdict.culprits or dead(pairs):
        return "culprit"
    undecided = verdict.open or verdict.wants_more or verdict.without_reference or verdict.untimed
    return "could not tell" if undecided or pairs.status != "complete" or untested(pairs) else "healthy"


def untested(pairs: Pairs) -> tuple[int, ...]:
    """Ranks that were in no test, so that nothing is known about them."""
    tested = {rank for test in pairs.tests for rank in test.ranks}
    return tuple(rank for rank in range(pairs.header.world_size) if rank not in tested)


def dead(pairs: Pairs) -> tuple[tuple[int, str], ...]:
    """Ranks, with their hosts, whose death or silence ended the run, as its last record says."""
    if pairs.status != "aborted" or pairs.end is None:
        return ()
    found = _GONE.findall((pairs.end.reason or "").partition(" (a rank does not answer")[0])
    hosts = pairs.header.hosts
    return tuple((int(rank), host) for rank, host in found if int(rank) < len(hosts) and hosts[int(rank)] == host)
