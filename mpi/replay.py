"""A training step's collectives under MPI: `mpirun … python -m mpi4py -m mpi.replay`, as `commbench.replay` does it."""

import sys
from collections.abc import Sequence
from dataclasses import replace

from commbench.measuring.command_line import Extras
from commbench.measuring.session import Session
from commbench.replay import run
from commbench.replaying.options import ReplayOptions
from mpi.sweep import EXTRAS, Job, leave

PROGRAM = "mpi.replay"
OWN: Extras = replace(EXTRAS, launch="mpirun -n 2 python -m mpi4py -m mpi.replay --model tiny --strategy zero3")


def main(arguments: Sequence[str] | None = None) -> int:
    """`mpirun … python -m mpi4py -m mpi.replay OPTIONS`. Returns the exit code."""
    job = Job()

    def session(options: ReplayOptions) -> Session:
        return job.session(options.sweep)

    words = sys.argv[1:] if arguments is None else arguments
    return run(session, words, PROGRAM, extras=OWN, confirm=job.identity)


if __name__ == "__main__":
    leave(main())
