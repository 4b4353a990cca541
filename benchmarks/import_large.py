"""Import a large log of nccl-tests and print time and memory: `python -m benchmarks.import_large`.

Memory is the peak of a fresh process above that of one that imports an empty file.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LOG = Path(__file__).parent.parent / "tests" / "data" / "importing" / "095-ar-rtx4090-4-pcie.log"
BYTES = 10_000_000
RUNS = 3
_HEAD, _ROWS = 11, 29  # lines above the rows, and rows, of the log


def many_runs(log: str) -> str:
    """The whole log again and again."""
    return log * (BYTES // len(log) + 1)


def one_run(log: str) -> str:
    """One table with as many cycles."""
    lines = log.split("\n")
    rows = "\n".join(lines[_HEAD : _HEAD + _ROWS]) + "\n"
    return "\n".join(lines[:_HEAD]) + "\n" + rows * (BYTES // len(rows) + 1) + "\n".join(lines[_HEAD + _ROWS :])


def imported(text: str, folder: Path) -> tuple[float, float, float]:
    """Wall time and processor time (s) and peak memory (MB) of one import into a sweep file."""
    log, sweeps = folder / "large.log", folder / "large.jsonl"
    log.write_text(text)
    sweeps.unlink(missing_ok=True)
    start = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "commbench", "import", str(log), "-J", str(sweeps)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    _, _, used = os.wait4(process.pid, 0)
    process.returncode = 0  # it was waited for above
    return time.monotonic() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main() -> None:
    """Print a line for each form of the log."""
    log = LOG.read_text()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        empty = imported("", folder)[2]
        print(f"an empty file: {empty:.0f} MB; load average {os.getloadavg()[0]:.2f}")
        for words, text in (("many runs", many_runs(log)), ("one run of many cycles", one_run(log))):
            runs = [imported(text, folder) for _ in range(RUNS)]
            wall = ", ".join(f"{run[0]:.2f}" for run in runs)
            processor = ", ".join(f"{run[1]:.2f}" for run in runs)
            above = max(run[2] for run in runs) - empty
            print(f"{words}, {len(text) / 1e6:.1f} MB: {wall} s (processor {processor} s), {above:.0f} MB above it")


if __name__ == "__main__":
    main()
