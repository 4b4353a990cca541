"""Two hosts with 1 Gbit/s between them: the link's rate is what we measure, and a rank that dies over there is named.

The hosts are network namespaces of this machine (see tests/emulated_cluster); that takes root.
"""

import os
import re
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from commbench.showing.rows import rows
from commbench.sweepfile.reader import Sweep, read_sweeps
from tests.emulated_cluster import EmulatedCluster, NodeResult, unavailable
from tests.emulated_cluster.namespaces import ip

pytestmark = [pytest.mark.gloo, pytest.mark.cluster]

# Bytes per second of TCP payload on 1 Gbit/s: a full Ethernet frame has 1514 bytes, of which 1448 are payload.
GIGABIT = 125e6 * 1448 / 1514
GUARD = 120.0


@dataclass(frozen=True)
class Outcome:
    """How the agents of both nodes ended, and the sweep that they left."""

    nodes: list[NodeResult]
    sweep: Sweep
    victim: int = 0


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmulatedCluster]:
    if reason := unavailable():
        pytest.skip(reason)
    with EmulatedCluster(nodes=2, rate="1gbit", burst="512kb", latency="50ms") as emulated:
        yield emulated


@pytest.fixture(scope="module")
def measured(cluster: EmulatedCluster, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """all_reduce of 64 MiB."""
    file = tmp_path_factory.mktemp("cluster") / "out.jsonl"
    nodes = cluster.torchrun(
        "commbench.sweep", ["all_reduce", "-b", "64M", "-e", "64M", "-J", str(file)], timeout=GUARD
    )
    return Outcome(nodes, read_sweeps(file)[0])


@pytest.fixture(scope="module")
def bereft(cluster: EmulatedCluster, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """The worker on node1 is killed in mid-sweep."""
    file = tmp_path_factory.mktemp("bereft") / "out.jsonl"
    options = ["all_reduce", "-b", "8", "-e", "64K", "-N", "9", "--limit", "150ms", "--buffers", "same"]
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(cluster.torchrun, "commbench.sweep", [*options, "-J", str(file)], timeout=GUARD)
        deadline = time.monotonic() + GUARD
        while not file.exists() or file.read_bytes().count(b'"measurement"') < 3:
            assert time.monotonic() < deadline, "no rows"
            assert not running.done(), running.result()
            time.sleep(0.05)
        victim = worker(cluster, 1)
        os.kill(victim, signal.SIGKILL)
        nodes = running.result()
    return Outcome(nodes, read_sweeps(file)[0], victim)


def worker(cluster: EmulatedCluster, node: int) -> int:
    """The process that torchrun started on a node."""
    pids = map(int, ip("netns", "pids", cluster.namespaces[node]).split())
    return next(pid for pid in pids if b"\0RANK=" in Path(f"/proc/{pid}/environ").read_bytes())


def test_both_hosts_finish(measured: Outcome) -> None:
    """With 0, and a complete sweep."""
    assert [node.returncode for node in measured.nodes] == [0, 0], measured.nodes
    assert measured.sweep.status == "complete"


def test_busbw_is_what_tcp_carries_over_the_link(measured: Outcome) -> None:
    """Within 3 % of 0.1196 GB/s: algorithm, bus factor, units and clock are all right."""
    (row,) = rows(measured.sweep)
    assert row.busbw == pytest.approx(GIGABIT, rel=0.03)


def test_the_data_are_right(measured: Outcome) -> None:
    """Over a real link as well."""
    assert [row.correct for row in measured.sweep.measurements] == [True]


def test_the_header_names_both_hosts(measured: Outcome) -> None:
    """In the order of their ranks."""
    header = measured.sweep.header
    assert (header.environment["hosts"], header.ranks_per_host) == (["node0", "node1"], (1, 1))


def test_the_world_is_shown_with_its_hosts(measured: Outcome) -> None:
    """By rank 0, before anything is measured."""
    assert "world: 2 ranks on 2 hosts, 1 per host" in measured.nodes[0].stderr
    assert "node1: rank 1" in measured.nodes[0].stderr


def test_results_are_printed_on_one_host(measured: Outcome) -> None:
    """Rank 0's."""
    assert "all_reduce" in measured.nodes[0].stdout
    assert measured.nodes[1].stdout == ""


def test_no_host_ends_well_without_the_other(bereft: Outcome) -> None:
    """Neither agent reports success."""
    assert all(node.returncode != 0 for node in bereft.nodes)


def test_nothing_hung(bereft: Outcome) -> None:
    """The guard had nothing to kill."""
    assert all("killed after" not in node.stderr for node in bereft.nodes)


def test_a_rank_that_died_on_another_host_is_named_with_it(bereft: Outcome) -> None:
    """By the survivor: rank, host, process, phase, collective and size."""
    (words,) = [line for line in bereft.nodes[0].stderr.splitlines() if line.startswith("commbench: ")]
    assert re.match(
        rf"commbench: rank 1 on node1 \(pid {bereft.victim}\), in phase \S+ of all_reduce \d+ \w+ \(.*\): no heartbeat",
        words,
    )


def test_rows_before_it_died_are_kept(bereft: Outcome) -> None:
    """With an end record that gives the same reason."""
    assert len(bereft.sweep.measurements) >= 3
    assert bereft.sweep.end is not None
    assert "rank 1 on node1" in (bereft.sweep.end.reason or "")
