"""The emulated cluster tested by itself: its links carry what they say, and nothing of it outlives its context."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from . import namespaces
from .cluster import EmulatedCluster
from .namespaces import ip, unavailable

pytestmark = pytest.mark.cluster

ALL_REDUCE = "tests.emulated_cluster.all_reduce"
STREAM = str(Path(__file__).with_name("tcp_stream.py"))
MIB = 1 << 20
# Bytes per second of TCP payload on 1 Gbit/s: a full Ethernet frame has 1514 bytes, of which 1448 are payload.
GIGABIT = 125e6 * 1448 / 1514


@pytest.fixture(autouse=True)
def _needs_namespaces() -> None:
    if reason := unavailable():
        pytest.skip(reason)


@pytest.fixture
def pair() -> Iterator[EmulatedCluster]:
    with EmulatedCluster(nodes=2) as cluster:
        yield cluster


def stream(cluster: EmulatedCluster, sender: int, receiver: int, size: int) -> float:
    """Bytes per second of one TCP stream from one node to another."""
    receive = cluster.popen(receiver, [sys.executable, STREAM, "receive", "5001"], stdout=subprocess.PIPE, text=True)
    send = cluster.popen(sender, [sys.executable, STREAM, "send", cluster.addresses[receiver], "5001", str(size)])
    answer = json.loads(receive.communicate(timeout=60)[0])
    assert send.wait(timeout=60) == 0
    assert answer["bytes"] == size
    return float(answer["bytes"] / answer["seconds"])


def python(cluster: EmulatedCluster, node: int, script: str, *words: str) -> str:
    process = cluster.popen(node, [sys.executable, "-c", script, *words], stdout=subprocess.PIPE, text=True)
    answer = str(process.communicate(timeout=20)[0])
    assert process.returncode == 0
    return answer.strip()


# A refusal is the answer of a host that was reached; `ping` is not installed everywhere.
REACH = """
import socket, sys
for host in sys.argv[1:]:
    with socket.socket() as s:
        s.settimeout(3)
        assert s.connect_ex((host, 9)) == 111, host
"""


@pytest.mark.parametrize("nodes", [2, 4])
def test_setting_up_is_quick_all_nodes_reach_each_other_and_nothing_stays(nodes: int) -> None:
    links = ip("-o", "-br", "link", "show")
    start = time.monotonic()
    with EmulatedCluster(nodes=nodes) as cluster:
        assert time.monotonic() - start < 1.0
        for node in range(nodes):
            python(cluster, node, REACH, *cluster.addresses)
            python(cluster, node, REACH, *cluster.hosts)
        assert ip("-o", "-br", "link", "show") == links
        names = cluster.namespaces
    left = ip("netns", "list")
    assert not any(name in left for name in names)
    assert not any(Path("/etc/netns", name).exists() for name in names)


def test_each_node_is_a_host_of_its_own(pair: EmulatedCluster) -> None:
    here = os.uname().nodename
    script = "import socket; print(socket.gethostname(), socket.gethostbyname(socket.gethostname()))"
    assert [python(pair, node, script) for node in range(2)] == ["node0 10.77.0.1", "node1 10.77.0.2"]
    assert os.uname().nodename == here


def test_the_environment_of_a_launcher_stays_outside(pair: EmulatedCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "3")
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "3")
    script = "import os; print(sorted(set(os.environ) & {'RANK', 'OMPI_COMM_WORLD_RANK', 'GLOO_SOCKET_IFNAME'}))"
    assert python(pair, 0, script) == "['GLOO_SOCKET_IFNAME']"


@pytest.mark.parametrize("nodes", [2, 3])
def test_a_stream_gets_the_payload_rate_of_its_link(nodes: int) -> None:
    with EmulatedCluster(nodes=nodes, rate="1gbit") as cluster:
        assert stream(cluster, 0, nodes - 1, 64 * MIB) == pytest.approx(GIGABIT, rel=0.05)


def test_the_rate_of_one_node_can_change() -> None:
    with EmulatedCluster(nodes=3, rate="1gbit") as cluster:
        cluster.set_rate(1, "500mbit")
        assert stream(cluster, 0, 1, 32 * MIB) == pytest.approx(GIGABIT / 2, rel=0.05)
        assert stream(cluster, 1, 2, 32 * MIB) == pytest.approx(GIGABIT / 2, rel=0.05)
        assert stream(cluster, 2, 0, 32 * MIB) == pytest.approx(GIGABIT, rel=0.05)


@pytest.mark.gloo
@pytest.mark.parametrize("nodes", [2, 4])
def test_gloo_sums_over_the_nodes(nodes: int) -> None:
    with EmulatedCluster(nodes=nodes) as cluster:
        results = cluster.torchrun(ALL_REDUCE, [str(4 * MIB), "3"], timeout=120)
    assert [result.returncode for result in results] == [0] * nodes, results
    answer = json.loads(results[0].stdout)
    assert answer["right"] is True
    assert (answer["world_size"], answer["sum"]) == (nodes, nodes * (nodes + 1) / 2)


def test_a_torchrun_past_its_time_limit_is_killed_with_its_workers(pair: EmulatedCluster) -> None:
    start = time.monotonic()
    results = pair.torchrun("timeit", ["-n", "1", "-r", "1", "import time; time.sleep(500)"], timeout=5)
    assert time.monotonic() - start < 20
    assert all(returncode == -9 and "killed after 5 s" in err for returncode, _, err in results)
    assert all(ip("netns", "pids", name).split() == [] for name in pair.namespaces)


def test_a_process_that_left_its_session_dies_with_the_cluster() -> None:
    script = "import subprocess as s; print(s.Popen(['sleep', '600'], start_new_session=True, stdout=s.DEVNULL).pid)"
    with EmulatedCluster(nodes=2) as cluster:
        pid = int(python(cluster, 1, script))
        os.kill(pid, 0)
    for _ in range(100):
        status = Path(f"/proc/{pid}/status")
        if not status.exists() or "State:\tZ" in status.read_text():
            return
        time.sleep(0.02)
    pytest.fail(f"process {pid} outlived its cluster")


def test_what_a_killed_session_left_is_swept_and_what_a_live_one_has_is_not(pair: EmulatedCluster) -> None:
    script = (
        "import os, signal, sys; sys.path.insert(0, sys.argv[1])\n"
        "from tests.emulated_cluster import EmulatedCluster\n"
        "cluster = EmulatedCluster(2).__enter__()\n"
        "print(cluster.namespaces[0], flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    root = str(Path(__file__).parents[2])
    left = subprocess.run([sys.executable, "-c", script, root], capture_output=True, text=True, check=False)
    name = left.stdout.strip()
    assert name in ip("netns", "list")
    swept = namespaces.sweep()
    assert name in swept
    assert not set(swept) & set(pair.namespaces)
    assert name not in ip("netns", "list")
    assert all(namespace in ip("netns", "list") for namespace in pair.namespaces)
