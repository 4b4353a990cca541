"""Start programs under a real mpirun: Open MPI's of this environment, or MPICH's of one of its own.

Root, and more ranks than cores, are allowed here as a user would allow them: by variables and `--map-by`.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from commbench.launching.starters import ROOT_VARIABLES
from tests.launched.launching import GUARD, Launch, Result

SWEEP = "mpi.sweep"
MPIRUN = Path(sys.executable).with_name("mpirun")
MPICH = os.environ.get("COMMBENCH_MPICH_VENV")  # made by `make mpich-venv`

_RANK = ("OMPI_COMM_WORLD_RANK", "PMI_RANK")


class MpiLaunch(Launch):
    """A program under mpirun that runs. See `Launch`.

    Args:
        mpirun: options of mpirun's own.
        mpich: the environment whose mpiexec and Python are used; None for Open MPI's of this one.
        python: the interpreter that Open MPI's mpirun starts.
    """

    def __init__(
        self,
        ranks: int,
        *options: str,
        env: Mapping[str, str] | None = None,
        program: str = SWEEP,
        mpirun: tuple[str, ...] = (),
        mpich: str | None = None,
        python: str = sys.executable,
    ) -> None:
        if mpich is not None:
            start = [f"{mpich}/bin/mpiexec", "-n", str(ranks), *mpirun, f"{mpich}/bin/python"]
        else:
            start = [str(MPIRUN), "-n", str(ranks), "--map-by", ":oversubscribe", *mpirun, python]
        super().__init__(
            ranks, *options, env={**dict.fromkeys(ROOT_VARIABLES, "1"), **(env or {})}, program=program,
            words=[*start, "-m", "mpi4py", "-m", program, *options],
        )  # fmt: skip

    def worker(self, rank: int) -> int:
        """The process id of a rank."""
        return next(pid for pid, environ in self._processes() if str(rank) in map(environ.get, _RANK))


def run(
    ranks: int,
    *options: str,
    env: Mapping[str, str] | None = None,
    program: str = SWEEP,
    mpirun: tuple[str, ...] = (),
    mpich: str | None = None,
    timeout: float = GUARD,
) -> Result:
    """Run a program under mpirun to its end."""
    with MpiLaunch(ranks, *options, env=env, program=program, mpirun=mpirun, mpich=mpich) as launch:
        return launch.wait(timeout)
