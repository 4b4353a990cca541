"""How often does a test of pairs name the right node? Tests on an emulated cluster of 1 Gbit/s links, a file each.

    python -m benchmarks.emulated_pairs --folder DIR [--nodes 4] [--tests 20] [--few 5] [--launch-of 5]

Conditions take turns, and the bad node changes from test to test. Several tests share a launch (`--launch-of` turns of
all conditions), between which only the rates of links change; a late rank and a dead one take a launch each. Files are
kept, so an interrupted series goes on, and nothing is judged but what they hold. Needs root.
"""

import argparse
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.machine import machine_and_date
from commbench.judging.findings import Verdict
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
        rates: of the bad nodes' links, one each; the first bad node is the test's number modulo the nodes.
        late, dies: that the first bad node's rank is late, or is killed in mid-test.
        wanted: what the faults of the culprits must be, of all bad nodes.
    """

    name: str
    rates: tuple[str, ...] = ()
    late: bool = False
    dies: bool = False
    wanted: str | None = None

    @property
    def shares_a_launch(self) -> bool:
        """Whether only rates of links make the condition."""
        return not (self.late or self.dies)


CONDITIONS = (
    Condition("healthy"),
    Condition("one at 500 Mbit/s", ("500mbit",), wanted="slow"),
    Condition("one at 950 Mbit/s", ("950mbit",), wanted="slow"),
    Condition("two at 500 Mbit/s", ("500mbit", "500mbit"), wanted="slow"),
    Condition("one late by 20 ms", late=True, wanted="late"),
    Condition("one dies", dies=True, wanted="dead"),
)


def main() -> int:
    """Run what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--tests", type=int, default=20)
    parser.add_argument("--few", type=int, default=5)
    parser.add_argument("--launch-of", type=int, default=5)
    options = parser.parse_args()
    folder, nodes = options.folder, options.nodes
    folder.mkdir(parents=True, exist_ok=True)
    for first in range(0, options.tests, options.launch_of):
        turns = range(first, min(first + options.launch_of, options.tests))
        wanted = [(condition, turn) for turn in turns for condition in CONDITIONS if condition.shares_a_launch]
        _launch(folder, nodes, [each for each in wanted if not _file(folder, nodes, *each).exists()])
        for turn in turns:
            for condition in CONDITIONS:
                alone = not condition.shares_a_launch and turn < options.few
                if alone and not _file(folder, nodes, condition, turn).exists():
                    _launch_alone(folder, nodes, condition, turn)
    print(f"{machine_and_date()}\n\n| nodes | condition | tests | right | could not tell | wrong | seconds |")
    print("|---|---|---|---|---|---|---|")
    for condition in CONDITIONS:
        print(_row(folder, nodes, condition))
    return 0


def bad_nodes(condition: Condition, nodes: int, turn: int) -> set[int]:
    """The nodes with a fault: half the cluster apart where there are two."""
    count = len(condition.rates) or int(condition.late)
    if condition.dies:
        return {1 + turn % (nodes - 1)}  # not rank 0's, which holds the file
    return {(turn + number * (nodes // 2 - 1)) % nodes for number in range(count)}


def _launch(folder: Path, nodes: int, wanted: Sequence[tuple[Condition, int]]) -> None:
    """Several tests in one launch."""
    if not wanted:
        return
    with ExitStack() as stack:
        asking = Path(stack.enter_context(TemporaryDirectory()))
        cluster = stack.enter_context(EmulatedCluster(nodes=nodes, rate=RATE))
        pool = stack.enter_context(ThreadPoolExecutor(1))
        timeout = TIMEOUT * (1 + len(wanted))
        running = pool.submit(cluster.torchrun, "benchmarks.repeated_pairs", ["-J", str(asking)], timeout=timeout)
        stack.callback(_ask, asking, len(wanted), "")
        for number, (condition, turn) in enumerate(wanted):
            bad = dict(zip(sorted(bad_nodes(condition, nodes, turn)), condition.rates, strict=True))
            for node in range(nodes):
                cluster.set_rate(node, bad.get(node, RATE))
            unfinished = _unfinished(folder, nodes, condition, turn)
            _ask(asking, number, str(unfinished))
            while not (unfinished.exists() and b'"record":"end"' in unfinished.read_bytes()):
                if running.done():
                    raise RuntimeError(running.result()[0].stderr[-2000:])
                time.sleep(0.05)
            _keep(unfinished)


def _ask(asking: Path, number: int, text: str) -> None:
    """Whole at once: the ranks look for it all the time."""
    (asking / "new").write_text(text)
    (asking / "new").rename(asking / f"{number}.go")


def _launch_alone(folder: Path, nodes: int, condition: Condition, turn: int) -> None:
    unfinished = _unfinished(folder, nodes, condition, turn)
    bad = min(bad_nodes(condition, nodes, turn))
    module = "tests.launched.late_rank" if condition.late else "commbench.pairs"
    env = {"LATE_RANK": str(bad)} if condition.late else {}
    with EmulatedCluster(nodes=nodes, rate=RATE) as cluster, ThreadPoolExecutor(1) as pool:
        running = pool.submit(cluster.torchrun, module, ["-J", str(unfinished)], env=env, timeout=TIMEOUT)
        if condition.dies:
            _kill_in_mid_test(cluster, bad, unfinished, running.done)
        results = running.result()
    if not unfinished.exists() or read_pairs(unfinished).end is None:
        raise RuntimeError(results[0].stderr[-2000:])
    _keep(unfinished)


def _unfinished(folder: Path, nodes: int, condition: Condition, turn: int) -> Path:
    path = _file(folder, nodes, condition, turn).with_suffix(".unfinished")
    path.unlink(missing_ok=True)
    return path


def _keep(unfinished: Path) -> None:
    file = unfinished.rename(unfinished.with_suffix(".jsonl"))
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
