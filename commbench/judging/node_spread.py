"""How far the slowest node is from the others: the same measurement on each node by itself.

Nodes are units on different hosts (one sweep a node), or the groups of one sweep (`--groups`: all nodes at once).
"""

from collections.abc import Iterator, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from commbench.judging.estimates import Estimate, Sureness, time_of
from commbench.judging.limits import LaunchSpread, Limit
from commbench.judging.units import Unit, launches_of, wanted_sizes
from commbench.sweepfile.curves import CurveKey, Launch
from commbench.sweepfile.records import Measurement
from commbench.sweepfile.sets import SetKey

_SHORTEST = 1e-9  # seconds; a clock that says 0 cannot tell less


class NodeSpread(NamedTuple):
    """The slowest node's time over the median node's, less 1, at one size of one curve."""

    key: CurveKey
    message_bytes: int
    estimate: Estimate
    slowest: str
    nodes: int


class _Node(NamedTuple):
    name: str
    launches: tuple[Launch, ...]


def node_spreads(units: Sequence[Unit], limit: Limit, sure: Sureness) -> Iterator[NodeSpread]:
    """At each size that at least two nodes have, in the order of the first node's curves and sizes."""
    for some in _comparable(units):
        for (key, size), nodes in _nodes(some, limit).items():
            if len(nodes) >= 2:
                yield _spread(key, size, nodes, sure, limit)


def unmeasured(units: Sequence[Unit], limit: Limit) -> Iterator[tuple[CurveKey, int, tuple[str, ...]]]:
    """The sizes of a limit that a node lacks, with the names of these nodes: the slowest one may be among them."""
    for some in _comparable(units):
        curves = [unit.curves(limit) for unit in some]
        for key in dict.fromkeys(key for keys in curves for key in keys):
            for size in wanted_sizes(limit):
                names = tuple(
                    unit.name or "any node"
                    for unit, keys in zip(some, curves, strict=True)
                    if key not in keys or unit.size_near(key, size) is None
                )
                if names:
                    yield key, size, names


def _comparable(units: Sequence[Unit]) -> list[list[Unit]]:
    """Units that differ in their nodes: all, or those of each setting where a node was measured in several.

    A unit whose hosts nobody states may be any node, so it is none.
    """
    placed = [unit for unit in units if unit.hosts is not None or unit.key.groups > 1]
    if len({unit.hosts for unit in placed}) == len(placed):
        return [placed]
    settings: dict[SetKey, list[Unit]] = {}
    for unit in placed:
        settings.setdefault(unit.key, []).append(unit)
    return list(settings.values())


def _nodes(units: Sequence[Unit], limit: Limit) -> dict[tuple[CurveKey, int], list[_Node]]:
    first, last = limit.sizes or (0, 0)
    wanted = wanted_sizes(limit)
    found: dict[tuple[CurveKey, int], list[_Node]] = {}
    for unit in units:
        for key in unit.curves(limit):
            near = {unit.size_near(key, size) for size in wanted}
            for size, measurements in sorted(unit.points[key].items()):
                if first <= size <= last or size in near:
                    found.setdefault((key, size), []).extend(_of_unit(unit, measurements))
    return found


def _of_unit(unit: Unit, measurements: Sequence[Measurement]) -> list[_Node]:
    if unit.key.groups == 1:
        return [_Node(unit.name or "the only node", launches_of(measurements))] if any(measurements[0].seconds) else []
    groups = unit.sweeps[0].header.groups or ()
    return [
        _Node(
            f"group {place} (ranks {ranks[0]} to {ranks[-1]})" if ranks else f"group {place}",
            tuple(
                Launch(m.sweep, m.cycle, m.group_seconds[place], m.statistic)
                for m in measurements
                if m.group_seconds is not None and place < len(m.group_seconds) and m.group_seconds[place]
            ),
        )
        for place, ranks in enumerate(groups)
        if all(m.group_seconds is not None for m in measurements)
    ]


def _spread(key: CurveKey, size: int, nodes: Sequence[_Node], sure: Sureness, limit: Limit) -> NodeSpread:
    # The slowest of many healthy nodes is slow by chance, too: its interval is widened to hold for each of them.
    each = sure._replace(confidence=1.0 - (1.0 - sure.confidence) / len(nodes))
    times = np.array([time_of(node.launches, sure, None).value for node in nodes])
    worst = int(np.argmax(times))
    middle = float(np.median(times))
    slowest = time_of(nodes[worst].launches, each, limit.launch_spread or _between_launches(nodes))
    if middle <= 0.0:
        return NodeSpread(key, size, Estimate(0.0, None, "samples"), nodes[worst].name, len(nodes))
    ends = None if slowest.interval is None else tuple(max(0.0, end / middle - 1.0) for end in slowest.interval)
    return NodeSpread(
        key, size, slowest._replace(value=slowest.value / middle - 1.0, interval=ends),  # type: ignore[arg-type]
        nodes[worst].name, len(nodes),
    )  # fmt: skip


def _between_launches(nodes: Sequence[_Node]) -> LaunchSpread | None:
    """By how much launches of one node differ, pooled over all nodes: a few of one node would tell little.

    None where not every node has several.
    """
    if any(len(node.launches) < 2 for node in nodes):
        return None
    logs = [np.log([max(launch.median, _SHORTEST) for launch in node.launches]) for node in nodes]
    freedom = sum(len(some) - 1 for some in logs)
    squares = sum(float(((some - some.mean()) ** 2).sum()) for some in logs)
    return LaunchSpread(sqrt(squares / freedom), float(freedom))
