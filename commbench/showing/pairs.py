"""What a test of pairs found, for a person and for programs."""

from collections import defaultdict
from collections.abc import Sequence
from statistics import median
from typing import Any

import msgspec

from commbench.judging.culprits import FEWEST_NODES
from commbench.judging.endpoints import FALSE_ALARMS, MISSES
from commbench.judging.findings import Finding, Verdict
from commbench.pairing.judged import dead, outcome, path_seconds, untested
from commbench.pairing.reading import Pairs
from commbench.showing.heading import clean
from commbench.showing.training import filled, page
from commbench.units import format_rate, format_seconds, format_size

LARGEST_MATRIX = 256  # ranks; above, a matrix is mostly empty and the sparse list says the same
_FEW = 8  # names in a list before it is cut
_WORDS = {"late": "is late", "wrong": "has wrong results"}


def to_json(pairs: Pairs, verdict: Verdict) -> str:
    """The document as strict, indented JSON."""
    return msgspec.json.format(msgspec.json.encode(pairs_document(pairs, verdict)), indent=2).decode() + "\n"


def pairs_document(pairs: Pairs, verdict: Verdict) -> dict[str, Any]:
    """Verdict, culprits with their evidence, and every pair. Units stand in the names; slowness 1 is as fast."""
    header = pairs.header
    tested = _by_pair(pairs)
    gone = [
        {"kind": "rank", "fault": "dead", "path": None, "name": _rank(rank, pairs),
         "hosts": [host], "ranks": [rank], "slowness": None, "interval": None, "tests": 0, "retests": 0, "partners": [],
         "evidence": pairs.end.reason if pairs.end else None}
        for rank, host in dead(pairs)
    ]  # fmt: skip
    return {
        "verdict": outcome(pairs, verdict),
        "sentence": sentence(pairs, verdict),
        "culprits": [*gone, *(_document(each, pairs, verdict) for each in verdict.culprits)],
        "open": [_document(each, pairs, verdict) for each in verdict.open],
        "status": pairs.status,
        "reason": pairs.end.reason if pairs.end else None,
        "backend": header.backend,
        "environment": header.environment,
        "world_size": header.world_size,
        "message_bytes": header.message_bytes,
        "reference": {path: _reference(path, header.message_bytes, verdict) for path in ("between", "inside")},
        "tolerance": header.tolerance,
        "expected_bytes_per_second": header.expected_bytes_per_second,
        "false_alarms": FALSE_ALARMS,
        "misses": MISSES,
        "matrix": _matrix(tested, pairs) if header.world_size <= LARGEST_MATRIX else None,
        "pairs": [
            {"ranks": list(ranks), "path": path, "seconds": seconds,
             "bus_bytes_per_second": header.message_bytes / seconds if seconds else None, "tests": tests}
            for ranks, (path, seconds, tests) in sorted(tested.items())
        ],
    }  # fmt: skip


def draw_pairs(pairs: Pairs, verdict: Verdict) -> str:
    """The verdict, who and why, what is open, and what healthy pairs carry."""
    header = pairs.header
    nodes = len(set(header.hosts))
    again = sum(test.retest for test in pairs.tests)
    where = f"{header.world_size} ranks on {nodes} node{'s' * (nodes > 1)}, {header.backend or 'no backend named'}"
    what = f"all_reduce of {format_size(header.message_bytes)}"
    tests = f"{len(pairs.tests)} tests of {len(_by_pair(pairs))} pairs, {again} of them again"
    lines = [f"verdict    {sentence(pairs, verdict)}", f"tested     {where}, {what}: {tests}"]
    for path, seconds in verdict.reference.items():
        rate = format_rate(header.message_bytes / seconds)
        lines.append(f"{path:<9}  healthy pairs take {format_seconds(seconds)} ({rate}), "
                     f"tests scatter by {100 * verdict.scale[path]:.1f} %")  # fmt: skip
    lines.append(
        f"certainty  at most {100 * FALSE_ALARMS:g} % of runs name anybody without a fault; a node that is slower by "
        f"{100 * header.tolerance:g} % or more is called healthy in at most {100 * MISSES:g} %"
    )
    for named, findings in ((True, verdict.culprits), (False, verdict.open)):
        if findings:
            title = "CULPRITS" if named else "not decided"
            rows = [
                (name(each, pairs), _said(each, named), *_figures(each), evidence(each, pairs, verdict))
                for each in findings
            ]
            lines += [
                "",
                title,
                page(filled(("who", "what", "times", "95 %", "evidence"), rows, right={2})).rstrip("\n"),
            ]
    lines += ["", *_notes(pairs, verdict)] if _notes(pairs, verdict) else []
    return "\n".join(clean(line) for text in lines for line in text.split("\n")) + "\n"


def sentence(pairs: Pairs, verdict: Verdict) -> str:
    """The verdict in one line."""
    gone = [f"rank {rank} on {host} is gone" for rank, host in dead(pairs)]
    named = [f"{name(each, pairs)} {fault(each)}" for each in verdict.culprits]
    match outcome(pairs, verdict):
        case "culprit":
            return clean(f"culprit: {_list([*gone, *named], '; ')}")
        case "healthy":
            rate = pairs.header.expected_bytes_per_second
            asked = f", or than the expected {format_rate(rate)}," if rate is not None else ""
            return f"healthy: nobody is slower than the others{asked} by {100 * pairs.header.tolerance:g} % or more"
    if not pairs.tests:
        return "could not tell: nothing was tested"
    reasons = [f"whether {name(each, pairs)} {fault(each)}" for each in verdict.open]
    reasons += _no_reference(verdict)
    reasons += [f"{_rank(rank, pairs)} was in no test" for rank in untested(pairs)]
    if pairs.status != "complete":
        reasons.append(f"the run was {pairs.status}")
    return clean(f"could not tell: {_list(reasons, '; ')}")


def name(finding: Finding, pairs: Pairs) -> str:
    """The culprit's name: a node, a rank with its node, the link of two, or every pair."""
    if finding.kind == "all":
        return {"between": "every pair between nodes", "inside": "every pair inside nodes"}.get(
            finding.path or "", "every pair"
        )
    if finding.kind == "node":
        return finding.hosts[0]
    if finding.kind == "link":
        return "link of " + " and ".join(_rank(rank, pairs) for rank in finding.ranks)
    return _rank(finding.ranks[0], pairs)


def fault(finding: Finding) -> str:
    """What is wrong, in words."""
    if finding.fault != "slow":
        return _WORDS[finding.fault]
    where = {"between": "to other nodes", "inside": "inside its node", "both": "everywhere"}[finding.path or "both"]
    return "is slow" if finding.kind in ("link", "all") else f"is slow {where}"


def evidence(finding: Finding, pairs: Pairs, verdict: Verdict) -> str:
    """How it is known: tests, partners, and what the path carries."""
    partners = _list([_rank(rank, pairs) for rank in finding.partners], ", ")
    met = f" with {partners}" if partners else ""
    tests = f"{finding.tests} test{'s' * (finding.tests != 1)}{met}, {finding.retests} of them again"
    rate = pairs.header.expected_bytes_per_second
    if finding.kind == "all" and finding.slowness and rate is not None:
        return f"{tests}; {format_rate(rate / finding.slowness)} where {format_rate(rate)} are expected"
    reference = verdict.reference.get("inside" if finding.path == "inside" else "between")
    if finding.fault == "slow" and finding.slowness and reference:
        healthy = pairs.header.message_bytes / reference
        return f"{tests}; {format_rate(healthy / finding.slowness)} where healthy pairs carry {format_rate(healthy)}"
    if finding.fault == "late" and finding.slowness and reference:
        return f"{tests}; {format_seconds((finding.slowness - 1) * reference)} more with the smallest message, too"
    return tests


def _said(finding: Finding, named: bool) -> str:
    return fault(finding) if named else f"not shown: {fault(finding)}, or healthy"


def _document(finding: Finding, pairs: Pairs, verdict: Verdict) -> dict[str, Any]:
    return {
        **{key: getattr(finding, key) for key in ("kind", "fault", "path")},
        "name": name(finding, pairs),
        **{key: getattr(finding, key) for key in
           ("hosts", "ranks", "slowness", "interval", "tests", "retests", "partners")},
        "evidence": evidence(finding, pairs, verdict),
    }  # fmt: skip


def _figures(finding: Finding) -> tuple[str, str]:
    if finding.slowness is None or finding.interval is None:
        return "", ""
    return f"{finding.slowness:.2f}", f"{finding.interval[0]:.2f} - {finding.interval[1]:.2f}"


def _notes(pairs: Pairs, verdict: Verdict) -> list[str]:
    notes = _no_reference(verdict)
    if any(test.wrong is None for test in pairs.tests):
        notes.append("nobody checked the results (-c 0)")
    if not pairs.header.all_pairs and verdict.culprits == () and len(set(pairs.header.hosts)) > FEWEST_NODES:
        notes.append("links are judged where they were tested; --all-pairs tests every one")
    if verdict.open and not verdict.culprits:
        notes.append("more samples (-n), a quieter machine or a larger --tolerance may decide what is open")
    return [f"note: {each}" for each in notes]


def _no_reference(verdict: Verdict) -> list[str]:
    words = {
        "between": "with fewer than three nodes nobody can tell which one is slow, or whether all are",
        "inside": "one pair of ranks has no other to be compared with",
    }
    untimed = [
        f"{path} nodes the message took hardly longer than the smallest one (a larger -b)" for path in verdict.untimed
    ]
    return [*(words[path] for path in verdict.without_reference), *untimed]


def _rank(rank: int, pairs: Pairs) -> str:
    host = pairs.header.hosts[rank]
    return host if _alone(pairs, host) else f"rank {rank} (place {pairs.header.local_ranks[rank]} on {host})"


def _alone(pairs: Pairs, host: str) -> bool:
    return pairs.header.hosts.count(host) == 1


def _list(words: Sequence[str], between: str) -> str:
    more = f"{between}and {len(words) - _FEW} more" if len(words) > _FEW else ""
    return between.join(words[:_FEW]) + more


def _reference(path: str, message_bytes: int, verdict: Verdict) -> dict[str, float] | None:
    seconds = {str(key): value for key, value in verdict.reference.items()}.get(path)
    return None if seconds is None else {"seconds": seconds, "bus_bytes_per_second": message_bytes / seconds}


def _by_pair(pairs: Pairs) -> dict[tuple[int, int], tuple[str, float | None, int]]:
    """Path, median seconds (None where the clock saw none) and tests of each pair."""
    values: dict[tuple[int, int], list[float | None]] = defaultdict(list)
    paths: dict[tuple[int, int], str] = {}
    for test in pairs.tests:
        a, b = sorted(test.ranks)
        values[a, b].append(path_seconds(test))
        paths[a, b] = test.path
    return {ranks: (paths[ranks], _middle(each), len(each)) for ranks, each in values.items()}


def _middle(values: Sequence[float | None]) -> float | None:
    shown = [value for value in values if value is not None]
    return median(shown) if shown else None


def _matrix(tested: dict[tuple[int, int], tuple[str, float | None, int]], pairs: Pairs) -> dict[str, Any]:
    size = pairs.header.world_size
    seconds: list[list[float | None]] = [[None] * size for _ in range(size)]
    for (a, b), (_, value, _) in tested.items():
        seconds[a][b] = seconds[b][a] = value
    rates = [[None if value is None else pairs.header.message_bytes / value for value in row] for row in seconds]
    return {"hosts": list(pairs.header.hosts), "seconds": seconds, "bus_bytes_per_second": rates}
