"""Our figures beside nccl-tests' on the same GPUs and sizes: `python -m benchmarks.against_nccl_tests --binaries DIR`.

Pipelined mode stands against nccl-tests as it is (calls back to back), graph mode against its -G. A pipelined call
that Python cannot issue as fast as the device runs it ("host-paced") is shown and not judged. With one rank only
out-of-place all_gather and reduce_scatter move data in both programs: torch has no out-of-place all_reduce and
reduce, and in place one rank has nothing to do. Exit code 1 when a ratio leaves the limits below.

`--sweeps OURS THEIRS` starts nothing and reads two sweep files instead: one of `commbench.sweep`, one of
`commbench nccl-tests` (or of `commbench import`).
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.machine import machine_and_date
from commbench.sweepfile.derived import median_seconds
from commbench.sweepfile.reader import read_sweeps
from commbench.units import MIB, format_seconds, format_size

LARGE, LARGE_WITHIN = 64 * MIB, 0.02
SMALL, SMALL_AT_MOST = 1024, 1.4
GRAPH_REPLAYS = "5"

Key = tuple[str, str, str, int]  # collective, mode, placement, message bytes


@dataclass(frozen=True)
class Comparison:
    """One point in both programs (s). `host_paced`: a graph of the same calls is more than 10 % faster."""

    key: Key
    ours: float
    theirs: float
    host_paced: bool

    @property
    def limit(self) -> str | None:
        """What the ratio must hold, None where only the figure is wanted."""
        _, mode, placement, size = self.key
        if placement == "out" and self.host_paced:
            return "host-paced"
        if placement == "out" and size >= LARGE:
            return f"within {LARGE_WITHIN:.0%}"
        if placement == "out" and mode == "graph" and size == SMALL:
            return f"at most {SMALL_AT_MOST}"
        return None

    @property
    def holds(self) -> bool:
        """Whether the ratio is inside its limit."""
        ratio = self.ours / self.theirs
        if self.limit in (None, "host-paced"):
            return True
        return abs(ratio - 1.0) <= LARGE_WITHIN if self.key[3] >= LARGE else ratio <= SMALL_AT_MOST


def theirs(folder: Path, collectives: Sequence[str], sizes: Sequence[str], ranks: int, work: Path) -> dict[Key, float]:
    """nccl-tests' mean times (s), with and without -G, from its JSON."""
    times: dict[Key, float] = {}
    for collective in collectives:
        for mode, extra in (("pipelined", []), ("graph", ["-G", GRAPH_REPLAYS])):
            file = work / f"{collective}-{mode}.json"
            words = [str(folder / f"{collective}_perf"), *sizes, "-g", str(ranks), "-n", "20", "-w", "5", *extra]
            subprocess.run([*words, "-J", str(file)], check=True, stdout=subprocess.DEVNULL)
            for row in json.loads(file.read_text())["results"]:
                for placement, name in (("out", "out_of_place"), ("in", "in_place")):
                    if row[name]:
                        times[collective, mode, placement, row["size"]] = row[name]["time"] * 1e-6
    return times


def ours(collectives: Sequence[str], sizes: Sequence[str], ranks: int, work: Path) -> dict[Key, float]:
    """Our median times (s)."""
    file = work / "commbench.jsonl"
    words = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}", "-m", "commbench.sweep"]
    options = ["--mode", "pipelined,graph", "-G", GRAPH_REPLAYS, "-J", str(file)]
    subprocess.run([sys.executable, *words, *collectives, *sizes, *options], check=True, stdout=subprocess.DEVNULL)
    return times_of(file)


def times_of(file: Path) -> dict[Key, float]:
    """The median time of each point of a sweep file (s); of its last sweep where several have the point."""
    return {
        (m.collective or "", m.mode or "", m.placement or "", m.message_bytes): median_seconds(m)
        for sweep in read_sweeps(file)
        for m in sweep.measurements
    }


def described(file: Path) -> str:
    """The device, ranks and libraries of a sweep file's first sweep."""
    header = read_sweeps(file)[0].header
    facts = {"nccl": header.environment.get("nccl"), **(header.environment.get("libraries") or {})}
    libraries = ", ".join(f"{name} {version}" for name, version in facts.items() if version)
    tool = " ".join(filter(None, (header.source.tool, header.source.version)))
    words = (tool, header.environment.get("device"), f"{header.world_size} rank(s)", libraries)
    return ", ".join(str(word) for word in words if word)


def _host_paced(key: Key, times: dict[Key, float]) -> bool:
    collective, mode, placement, size = key
    in_graph = times.get((collective, "graph", placement, size))
    return mode == "pipelined" and in_graph is not None and times[key] > 1.1 * in_graph


def device() -> str:
    """The GPU, torch and NCCL."""
    import torch

    nccl = ".".join(map(str, torch.cuda.nccl.version()))  # type: ignore[no-untyped-call]
    return f"{torch.cuda.get_device_name()}, torch {torch.__version__}, NCCL {nccl}"


def measured(options: argparse.Namespace) -> tuple[dict[Key, float], dict[Key, float], str]:
    """Our times, theirs, and on what; both programs are started here."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        left = ours(options.collectives, options.sizes, options.ranks, work)
        right = theirs(options.binaries, options.collectives, options.sizes, options.ranks, work)
    return left, right, f"{device()}; {machine_and_date()}; {options.ranks} rank(s); {' '.join(options.sizes)}"


def main() -> int:
    """Run both, or read both, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--binaries", type=Path, help="folder with nccl-tests' all_gather_perf …")
    source.add_argument("--sweeps", type=Path, nargs=2, metavar=("OURS", "THEIRS"), help="sweep files of both")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--collectives", nargs="+", default=["all_gather", "reduce_scatter", "all_reduce", "reduce"])
    parser.add_argument("--sizes", nargs="+", default=["-b", "1K", "-e", "1G", "-f", "4"])
    options = parser.parse_args()
    if options.sweeps:
        left, right = map(times_of, options.sweeps)
        head = f"{'; '.join(map(described, options.sweeps))}; {machine_and_date()}"
    else:
        left, right, head = measured(options)
    table = [
        Comparison(key, left[key], right[key], _host_paced(key, left)) for key in sorted(left.keys() & right.keys())
    ]
    print(f"{head}\n")
    print(
        "| collective | mode | placement | size | commbench | nccl-tests | ratio | limit |\n"
        "|---|---|---|---|---|---|---|---|"
    )
    for row in table:
        collective, mode, placement, size = row.key
        verdict = "" if row.limit is None else row.limit if row.holds else f"**{row.limit}: missed**"
        print(
            f"| {collective} | {mode} | {placement} | {format_size(size)} | {format_seconds(row.ours)} "
            f"| {format_seconds(row.theirs)} | {row.ours / row.theirs:.3f} | {verdict} |"
        )
    return 0 if table and all(row.holds for row in table) else 1


if __name__ == "__main__":
    sys.exit(main())
