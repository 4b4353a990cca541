"""Replayed training steps: predicted against measured, on gloo and MPI.

    python -m benchmarks.replay [--ranks 2] [--parameters 20e6] [--layers 4] [--launchers torchrun,mpirun] [WORDS ...]

Each row is one launch of `commbench.replay` or `mpi.replay` with 5 replays, of which the median counts; words after the
options go to each replay, such as --backend nccl. Returns 1 when a total is off by more than 15 %, or a collective of
it that takes at least a tenth of the step by more than 25 %.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.machine import machine_and_date

STEPS = (("dp", ()), ("zero2", ()), ("zero2", ("--variant", "paper")), ("zero3", ()), ("fsdp", ()))
TOTAL, EACH, COUNTS_FROM = 0.15, 0.25, 0.1


def main() -> int:
    """Replay, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--parameters", default="20e6")
    parser.add_argument("--layers", default="4")
    parser.add_argument("--launchers", default="torchrun,mpirun")
    options, words = parser.parse_known_args()
    print(f"{machine_and_date()}; {options.parameters} parameters in {options.layers} layers, {options.ranks} ranks\n")
    print("| backend | strategy | calls | predicted ms | measured ms | off | each collective (measured ms, off) |")
    print("|---|---|---|---|---|---|---|")
    bad = 0
    for launcher in options.launchers.split(","):
        for strategy, variant in STEPS:
            asked = ["--parameters", options.parameters, "--layers", options.layers, "--strategy", strategy, *variant]
            found = _replay(launcher, options.ranks, [*asked, *words])
            collectives = _by_collective(found)
            bad += abs(found["error"]) > TOTAL
            bad += sum(
                abs(predicted / measured - 1) > EACH
                for predicted, measured in collectives.values()
                if measured > COUNTS_FROM * found["measured_seconds"]
            )
            parts = ", ".join(
                f"{name} {1e3 * measured:.2f} {100 * (predicted / measured - 1):+.0f} %"
                for name, (predicted, measured) in collectives.items()
            )
            times = f"{1e3 * found['predicted_seconds']:.2f} | {1e3 * found['measured_seconds']:.2f}"
            print(f"| {found['backend']} | {strategy} {found['variant']} | {found['calls']} | {times} | "
                  f"{100 * found['error']:+.1f} % | {parts} |", flush=True)  # fmt: skip
    return 1 if bad else 0


def _replay(launcher: str, ranks: int, words: list[str]) -> dict[str, Any]:
    if launcher == "torchrun":
        start = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks), "-m"]
        line = [sys.executable, *start, "commbench.replay"]
    else:
        start = [_mpirun(), "-n", str(ranks), "--map-by", ":oversubscribe"]
        line = [*start, sys.executable, "-m", "mpi4py", "-m", "mpi.replay"]
    allowed = dict.fromkeys(("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMP_NUM_THREADS"), "1")
    done = subprocess.run(
        [*line, *words, "--json"], env={**os.environ, **allowed}, stdout=subprocess.PIPE, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)["replay"]
    return found


def _mpirun() -> str:
    """This environment's, else the one on PATH."""
    own = Path(sys.executable).with_name("mpirun")
    return str(own) if own.exists() else shutil.which("mpirun") or "mpirun"


def _by_collective(found: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """Predicted and measured seconds of each collective, over all phases: ranks wait in one for what came before."""
    totals: dict[str, tuple[float, float]] = {}
    for row in found["collectives"]:
        predicted, measured = totals.get(row["collective"], (0.0, 0.0))
        totals[row["collective"]] = predicted + row["predicted_seconds"], measured + row["measured_seconds"]
    return totals


if __name__ == "__main__":
    sys.exit(main())
