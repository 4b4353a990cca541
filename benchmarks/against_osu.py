"""Our MPI figures beside OSU's on the same MPI library: `python -m benchmarks.against_osu --osu DIR [--omb-py FILE]`.

Two bound ranks, one buffer (`--buffers same`, as OSU does), alternating launches: OSU, commbench and OMB-Py take
turns, because a shared machine has slow and fast spells and only neighbours in time can be compared. Each pair gives
a ratio (our median over OSU's average) or a distance (ours minus OSU's); the table shows the median over pairs. Exit
code 1 when one leaves the limits below. OSU's all-gather size is a rank's share; it is shown as the whole message.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.machine import machine_and_date
from commbench.sweepfile.derived import median_seconds
from commbench.sweepfile.reader import read_sweeps
from commbench.units import KIB, format_size

RANKS = 2
LARGE, LARGE_WITHIN = 64 * KIB, 0.05
SMALL, SMALL_DISTANCE = 1 * KIB, 1.3e-6
FIRST, LAST = 8, 1 << 20  # bytes of the whole message
COLLECTIVES = {
    "all_reduce": "allreduce",
    "reduce": "reduce",
    "reduce_scatter": "reduce_scatter",
    "all_gather": "allgather",
}
MPIRUN = ("mpirun", "-n", str(RANKS), "--bind-to", "core", "--oversubscribe")

_ROW = re.compile(r"^\s*(\d+)\s+([0-9.]+)", re.MULTILINE)

Point = tuple[str, int]  # collective, bytes of the whole message


def osu(folder: Path) -> dict[Point, float]:
    """OSU's average latencies (s)."""
    times = {}
    for collective, name in COLLECTIVES.items():
        share = RANKS if collective == "all_gather" else 1
        words = [str(folder / f"osu_{name}"), "-m", f"{FIRST // share}:{LAST // share}"]
        times.update(_rows(_run([*MPIRUN, *words]), collective, share))
    return times


def omb_py(program: Path) -> dict[Point, float]:
    """OMB-Py's average latencies (s) of the collectives that it can run."""
    times = {}
    for collective, name in COLLECTIVES.items():
        share = RANKS if collective == "all_gather" else 1
        words = [sys.executable, str(program), "--benchmark", name, "--buffer", "numpy"]
        sizes = ["--min", str(FIRST // share), "--max", str(LAST // share)]
        times.update(_rows(_run([*MPIRUN, *words, *sizes], check=False), collective, share))
    return times


def ours() -> dict[Point, float]:
    """Our medians (s), out of place where both placements exist, as OSU."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "sweep.jsonl"
        options = ["-b", str(FIRST), "-e", str(LAST), "-f", "2", "--buffers", "same", "--placement", "out"]
        program = [sys.executable, "-m", "mpi4py", "-m", "mpi.sweep", *COLLECTIVES, *options]
        _run([*MPIRUN, *program, "--limit", "60ms", "-J", str(file)])
        (sweep,) = read_sweeps(file)
    return {(m.collective or "", m.message_bytes): median_seconds(m) for m in sweep.measurements}


def _run(words: Sequence[str], *, check: bool = True) -> str:
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    environment = {**os.environ, **root, "OMP_NUM_THREADS": "1"}
    return subprocess.run(words, check=check, capture_output=True, text=True, env=environment).stdout


def _rows(text: str, collective: str, share: int) -> dict[Point, float]:
    return {(collective, int(size) * share): float(time) * 1e-6 for size, time in _ROW.findall(text)}


@dataclass
class Pairs:
    """What the pairs gave for one point: ratios to OSU, our and OMB-Py's distance from it (s)."""

    ratios: list[float] = field(default_factory=list)
    distances: list[float] = field(default_factory=list)
    omb_distances: list[float] = field(default_factory=list)

    def verdict(self, size: int) -> str:
        """The limit and whether it holds; empty where none is set."""
        if size >= LARGE:
            ratio = statistics.median(self.ratios)
            return _held(abs(ratio - 1.0) <= LARGE_WITHIN, f"within {LARGE_WITHIN:.0%}")
        if size <= SMALL:
            allowed = min([SMALL_DISTANCE, *([statistics.median(self.omb_distances)] if self.omb_distances else [])])
            return _held(statistics.median(self.distances) <= allowed, f"at most {allowed * 1e6:.2f} us")
        return ""


def _held(holds: bool, limit: str) -> str:
    return limit if holds else f"**{limit}: missed**"


def main() -> int:
    """Run the pairs and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--osu", type=Path, required=True, help="folder with osu_allreduce …")
    parser.add_argument("--omb-py", type=Path, help="OMB-Py's run.py")
    parser.add_argument("--pairs", type=int, default=10)
    options = parser.parse_args()
    points: dict[Point, Pairs] = defaultdict(Pairs)
    for number in range(options.pairs):
        print(f"pair {number + 1} of {options.pairs}", file=sys.stderr, flush=True)
        left, theirs = ours(), osu(options.osu)
        python = omb_py(options.omb_py) if options.omb_py else {}
        for point in left.keys() & theirs.keys():
            points[point].ratios.append(left[point] / theirs[point])
            points[point].distances.append(left[point] - theirs[point])
            if point in python:
                points[point].omb_distances.append(python[point] - theirs[point])
    print(f"{machine_and_date()}; {options.pairs} pairs of launches, {RANKS} ranks\n")
    print(
        "| collective | size | ours / OSU | all pairs | ours - OSU (us) | OMB-Py - OSU (us) | limit |\n"
        "|---|---|---|---|---|---|---|"
    )
    missed = 0
    for (collective, size), pairs in sorted(points.items()):
        verdict = pairs.verdict(size)
        missed += "missed" in verdict
        every = " ".join(f"{ratio:.2f}" for ratio in pairs.ratios)
        omb = f"{statistics.median(pairs.omb_distances) * 1e6:.2f}" if pairs.omb_distances else "did not run"
        ratio, distance = statistics.median(pairs.ratios), statistics.median(pairs.distances) * 1e6
        print(f"| {collective} | {format_size(size)} | {ratio:.3f} | {every} | {distance:.2f} | {omb} | {verdict} |")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
