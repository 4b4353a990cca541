"""Pairs of ranks under MPI: `mpirun … python -m mpi4py -m mpi.pairs`, as `commbench.pairs` does it."""

import sys
from collections.abc import Sequence
from dataclasses import replace

from commbench.measuring.command_line import Extras
from commbench.measuring.session import Session
from commbench.pairing.options import PairsOptions
from commbench.pairs import run
from mpi.sweep import EXTRAS, Job, leave

PROGRAM = "mpi.pairs"
OWN: Extras = replace(EXTRAS, launch="mpirun -n 8 python -m mpi4py -m mpi.pairs -J pairs.jsonl")


def main(arguments: Sequence[str] | None = None) -> int:
    """`mpirun … python -m mpi4py -m mpi.pairs OPTIONS`. Returns the exit code."""
    job = Job()

    def session(options: PairsOptions) -> Session:
        return job.session(options.sweep)

    words = sys.argv[1:] if arguments is None else arguments
    return run(session, words, PROGRAM, extras=OWN, confirm=job.identity)


if __name__ == "__main__":
    leave(main())
