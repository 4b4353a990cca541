"""Who am I: rank, world and place on the host, from MPI itself, compared with what the launcher promised."""

import sys
from pathlib import Path

from commbench.errors import LaunchError
from commbench.launching.identity import Identity, no_launcher_error
from commbench.launching.variables import OPEN_MPI, SLURM, TORCHRUN
from mpi import implementation
from mpi.implementation import MPI


def identity(claimed: Identity | None) -> Identity:
    """This rank as MPI numbers it. Collective over all ranks, if MPI has found them.

    Args:
        claimed: what the launcher's variables say; None without any.

    Raises:
        LaunchError: MPI and the launcher disagree, or nothing started this process.
    """
    host = MPI.COMM_WORLD.Split_type(MPI.COMM_TYPE_SHARED)
    found = Identity(
        rank=MPI.COMM_WORLD.Get_rank(),
        world_size=MPI.COMM_WORLD.Get_size(),
        local_rank=host.Get_rank(),
        local_size=host.Get_size(),
        launcher=claimed.launcher if claimed else "MPI",
        host_index=claimed.host_index if claimed else None,
    )
    host.Free()
    return agreed(claimed, found, implementation.name())


def check_before_start(claimed: Identity | None, name: str, version_text: str) -> None:
    """Find what would end the process inside MPI_Init.

    Args:
        name: the MPI library's name and version.
        version_text: MPI_Get_library_version's, which for MPICH holds how it was built.

    Raises:
        LaunchError: MPICH without PMIx, started by Open MPI's mpirun, which offers nothing else.
    """
    if claimed and claimed.launcher == OPEN_MPI and version_text.startswith("MPICH") and "pmix" not in version_text:
        raise LaunchError(
            "mpirun and mpi4py belong to different MPI libraries",
            expected="mpirun, or mpiexec, of the library that mpi4py uses",
            found=f"rank {claimed.rank} of {claimed.world_size} from {claimed.launcher}, and {name} in mpi4py",
            fix=_fix(claimed, name),
        )


def agreed(claimed: Identity | None, found: Identity, name: str) -> Identity:
    """What MPI found, if the launcher says the same.

    Raises:
        LaunchError: as `identity`.
    """
    if claimed is None:
        if found.world_size == 1:
            raise no_launcher_error("mpi.sweep")
        return found
    if (claimed.rank, claimed.world_size) == (found.rank, found.world_size):
        return found
    alone = found.world_size == 1
    raise LaunchError(
        f"{claimed.launcher} started {claimed.world_size} processes but MPI found a world of {found.world_size}"
        if claimed.world_size != found.world_size
        else f"{claimed.launcher} and MPI number the ranks differently",
        expected="the launcher's variables and MPI_COMM_WORLD name the same rank and world size",
        found=(
            f"rank {claimed.rank} of {claimed.world_size} from {claimed.launcher}, "
            f"rank {found.rank} of {found.world_size} from MPI_COMM_WORLD ({name})"
        ),
        fix=_fix(claimed, name) if alone else "start all ranks with one launcher, once",
    )


def _fix(claimed: Identity, name: str) -> str:
    """Each process is alone in its world: launcher and library do not speak the same language."""
    if claimed.launcher == TORCHRUN:
        return "start it with mpirun; under torchrun the program is commbench.sweep"
    if claimed.launcher == SLURM:
        return (
            "tell srun how this library is started: `srun --mpi=pmix` for Open MPI, `srun --mpi=pmi2` for MPICH and "
            "Intel MPI (`srun --mpi=list` shows what there is)"
        )
    beside = Path(sys.executable).with_name("mpirun")
    own = str(beside) if beside.exists() else f"the mpirun of {name}"
    other = "Open MPI's" if claimed.launcher == OPEN_MPI else "another library's"
    return f"the mpirun on PATH is {other}; mpi4py uses {name}: start with {own}, or install mpi4py for the other"
