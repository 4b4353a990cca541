"""OSU's programs, OMB-Py's and ours, each started with the same two bound ranks and read: seconds by message size."""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from commbench.sweepfile.derived import median_seconds
from commbench.sweepfile.reader import read_sweeps
from commbench.units import KIB

RANKS = 2
FIRST, LAST = 8, 1024 * KIB  # bytes of the whole message
NAMES = {
    "all_reduce": "allreduce",
    "reduce": "reduce",
    "reduce_scatter": "reduce_scatter",
    "all_gather": "allgather",
}  # of the collectives, in OSU's words
WARM_UP, TIMED = 100, 1000  # calls of each size, in OSU's programs and ours: OSU's own numbers for small messages
MPIRUN = ("mpirun", "-n", str(RANKS), "--bind-to", "core", "--oversubscribe")

_NUMBER = r"([0-9.]+)"
# size, average, minimum and maximum over ranks, iterations, median
_OSU_ROW = re.compile(rf"^(\d+) +{_NUMBER} +{_NUMBER} +{_NUMBER} +\d+ +{_NUMBER} *$", re.MULTILINE)
_PYTHON_ROW = re.compile(rf"^ *(\d+) +{_NUMBER}", re.MULTILINE)


@dataclass(frozen=True)
class Theirs:
    """OSU's figures of a message size (s).

    Attributes:
        average: over iterations, then over ranks: the column that OSU always prints.
        median: over iterations of the ranks' average in each of them (`-z 50`).
        slowest: the average over iterations of the slowest rank.
    """

    average: float
    median: float
    slowest: float


@dataclass(frozen=True)
class Ours:
    """Our figures of a message size (s).

    Attributes:
        slowest: median over samples of the slowest rank, which is what commbench prints.
        mean: median over samples of the ranks' average in each of them, which two ranks' slowest and fastest give.
        python: what Python adds to a call, as the sweep has it.
    """

    slowest: float
    mean: float
    python: float


def osu(folder: Path, collective: str) -> dict[int, Theirs]:
    """OSU's figures on float32, as ours."""
    share = _share(collective)
    size, calls = ["-m", f"{FIRST // share}:{LAST // share}"], ["-x", str(WARM_UP), "-i", str(TIMED)]
    text = _run([*MPIRUN, str(folder / f"osu_{NAMES[collective]}"), "-T", "mpi_float", "-f", "-z50", *size, *calls])
    return {
        int(size) * share: Theirs(float(average) * 1e-6, float(median) * 1e-6, float(slowest) * 1e-6)
        for size, average, _, slowest, median in _OSU_ROW.findall(text)
    }


def omb_py(program: Path, collective: str) -> dict[int, float]:
    """OMB-Py's averages (s); none of a collective that it fails at."""
    share = _share(collective)
    words = [sys.executable, str(program), "--benchmark", NAMES[collective], "--buffer", "numpy"]
    sizes = ["--min", str(FIRST // share), "--max", str(LAST // share)]
    text = _run([*MPIRUN, *words, *sizes], check=False)
    return {int(size) * share: float(time) * 1e-6 for size, time in _PYTHON_ROW.findall(text)}


def commbench(collective: str) -> dict[int, Ours]:
    """Our figures, on one buffer and out of place where both exist, as OSU's."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "sweep.jsonl"
        options = ["-b", str(FIRST), "-e", str(LAST), "-f", "2", "--buffers", "same", "--placement", "out"]
        program = [sys.executable, "-m", "mpi4py", "-m", "mpi.sweep", collective, *options]
        _run([*MPIRUN, *program, "-w", str(WARM_UP), "-n", str(TIMED), "-J", str(file)])
        (sweep,) = read_sweeps(file)
    python = sweep.header.environment["python_call_seconds"][collective]
    return {
        m.message_bytes: Ours(
            median_seconds(m), float(np.median(np.mean([m.seconds, m.fastest_seconds or ()], axis=0))), python
        )
        for m in sweep.measurements
    }


def _share(collective: str) -> int:
    """OSU's all-gather size is a rank's share."""
    return RANKS if collective == "all_gather" else 1


def _run(words: Sequence[str], *, check: bool = True) -> str:
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    environment = {**os.environ, **root, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(words, check=False, capture_output=True, text=True, env=environment)
    if check and done.returncode:
        raise SystemExit(f"{' '.join(words)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout
