"""Who am I: rank, world and place on the host, from the environment variables of whichever launcher started us."""

from collections.abc import Mapping
from dataclasses import dataclass

from commbench.errors import LaunchError
from commbench.launching.agreement import check_agreement
from commbench.launching.variables import TORCHRUN, read_claims


@dataclass(frozen=True)
class Identity:
    """This process among the ranks that a launcher promised.

    Attributes:
        rank, world_size: of the whole world.
        local_rank: among the ranks of this host; None where the launcher does not say.
        local_size: ranks on this host; None where the launcher does not say.
        launcher: its name, for people ("torchrun", "Open MPI", "Slurm" ...).
        host_index: this host's (or torchrun agent's) number; None where the launcher does not say.
    """

    rank: int
    world_size: int
    local_rank: int | None
    local_size: int | None
    launcher: str
    host_index: int | None = None

    @property
    def is_torchrun(self) -> bool:
        return self.launcher == TORCHRUN


def identify(environ: Mapping[str, str]) -> Identity | None:
    """Find this process's rank; the order is torchrun or RANK, Open MPI, PMI, MVAPICH2, Slurm.

    Args:
        environ: the environment, such as `os.environ`.

    Returns:
        None where no launcher started this process; a Slurm batch script or salloc shell is not a started rank.

    Raises:
        LaunchError: for broken or half-set variables, or several launchers that disagree.
    """
    claims = read_claims(environ)
    if not claims:
        return None
    check_agreement(claims)
    inner = claims[0]
    if inner.rank is None:
        return None
    # Another launcher that means the same rank may know the place on the host (srun --mpi=pmi2: PMI does not).
    same = [claim for claim in claims if (claim.rank, claim.size) == (inner.rank, inner.size)]
    only = 0 if inner.size == 1 else None
    return Identity(
        rank=inner.rank,
        world_size=inner.size,
        local_rank=next((claim.local_rank for claim in same if claim.local_rank is not None), only),
        local_size=next(
            (claim.local_size for claim in same if claim.local_size is not None), inner.size if only == 0 else None
        ),
        launcher=inner.launcher,
        host_index=next((claim.host_index for claim in same if claim.host_index is not None), None),
    )


def no_launcher_error(program: str) -> LaunchError:
    """The error for a per-rank program that nobody launched.

    Args:
        program: its module, such as `commbench.sweep` or `mpi.sweep`.
    """
    name = program.rpartition(".")[2]
    return LaunchError(
        f"{program} was not started by a launcher",
        expected="one process per rank, started by torchrun, mpirun or srun",
        found="none of RANK, OMPI_COMM_WORLD_RANK, PMI_RANK, MV2_COMM_WORLD_RANK or a Slurm step's SLURM_PROCID",
        fix=(
            f"copy `torchrun --standalone --nproc-per-node 2 -m commbench.{name} …`"
            f" or, for MPI, `mpirun -n 2 python -m mpi4py -m mpi.{name} …`"
        ),
    )
