"""How long it takes to read a large sweep file, and how much memory: each file in a fresh process.

    python -m benchmarks.reading

Limits: 5 s and 1.5 GB a file (exit code 1 above them). Writes 0.65 GB into a temporary folder.
"""

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec

from benchmarks.machine import machine_and_date
from commbench.sweepfile.records import Header, Measurement, Source

FILES = {"1,000,000 lines of 1 sample": (1_000_000, 1), "200,000 lines of 20 samples": (200_000, 20)}
RUNS = 3
MOST_SECONDS, MOST_BYTES = 5.0, 1.5e9
SWEEP = "0f9c1f1e-6d8a-4a5c-9a52-5e1b9c1d2e3f"

READ = """
import json, resource, sys, time
from commbench.sweepfile.reader import read_sweeps
start = time.perf_counter()
sweeps = read_sweeps(sys.argv[1])
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps([seconds, peak, len(sweeps[0].measurements)]))
"""


def write(path: Path, lines: int, samples: int) -> None:
    """A file as a sweep writes it: times of all digits, slowest and fastest rank."""
    chance = random.Random(1)
    encode = msgspec.json.Encoder().encode
    header = Header(sweep=SWEEP, started_at="2026-11-29T10:00:00Z", world_size=8, source=Source(tool="commbench"))
    with path.open("wb") as out:
        out.write(encode(header) + b"\n")
        for line in range(lines):
            seconds = tuple(chance.lognormvariate(-10.0, 0.3) for _ in range(samples))
            point = Measurement(
                sweep=SWEEP,
                collective="all_reduce",
                message_bytes=8 + 4 * (line % 100_000),
                seconds=seconds,
                dtype="float32",
                op="sum",
                placement="in",
                mode="isolated",
                clock="device",
                calls_per_sample=1,
                fastest_seconds=tuple(0.97 * time for time in seconds),
                slowest_rank=3,
                correct=True,
                wrong=0,
                cycle=line // 100_000,
            )
            out.write(encode(point) + b"\n")


def read(path: Path, lines: int) -> tuple[float, float]:
    """(seconds, peak bytes) of a process that reads the file and does nothing else."""
    done = subprocess.run([sys.executable, "-c", READ, str(path)], check=True, capture_output=True, text=True)
    seconds, peak, found = json.loads(done.stdout)
    assert found == lines, f"{found} of {lines} points were read"
    return seconds, peak


def main() -> int:
    """Print one row a file: its size, the time of each run, the largest peak. Returns 1 above the limits."""
    print(machine_and_date())
    print(f"{'file':<30}{'MB':>6}  {'seconds (each run)':<22}{'peak GB':>8}")
    within = True
    with tempfile.TemporaryDirectory() as folder:
        for name, (lines, samples) in FILES.items():
            path = Path(folder, "sweep.jsonl")
            write(path, lines, samples)
            runs = [read(path, lines) for _ in range(RUNS)]
            peak = max(peak for _, peak in runs)
            times = "  ".join(f"{seconds:.2f}" for seconds, _ in runs)
            print(f"{name:<30}{path.stat().st_size / 1e6:>6.0f}  {times:<22}{peak / 1e9:>8.2f}", flush=True)
            within = within and min(runs)[0] <= MOST_SECONDS and peak <= MOST_BYTES
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())
