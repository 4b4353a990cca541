"""How often does a test of pairs name the right node? Launches on an emulated cluster of 1 Gbit/s links, a file each.

    python -m benchmarks.emulated_pairs --folder DIR [--nodes 4,8] [--launches 20] [--few 5]

Every launch is a torchrun of its own on fresh network namespaces; the bad node changes from launch to launch. Files are
kept, so an interrupted series goes on; nothing is judged but what is in the files. Needs root.
"""

import argparse
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchmarks.machine import machine_and_date
from commbench.judging.culprits import Verdict
from commbench.pairing.judged import dead, judged, outcome
from commbench.pairing.reading import Pairs, read_pairs
from tests.emulated_cluster.cluster import EmulatedCluster
from tests.emulated_cluster.namespaces import ip

TIMEOUT = 300.0  # seconds a launch may take before it counts as failed
RATE = "1gbit"


@dataclass(frozen=True)
class Condition:
    """What is wrong with the cluster.

    Attributes:
        rates: of the bad nodes' links, one each; the first bad node is the launch's number modulo the nodes.
        late, dies: that the first bad node's rank is late, or is killed in mid-test.
        wanted: what the faults of the culprits must be, of all bad nodes.
        many: whether the long series is run.
    """

    name: str
    rates: tuple[str, ...] = ()
    late: bool = False
    dies: bool = False
    wanted: str | None = None
    many: bool = False


CONDITIONS = (
    Condition("healthy", many=True),
    Condition("one at 500 Mbit/s", ("500mbit",), wanted="slow", many=True),
    Condition("one at 950 Mbit/s", ("950mbit",), wanted="slow", many=True),
    Condition("two at 500 Mbit/s", ("500mbit", "500mbit"), wanted="slow"),
    Condition("one late by 20 ms", late=True, wanted="late"),
    Condition("one dies", dies=True, wanted="dead"),
)


def main() -> int:
    """Run what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--nodes", default="4,8")
    parser.add_argument("--launches", type=int, default=20)
    parser.add_argument("--few", type=int, default=5)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    sizes = [int(word) for word in options.nodes.split(",")]
    for nodes in sizes:
        for turn in range(options.launches):
            for condition in CONDITIONS:
                if turn < (options.launches if condition.many else options.few):
                    _launch(options.folder, nodes, condition, turn)
    print(f"{machine_and_date()}\n\n| nodes | condition | launches | right | could not tell | wrong | seconds |")
    print("|---|---|---|---|---|---|---|")
    for nodes in sizes:
        for condition in CONDITIONS:
            print(_row(options.folder, nodes, condition))
    return 0


def bad_nodes(condition: Condition, nodes: int, turn: int) -> set[int]:
    """The nodes with a fault: half the cluster apart where there are two."""
    count = len(condition.rates) or int(condition.late)
    if condition.dies:
        return {1 + turn % (nodes - 1)}  # not rank 0's, which holds the file
    return {(turn + number * (nodes // 2 - 1)) % nodes for number in range(count)}


def _launch(folder: Path, nodes: int, condition: Condition, turn: int) -> None:
    file = _file(folder, nodes, condition, turn)
    if file.exists():
        return
    unfinished = file.with_suffix(".unfinished")
    unfinished.unlink(missing_ok=True)
    bad = bad_nodes(condition, nodes, turn)
    module = "tests.launched.late_rank" if condition.late else "commbench.pairs"
    env = {"LATE_RANK": str(min(bad))} if condition.late else {}
    with EmulatedCluster(nodes=nodes, rate=RATE) as cluster, ThreadPoolExecutor(1) as pool:
        for node, rate in zip(sorted(bad), condition.rates, strict=False):
            cluster.set_rate(node, rate)
        running = pool.submit(cluster.torchrun, module, ["-J", str(unfinished)], env=env, timeout=TIMEOUT)
        if condition.dies:
            _kill_in_mid_test(cluster, min(bad), unfinished, running.done)
        results = running.result()
    if not unfinished.exists() or read_pairs(unfinished).end is None:
        raise RuntimeError(f"{file.name}: {results[0].stderr[-2000:]}")
    unfinished.rename(file)
    pairs = read_pairs(file)
    print(f"{file.name}: {outcome(pairs, judged(pairs))} {named(pairs, judged(pairs))}", flush=True)


def _kill_in_mid_test(cluster: EmulatedCluster, node: int, file: Path, over: Callable[[], bool]) -> None:
    while not over() and not (file.exists() and file.read_bytes().count(b'"record":"pair"') >= len(cluster.hosts)):
        time.sleep(0.02)
    for pid in map(int, ip("netns", "pids", cluster.namespaces[node]).split()):
        if b"\0RANK=" in Path(f"/proc/{pid}/environ").read_bytes():
            os.kill(pid, signal.SIGKILL)


def named(pairs: Pairs, verdict: Verdict) -> dict[str, set[str]]:
    """Faults of each node that is a culprit; of a link, both its nodes."""
    found: dict[str, set[str]] = {host: {"dead"} for _, host in dead(pairs)}
    for each in verdict.culprits:
        for host in each.hosts:
            found.setdefault(host, set()).add("slow link" if each.kind == "link" else each.fault)
    return found


def _row(folder: Path, nodes: int, condition: Condition) -> str:
    counts: Counter[str] = Counter()
    seconds = []
    for turn, pairs in _finished(folder, nodes, condition):
        verdict = judged(pairs)
        wanted = {f"node{node}": {condition.wanted} for node in bad_nodes(condition, nodes, turn)}
        right = named(pairs, verdict) == wanted and (bool(wanted) or outcome(pairs, verdict) == "healthy")
        undecided = outcome(pairs, verdict) == "could not tell"
        counts["right" if right else "open" if undecided else "wrong"] += 1
        calls = [max(map(sum, test.seconds)) for test in pairs.tests]
        seconds.append(sum(calls) / max(1, nodes // 2))
    total = sum(counts.values())
    spent = f"{sum(seconds) / len(seconds):.1f}" if seconds else ""
    return (
        f"| {nodes} | {condition.name} | {total} | {counts['right']} | {counts['open']} | {counts['wrong']} | {spent} |"
    )


def _finished(folder: Path, nodes: int, condition: Condition) -> Iterator[tuple[int, Pairs]]:
    turn = 0
    while (file := _file(folder, nodes, condition, turn)).exists():
        yield turn, read_pairs(file)
        turn += 1


def _file(folder: Path, nodes: int, condition: Condition, turn: int) -> Path:
    return folder / f"{nodes}-{_slug(condition.name)}-{turn + 1:02}.jsonl"


def _slug(name: str) -> str:
    return "".join(character if character.isalnum() else "-" for character in name)


if __name__ == "__main__":
    raise SystemExit(main())
