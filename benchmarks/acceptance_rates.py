"""How often `accept` is right about 1,024 nodes, and how long it takes over 1,000,000 rows.

    python -m benchmarks.acceptance_rates

Every node is measured by itself, night after night, one value a row. A healthy node's bus bandwidth is the law's, times
a factor of its own (1 % from node to node), times a night's (1.5 %). Some nodes are slower. `found` counts slow nodes
that fail. Limits: 10 s of processor time and 1.5 GB for 1,000,000 rows (exit code 1 above them).
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np

from benchmarks.machine import machine_and_date
from commbench.judging.acceptance import accept
from commbench.judging.limits import parse_limits
from commbench.judging.steps import FALSE_ALARMS, changes
from commbench.sweepfile.reader import Sweep
from commbench.sweepfile.records import End, Header, Measurement, Source

NODES, SIZES, NIGHTS = 1024, tuple(1 << power for power in range(15, 31)), 61
ROWS = NODES * len(SIZES) * NIGHTS  # 999,424
BETWEEN_NODES, BETWEEN_NIGHTS = 0.01, 0.015
MOST_SECONDS, MOST_BYTES = 10.0, 1.5e9
LATENCY, RATE = 20e-6, 400e9
FACTOR = 2 * 7 / 8
SERIES = 2000

LIMITS = b"""
format = 1
name = "1,024 nodes"
[cluster]
world_size = 8
ranks_per_host = 8
device = "NVIDIA H200"
path = "P2P"
mode = "pipelined"
[certainty]
single_value = "4 %"
[[limit]]
collective = "all_reduce"
quantity = "busbw"
sizes = "256M..1G"
at_least = "368 GB/s"
reason = "8 % below what was bought"
[[limit]]
collective = "all_reduce"
quantity = "node_spread"
size = "1G"
at_most = "10 %"
reason = "alike nodes"
"""


def main() -> int:
    """Print the rates and the cost. Returns 1 above the limits of time and memory."""
    print(machine_and_date())
    _rates()
    _steps()
    return 0 if _cost() else 1


def fleet(nights: int, slow: float, bad: Sequence[int], sizes: Sequence[int], seed: int = 1) -> Iterator[Sweep]:
    """Sweeps of all nodes, one a night: `bad` nodes have 1 - `slow` of the bandwidth."""
    chance = np.random.default_rng(seed)
    node = np.exp(chance.normal(0.0, BETWEEN_NODES, NODES))
    node[list(bad)] = 1.0 / (1.0 - slow)
    for night in range(nights):
        noise = np.exp(chance.normal(0.0, BETWEEN_NIGHTS, (NODES, len(sizes))))
        for place in range(NODES):
            name = f"{night}-{place}"
            times = [(LATENCY + size * FACTOR / RATE * node[place]) * noise[place, i] for i, size in enumerate(sizes)]
            yield _sweep(
                name, f"node{place:04}", f"2026-{1 + night // 28:02}-{1 + night % 28:02}T02:00:00Z", times, sizes
            )


def _sweep(name: str, host: str, when: str, times: Sequence[float], sizes: Sequence[int]) -> Sweep:
    header = Header(
        sweep=name, started_at=when, world_size=8, source=Source(tool="commbench"), label=None, backend="nccl",
        ranks_per_host=(8,), settings={"buffers": "rotate"}, environment={"hosts": [host], "device": "NVIDIA H200"},
        transport={"setting": None, "proved": ["P2P"]},
    )  # fmt: skip
    rows = tuple(
        Measurement(
            sweep=name, collective="all_reduce", message_bytes=size, dtype="float32", op="sum", placement="in",
            mode="pipelined", seconds=(float(seconds),), correct=True, wrong=0,
        )
        for size, seconds in zip(sizes, times, strict=True)
    )  # fmt: skip
    return Sweep(header, rows, end=End(sweep=name, finished_at=when, status="complete"))


def _rates() -> None:
    limits = parse_limits(LIMITS)
    sizes = (1 << 28, 1 << 29, 1 << 30)
    bad = range(0, NODES, 64)
    print("\n| nights | slow nodes | found | healthy nodes failed | healthy nodes passed | verdict |")
    print("|---|---|---|---|---|---|")
    for nights in (1, 5):
        for slow in (0.0, 0.08, 0.12, 0.15, 0.20):
            slow_nodes = bad if slow else range(0)
            result = accept(limits, list(fleet(nights, slow, slow_nodes, sizes)))
            outcomes: dict[str, set[str]] = {}
            for check in result.checks:
                outcomes.setdefault(check.name.partition(" @ ")[2], set()).add(check.outcome)
            failed = {name for name, some in outcomes.items() if name and "fail" in some}
            passed = {name for name, some in outcomes.items() if name and some == {"pass"}}
            names = {f"node{place:04}" for place in slow_nodes}
            healthy = NODES - len(names)
            print(
                f"| {nights} | {len(names)} by {100 * slow:.0f} % | {len(failed & names)} of {len(names)} | "
                f"{len(failed - names)} of {healthy} | {len(passed - names)} of {healthy} | {result.verdict} |"
            )


def _steps() -> None:
    chance = np.random.default_rng(2)
    quiet = sum(bool(changes(chance.normal(0.0, BETWEEN_NIGHTS, 30))) for _ in range(SERIES))
    print(f"\n30 nights without a change: {quiet} of {SERIES} series show one (stated: {100 * FALSE_ALARMS:g} %)")
    for size in (0.02, 0.03, 0.05):
        found = dated = 0
        for _ in range(SERIES):
            series = chance.normal(0.0, BETWEEN_NIGHTS, 30)
            series[20:] += np.log1p(size)
            some = [change for change in changes(series) if change.kind == "step"]
            found += bool(some)
            dated += any(abs(change.at - 20) <= 1 for change in some)
        print(
            f"a step of {100 * size:.0f} % at night 21 of 30: found in {found}, "
            f"dated within one night in {dated} of {SERIES}"
        )


def _cost() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        file, limits = Path(folder) / "history.jsonl", Path(folder) / "site.limits.toml"
        limits.write_bytes(LIMITS)
        encode = msgspec.json.Encoder().encode
        with file.open("wb") as out:
            for sweep in fleet(NIGHTS, 0.10, (7, 700), SIZES):
                out.write(b"".join(encode(record) + b"\n" for record in (sweep.header, *sweep.measurements, sweep.end)))
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        line = [sys.executable, "-m", "commbench", "accept", str(limits), str(file), "--json"]
        found = json.loads(subprocess.run(line, capture_output=True, check=False).stdout)
        elapsed, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    peak = after.ru_maxrss * 1024
    failed = sorted(
        {check["name"].partition(" @ ")[2] for check in found["checks"] if check["outcome"] == "fail"} - {""}
    )
    print(
        f"\n{ROWS:,} rows of {NODES:,} nodes: {busy:.1f} s of processor time ({elapsed:.1f} s elapsed), "
        f"{peak / 1e9:.2f} GB, {len(found['checks'])} checks, {found['verdict']}; failed: {failed}"
    )
    return bool(busy <= MOST_SECONDS and peak <= MOST_BYTES)


if __name__ == "__main__":
    raise SystemExit(main())
