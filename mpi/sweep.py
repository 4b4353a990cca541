"""The main job under MPI: `mpirun … python -m mpi4py -m mpi.sweep`, once per rank. Options, table and file are those
of `torchrun … -m commbench.sweep`; `--backend gloo` and `nccl` run torch's collectives in ranks that MPI started.
"""

import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import NoReturn

from commbench.errors import LaunchError, UsageError
from commbench.launching.identity import Identity
from commbench.measuring.command_line import Extras
from commbench.measuring.options import Options
from commbench.measuring.session import Session
from commbench.sweep import run

PROGRAM = "mpi.sweep"
EXTRAS = Extras(
    launch="mpirun -n 2 python -m mpi4py -m mpi.sweep -b 8 -e 64M -f 2 -J sweep.jsonl",
    backends="mpi (default), or gloo or nccl in ranks that MPI started",
    own_output=False,
    flags={
        "persistent": "measure persistent collectives (MPI-4): prepared once, then MPI_Start and MPI_Wait",
        "device_buffers": "buffers in GPU memory (torch's or CuPy's), for an MPI library that is GPU-aware",
    },
)


class Job:
    """This process's part in the job. `printed` is what the library printed while it started."""

    printed = ""

    def identity(self, claimed: Identity | None) -> Identity:
        """Start MPI and ask it who this is. Raises LaunchError in four parts."""
        implementation = load()
        from mpi.who import check_before_start, identity  # needs a library that was loaded

        check_before_start(claimed, implementation.name(), implementation.MPI.Get_library_version())
        self.printed = implementation.start()
        return identity(claimed)

    def session(self, options: Options) -> Session:
        """The session of the backend that was asked for."""
        if options.backend in (None, "mpi"):
            from mpi.device_buffers import device_memory
            from mpi.host_memory import HostMemory
            from mpi.session import MpiSession

            memory = device_memory() if options.own["device_buffers"] else HostMemory()
            return MpiSession(options, memory, self.printed, persistent=options.own["persistent"])
        for name in (name for name, given in options.own.items() if given):
            raise UsageError(f"--{name.replace('_', '-')} is about MPI's collectives", expected="--backend mpi",
                             found=f"--backend {options.backend}", fix="leave one of the two away")  # fmt: skip
        try:
            from mpi.torch_workers import TorchUnderMpi
        except ImportError as error:
            raise LaunchError(f"--backend {options.backend} needs torch", expected="torch, beside mpi4py",
                              found=str(error), fix="pip install 'commbench[torch]'") from None  # fmt: skip
        return TorchUnderMpi(options.backend, os.environ, shared_device=options.shared_device)


def load() -> ModuleType:
    """The module whose import loads mpi4py and libmpi. Raises LaunchError where one is missing."""
    try:
        from mpi import implementation
    except ImportError as error:
        raise LaunchError(
            "mpi4py is not installed",
            expected="mpi4py 4 or newer, and an MPI library",
            found=str(error),
            fix="pip install 'commbench[mpi]', which brings Open MPI, or mpi4py for your site's MPI module",
        ) from None
    except RuntimeError as error:  # mpi4py's wheels look for the library when they are imported
        raise LaunchError(
            "no MPI library can be loaded",
            expected="libmpi where mpi4py looks: beside it, or on LD_LIBRARY_PATH",
            found=str(error).partition("\n")[0],
            fix="pip install 'commbench[mpi]', which brings Open MPI, or load your site's MPI module",
        ) from None
    return implementation


def main(arguments: Sequence[str] | None = None) -> int:
    """`mpirun … python -m mpi4py -m mpi.sweep OPTIONS`. Returns the exit code."""
    job = Job()
    words = sys.argv[1:] if arguments is None else arguments
    return run(job.session, words, PROGRAM, extras=EXTRAS, confirm=job.identity)


def leave(code: int) -> NoReturn:
    """End this process, also where MPI runs although this rank is done: an error that other ranks may not share."""
    sys.stdout.flush()
    sys.stderr.flush()
    implementation = sys.modules.get("mpi.implementation")
    if implementation and implementation.MPI.Is_initialized() and not implementation.MPI.Is_finalized():
        os._exit(code)  # mpi4py would call MPI_Abort, which has a lot to say; mpirun ends the others all the same
    sys.exit(code)  # MPICH says goodbye to its mpiexec on the way out


if __name__ == "__main__":
    leave(main())
