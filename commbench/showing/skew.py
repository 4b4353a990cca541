"""Doubts about ranks: who entered late, who is slow, and worlds that are no worlds.

In a collective that synchronises nobody leaves before everybody has entered. Its fastest rank is therefore the one
that entered last, and the gap is time the others waited: entry skew, not transport. Unless they left at different
times, which a row says (`skew`): then the slowest rank is slow. In the others a rank that is slowest in most samples
is slow itself, unless the operation makes it so: a reduce ends at its root, a broadcast
begins there.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from commbench.showing.rows import Row
from commbench.showing.warning import ResultWarning, of, percent
from commbench.sweepfile.reader import Sweep

LATE = 0.5  # the time is then mostly waiting
SLOW = 0.2  # above the entry skew that ordinary launches leave
SLOW_GROUP = 1.2

NAMED = 2  # ranks that a warning of a kind is given for

_ENDS_AT_ROOT = ("reduce", "gather")
_BEGINS_AT_ROOT = ("broadcast", "scatter")


def skew(sweep: Sweep, rows: Sequence[Row]) -> Iterator[ResultWarning]:
    """The warnings about ranks."""
    if sweep.header.settings.get("shared_device") is True:
        yield ResultWarning(
            "shared-device",
            "several ranks share one GPU: times are time slices, not a link",
            "the GPU runs one rank's kernels after the other's, so neither latency nor bandwidth means anything",
            "use such a run to test that things work; measure with one GPU a rank",
        )
    if sweep.header.world_size == 1 and rows:
        yield ResultWarning(
            "single-rank",
            "one rank: busbw is 0, because nothing crosses a link",
            "the times are copies within one device and launches; N runs of one rank are no run of N ranks either",
            "start more ranks (torchrun --nproc-per-node=N); if you did, the launcher did not join them into one world",
        )
    late = [row for row in rows if _is_late(row)]
    yield from _late(late, rows)
    yield from _slow([row for row in rows if _is_slow(row) and not _is_late(row)], rows)
    yield from _slow_group(sweep, rows)


def _is_late(row: Row) -> bool:
    apart = row.synchronises and row.fastest_rank is not None and row.skew != "exit"
    return apart and (row.gap_share or 0.0) > LATE


def _is_slow(row: Row) -> bool:
    if row.slowest_rank is None or row.skew == "entry" or (row.gap_share or 0.0) <= SLOW:
        return False
    if row.collective in _ENDS_AT_ROOT:
        return row.slowest_rank != row.root
    return not (row.collective in _BEGINS_AT_ROOT and row.fastest_rank == row.root)


def _late(late: Sequence[Row], rows: Sequence[Row]) -> Iterator[ResultWarning]:
    for rank, its in _by_rank(late, [row.fastest_rank for row in late]):
        worst = max(its, key=lambda row: row.gap_share or 0.0)
        yield ResultWarning(
            "late-entry",
            f"rank {rank} entered late in "
            f"{of(its, len(rows))} (worst: {worst.words}, {percent(worst.gap_share or 0.0)} of the time is waiting)",
            "nobody can leave such a collective before everybody has entered, so the rank that is in it for the "
            "shortest time came last; the time is the host's, not the link's",
            "look at that rank's host: other processes, CPU binding, clocks; pipelined and graph mode hide the host",
        )


def _slow(slow: Sequence[Row], rows: Sequence[Row]) -> Iterator[ResultWarning]:
    for rank, its in _by_rank(slow, [row.slowest_rank for row in slow]):
        worst = max(its, key=lambda row: row.gap_share or 0.0)
        yield ResultWarning(
            "slow-rank",
            f"rank {rank} was slowest in most samples of {of(its, len(rows))}, by more than {percent(SLOW)} "
            f"(worst: {worst.words}, {percent(worst.gap_share or 0.0)})",
            "a collective is as fast as its slowest rank",
            "look at that rank's host, device and link: other processes, clocks, throttling, error counters, its place "
            "in the topology",
        )


def _by_rank(rows: Sequence[Row], ranks: Sequence[int | None]) -> list[tuple[int, list[Row]]]:
    """The rows of each rank, for the ranks that are named most often: more names would accuse everybody."""
    counted = Counter(rank for rank in ranks if rank is not None)
    return [
        (rank, [row for row, of_row in zip(rows, ranks, strict=True) if of_row == rank])
        for rank, _ in sorted(counted.most_common(NAMED), key=lambda entry: (-entry[1], entry[0]))
    ]


def _slow_group(sweep: Sweep, rows: Sequence[Row]) -> Iterator[ResultWarning]:
    ratios = [
        (max(row.group_seconds) / middle, int(np.argmax(row.group_seconds)), row)
        for row in rows
        if len(row.group_seconds) > 1 and (middle := float(np.median(row.group_seconds))) > 0.0
    ]
    slow = [entry for entry in ratios if entry[0] > SLOW_GROUP]
    if slow:
        ratio, group, worst = max(slow, key=lambda entry: entry[0])
        groups = sweep.header.groups
        members = f" (ranks {', '.join(map(str, groups[group]))})" if groups and group < len(groups) else ""
        yield ResultWarning(
            "slow-group",
            f"one group took more than {SLOW_GROUP} times the median group in "
            f"{of([row for *_, row in slow], len(rows))} "
            f"(worst: {worst.words}, group {group}{members}, {ratio:.1f} times)",
            "groups that run at once share switches and hosts; a row shows the slowest of them",
            "run that group alone: if it is slow then, the fault is in it; if not, it is in what the groups share",
        )
