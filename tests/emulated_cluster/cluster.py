"""An emulated cluster: n nodes with one link each, on one machine, for tests that need a link of known rate.

    with EmulatedCluster(nodes=2, rate="1gbit") as cluster:
        results = cluster.torchrun("commbench.sweep", ["all_reduce", "-b", "64M"], timeout=60)

Two nodes share a cable. More nodes each have a cable to a switch (a bridge in a namespace of its own). The rate holds
in both directions of every cable. Each node has its own network, host name (node0 ...) and /etc/hosts. Nodes share
the file system, the processors and shared memory, and see no /sys/fs/cgroup (`ip netns exec` mounts a /sys of its
own). A rate as tc writes it: "1gbit", "500mbit".
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from .namespaces import INTERFACE, add, delete, inside, ip, join, kill, new_names, shape, sweep

ROOT = Path(__file__).resolve().parents[2]
# What a launcher around the tests would tell our ranks about its own world.
_LAUNCHER = ("RANK", "LOCAL_", "GROUP_", "ROLE_", "WORLD_SIZE", "MASTER_", "TORCHELASTIC_", "OMPI_", "PMI", "SLURM_")


class NodeResult(NamedTuple):
    """How a node's program ended. Killed at the time limit: returncode is -9 and stderr says so."""

    returncode: int
    stdout: str
    stderr: str


class EmulatedCluster:
    """Use as a context: it exists inside, and whatever still runs on its nodes is killed at the end."""

    def __init__(self, nodes: int = 2, rate: str = "1gbit", burst: str = "512kb", latency: str = "50ms") -> None:
        if not 2 <= nodes <= 200:
            raise ValueError(f"an emulated cluster has 2 to 200 nodes, not {nodes}")
        self.addresses = [f"10.77.0.{node + 1}" for node in range(nodes)]
        self.hosts = [f"node{node}" for node in range(nodes)]
        self.interface = INTERFACE
        self._rate, self._burst, self._latency = rate, burst, latency
        self._ports = count(29500)
        self._started: list[subprocess.Popen[Any]] = []
        *self.namespaces, self._switch = new_names(*(f"n{node}" for node in range(nodes)), "switch")

    def __enter__(self) -> "EmulatedCluster":
        sweep()
        with ExitStack() as undo:
            undo.callback(self._tear_down)
            self._set_up()
            undo.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._tear_down()

    def set_rate(self, node: int, rate: str) -> None:
        """Change the rate of a node's cable, both directions. With two nodes that is the one cable there is."""
        for end in self._ends(node):
            shape(*end, "change", rate=rate, burst=self._burst, latency=self._latency)

    def popen(
        self, node: int, words: Sequence[str], env: Mapping[str, str] | None = None, **options: Any
    ) -> subprocess.Popen[Any]:
        """Start a program on a node, in the checkout's root and in a session of its own.

        `env` adds to this process's environment (less what a launcher set); `options` are subprocess.Popen's.
        """
        own = {name: value for name, value in os.environ.items() if not name.startswith(_LAUNCHER)}
        link = {"GLOO_SOCKET_IFNAME": INTERFACE, "TP_SOCKET_IFNAME": INTERFACE, "OMP_NUM_THREADS": "1"}
        process = subprocess.Popen(
            inside(self.namespaces[node], self.hosts[node], words),
            **{"cwd": ROOT, "start_new_session": True, "env": {**own, **link, **(env or {})}, **options},
        )
        self._started.append(process)
        return process

    def torchrun(
        self,
        module: str,
        arguments: Sequence[str] = (),
        nproc_per_node: int = 1,
        env: Mapping[str, str] | None = None,
        timeout: float = 120.0,
        options: Sequence[str] = (),
    ) -> list[NodeResult]:
        """Run `torchrun -m module arguments` with one agent on every node; wait for all of them.

        `options` are further options of torchrun. After `timeout` seconds everything on the nodes is killed. An
        agent's stderr may end in "Error waiting on exit barrier" although all went well: the store lives in node 0's
        agent, which may leave first. Go by the return codes.
        """
        static = ["--nnodes", str(len(self.namespaces)), "--nproc-per-node", str(nproc_per_node)]
        static += ["--master-addr", self.addresses[0], "--master-port", str(next(self._ports))]
        with ExitStack() as files:
            agents: list[tuple[subprocess.Popen[Any], Any, Any]] = []
            for node, address in enumerate(self.addresses):
                out, err = (files.enter_context(tempfile.TemporaryFile("w+", errors="replace")) for _ in range(2))
                torchrun = [sys.executable, "-m", "torch.distributed.run", *static, "--node-rank", str(node)]
                words = [*torchrun, "--local-addr", address, *options, "-m", module, *arguments]
                agents.append((self.popen(node, words, env, stdout=out, stderr=err), out, err))
            in_time = self._wait([agent for agent, _, _ in agents], timeout)
            results = [NodeResult(agent.wait(), _read(out), _read(err)) for agent, out, err in agents]
        note = f"\n[emulated cluster: killed after {timeout:g} s]\n"
        return results if in_time else [r._replace(stderr=r.stderr + note) if r[0] == -9 else r for r in results]

    def _wait(self, processes: Sequence[subprocess.Popen[Any]], timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        ended = False
        try:
            for process in processes:
                process.wait(max(0.0, deadline - time.monotonic()))
            ended = True
        except subprocess.TimeoutExpired:
            return False
        finally:
            if not ended:  # also on Ctrl-C and on pytest's own time limit
                self._kill()
        return True

    def _set_up(self) -> None:
        hosts = "127.0.0.1 localhost\n::1 localhost\n"
        for address, host in zip(self.addresses, self.hosts, strict=True):
            # torch's store asks for the name of the IPv4-mapped address, and warns when there is none
            hosts += f"{address} {host}\n::ffff:{address} {host}\n"
        for namespace in (*self.namespaces, self._switch):
            add(namespace, hosts)
        if len(self.namespaces) == 2:
            join(self.namespaces[0], INTERFACE, self.namespaces[1], INTERFACE)
        else:
            ip("-n", self._switch, "link", "add", "bridge", "type", "bridge", "stp_state", "0")
            ip("-n", self._switch, "link", "set", "bridge", "addrgenmode", "none", "up")
            for node, namespace in enumerate(self.namespaces):
                join(self._switch, f"port{node}", namespace, INTERFACE)
                ip("-n", self._switch, "link", "set", f"port{node}", "master", "bridge")
        for namespace, address in zip(self.namespaces, self.addresses, strict=True):
            ip("-n", namespace, "address", "add", f"{address}/24", "dev", INTERFACE)
        for end in sorted({end for node in range(len(self.namespaces)) for end in self._ends(node)}):
            shape(*end, "add", rate=self._rate, burst=self._burst, latency=self._latency)

    def _ends(self, node: int) -> tuple[tuple[str, str], tuple[str, str]]:
        """Both ends of a node's cable, as (namespace, interface)."""
        if len(self.namespaces) == 2:
            return (self.namespaces[node], INTERFACE), (self.namespaces[1 - node], INTERFACE)
        return (self.namespaces[node], INTERFACE), (self._switch, f"port{node}")

    def _kill(self) -> None:
        for process in self._started:
            if process.poll() is None:
                try:
                    os.killpg(process.pid, signal.SIGKILL)
                except (ProcessLookupError, PermissionError):
                    process.kill()
        for namespace in self.namespaces:  # torchrun gives its workers sessions of their own
            kill(namespace)

    def _tear_down(self) -> None:
        self._kill()
        for process in self._started:
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
        for namespace in (*self.namespaces, self._switch):
            delete(namespace)


def _read(file: Any) -> str:
    file.seek(0)
    return str(file.read())
