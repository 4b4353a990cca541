"""Two hosts with two cables, 1 Gbit/s and 100 Mbit/s: gloo over each, proved by the bytes that crossed them."""

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from commbench.sweepfile.reader import read_sweeps
from tests.emulated_cluster import EmulatedCluster, unavailable
from tests.emulated_cluster.namespaces import ip, join, shape

pytestmark = [pytest.mark.gloo, pytest.mark.cluster]

GUARD = 240.0
SECOND = "lan1"


@dataclass(frozen=True)
class Outcome:
    """How the command ended on both hosts, what it printed on the first, and where its files are."""

    codes: tuple[int, ...]
    document: dict[str, Any]
    err: tuple[str, ...]
    folder: Path


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmulatedCluster]:
    if reason := unavailable():
        pytest.skip(reason)
    with EmulatedCluster(nodes=2, rate="1gbit") as emulated:
        first, second = emulated.namespaces
        join(first, SECOND, second, SECOND)
        for number, namespace in enumerate((first, second)):
            ip("-n", namespace, "address", "add", f"10.78.0.{number + 1}/24", "dev", SECOND)
            shape(namespace, SECOND, "add", rate="100mbit", burst="512kb", latency="50ms")
        yield emulated


@pytest.fixture(scope="module")
def compared(cluster: EmulatedCluster, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """The same line on both hosts, apart from the host's number."""
    folder = tmp_path_factory.mktemp("cluster") / "r"
    with ExitStack() as files:
        started = []
        for node, address in enumerate(cluster.addresses):
            launch = (
                f"{sys.executable} -m torch.distributed.run --nnodes 2 --nproc-per-node 1 --node-rank {node} "
                f"--master-addr {cluster.addresses[0]} --master-port 29710 --local-addr {address}"
            )
            words = [
                *("env", "-u", "GLOO_SOCKET_IFNAME", sys.executable, "-m", "commbench", "interconnects"),
                *("--launch", launch, "--launches", "1", "-J", str(folder), "--json"),
                *("--settings", f"fast:GLOO_SOCKET_IFNAME={cluster.interface},slow:GLOO_SOCKET_IFNAME={SECOND}"),
                *("--", "all_reduce", "-b", "512K", "-e", "2M", "-f", "2", "-n", "6"),
            ]
            out, err = (files.enter_context(tempfile.TemporaryFile("w+")) for _ in range(2))
            started.append((cluster.popen(node, words, stdout=out, stderr=err), out, err))
        codes = tuple(process.wait(GUARD) for process, _, _ in started)
        texts = []
        for _, out, err in started:
            out.seek(0)
            err.seek(0)
            texts.append((out.read(), err.read()))
    document = json.loads(texts[0][0] or "{}")
    return Outcome(codes, document, tuple(err for _, err in texts), folder)


def test_both_hosts_end_well(compared: Outcome) -> None:
    assert compared.codes == (0, 0), compared.err


@pytest.mark.parametrize(("setting", "interface"), [("fast", "lan0"), ("slow", "lan1")])
def test_the_bytes_crossed_the_setting_s_own_cable(compared: Outcome, setting: str, interface: str) -> None:
    (sweep,) = read_sweeps(compared.folder / setting / "1.jsonl")
    assert sweep.proved == (f"tcp/{interface}",)


def test_a_tenth_of_the_rate_takes_about_ten_times_as_long(compared: Outcome) -> None:
    """Of 2 MiB; bursts pass unshaped, so less than ten."""
    assert 5.0 < compared.document["comparisons"][-1]["ratio"] < 12.0


def test_the_host_without_rank_0_leaves_the_judging_to_the_other(compared: Outcome) -> None:
    assert "rank 0 is on another host" in compared.err[1]
