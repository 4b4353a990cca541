"""Pairs on four hosts with links of 1 Gbit/s: the slow link, the late rank and the dead one are named.

The hosts are network namespaces of this machine (see tests/emulated_cluster); that takes root.
"""

import json
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from commbench.__main__ import main
from tests.emulated_cluster import EmulatedCluster, NodeResult, unavailable
from tests.emulated_cluster.namespaces import ip

pytestmark = [pytest.mark.gloo, pytest.mark.cluster]

GUARD = 120.0
SLOW, LATE, DEAD = 1, 2, 3


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmulatedCluster]:
    if reason := unavailable():
        pytest.skip(reason)
    with EmulatedCluster(nodes=4, rate="1gbit") as emulated:
        emulated.set_rate(SLOW, "500mbit")
        yield emulated


@pytest.fixture(scope="module")
def results(cluster: EmulatedCluster) -> list[NodeResult]:
    """One node's link has half the rate, and another one's rank is late."""
    return cluster.torchrun("tests.launched.late_rank", ["--json"], env={"LATE_RANK": str(LATE)}, timeout=GUARD)


@pytest.fixture(scope="module")
def document(results: list[NodeResult]) -> Any:
    return json.loads(results[0].stdout, parse_constant=pytest.fail)


@pytest.fixture(scope="module")
def bereft(cluster: EmulatedCluster, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[NodeResult], Path]:
    """The worker of a node is killed in mid-test."""
    file = tmp_path_factory.mktemp("pairs") / "pairs.jsonl"
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(cluster.torchrun, "commbench.pairs", ["-J", str(file)], timeout=GUARD)
        deadline = time.monotonic() + GUARD
        while not file.exists() or file.read_bytes().count(b'"record":"pair"') < 2:
            assert time.monotonic() < deadline, "no tests"
            assert not running.done(), running.result()
            time.sleep(0.02)
        for pid in map(int, ip("netns", "pids", cluster.namespaces[DEAD]).split()):
            if b"\0RANK=" in Path(f"/proc/{pid}/environ").read_bytes():
                os.kill(pid, signal.SIGKILL)
        return running.result(), file


def culprits(document: Any, fault: str) -> list[tuple[str, str]]:
    return [(each["kind"], each["name"]) for each in document["culprits"] if each["fault"] == fault]


def test_the_node_with_the_slow_link_is_named_and_no_other(document: Any) -> None:
    assert culprits(document, "slow") == [("node", f"node{SLOW}")]


def test_it_is_as_slow_as_its_link(document: Any) -> None:
    """Half the rate, twice the time: within a tenth, on a machine that does other things as well."""
    (culprit,) = [each for each in document["culprits"] if each["fault"] == "slow"]
    assert culprit["slowness"] == pytest.approx(2.0, rel=0.1)


def test_the_late_rank_is_late_and_no_slow_link(document: Any) -> None:
    assert culprits(document, "late") == [("rank", f"node{LATE}")]


def test_a_culprit_is_no_success(results: list[NodeResult]) -> None:
    """torchrun reports 1, and prints our sentence as the root cause."""
    assert all(result.returncode == 1 for result in results)
    assert f"node{SLOW} is slow to other nodes" in results[0].stderr


def test_a_node_that_dies_in_mid_test_is_named_at_once(bereft: tuple[list[NodeResult], Path]) -> None:
    """By a survivor, with its host."""
    nodes, _ = bereft
    assert all("killed after" not in node.stderr for node in nodes)
    said = [line for node in nodes for line in node.stderr.splitlines() if line.startswith("commbench: ")]
    assert any(f"rank {DEAD} on node{DEAD}" in line for line in said)


def test_the_file_names_the_dead_node_later(
    bereft: tuple[list[NodeResult], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["pairs", str(bereft[1])]) == 1
    assert f"rank {DEAD} on node{DEAD} is gone" in capsys.readouterr().out
