"""How long the default sweep takes on this machine: 4 collectives, 8 B to 64 MiB, factor 2, 2 gloo ranks.

    python -m benchmarks.default_sweep

Limit: 90 s on 2 idle cores, start of torchrun and Python included. Exit code 1 above it, or when the sweep is not
complete, a point was left out or a result was wrong.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.machine import machine_and_date
from commbench.sweepfile.reader import Sweep, read_sweeps

MOST_SECONDS = 90.0
RANKS = 2
LAUNCH = ("-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={RANKS}", "-m", "commbench.sweep")
SWEEP = ("--backend", "gloo", "-b", "8", "-e", "64M", "-f", "2")


def run(file: Path) -> tuple[float, int]:
    """(wall seconds, exit code) of the sweep; what it says goes into a file beside the sweep file."""
    environment = {"OMP_NUM_THREADS": "1", **os.environ}
    with file.with_suffix(".log").open("wb") as log:
        start = time.perf_counter()
        done = subprocess.run(
            [sys.executable, *LAUNCH, *SWEEP, "-J", str(file)],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, check=False,
        )  # fmt: skip
        return time.perf_counter() - start, done.returncode


def describe(sweep: Sweep) -> str:
    """Points, samples and status in one line."""
    samples = sum(len(point.seconds) for point in sweep.measurements)
    wrong = sum(point.correct is not True for point in sweep.measurements)
    return (
        f"{len(sweep.measurements)} points, {samples} samples, {len(sweep.left_out)} left out, "
        f"{wrong} not right, status {sweep.status}"
    )


def main() -> int:
    """Print wall time, points and status. Returns 1 above the limit or for a sweep that is not whole and right."""
    print(machine_and_date())
    print(f"load average of the last minute before the start: {os.getloadavg()[0]:.2f}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "sweep.jsonl")
        seconds, code = run(file)
        if code != 0:
            sys.stderr.write(file.with_suffix(".log").read_text())
            print(f"the sweep ended with exit code {code} after {seconds:.1f} s")
            return 1
        (sweep,) = read_sweeps(file)
    print(f"{seconds:.1f} s wall time (limit {MOST_SECONDS:.0f} s), {describe(sweep)}")
    whole = sweep.status == "complete" and not sweep.left_out
    right = all(point.correct is True for point in sweep.measurements)
    return 0 if seconds <= MOST_SECONDS and whole and right else 1


if __name__ == "__main__":
    sys.exit(main())
