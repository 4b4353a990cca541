"""What each launcher's environment variables claim about this process, read and checked but not yet compared.

Sources: torchrun sets RANK ... (torch.distributed.run), Open MPI 4 and 5 OMPI_COMM_WORLD_*, Hydra (MPICH, Intel MPI)
PMI_* and MPI_LOCAL*, MVAPICH2 MV2_COMM_WORLD_*, and srun SLURM_*. PMIx alone states no size and is no claim.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from commbench.errors import LaunchError

TORCHRUN, ENVIRONMENT, SLURM = "torchrun", "environment variables", "Slurm"
OPEN_MPI, HYDRA, MVAPICH = "Open MPI", "MPICH or Intel MPI", "MVAPICH"
TORCHRUN_MARK = "TORCHELASTIC_RUN_ID"

# Slurm numbers its own steps (batch script, interactive shell, external) from the top; no task of ours runs in one.
_FIRST_SPECIAL_STEP = 0xFFFFFFF0


@dataclass(frozen=True)
class Claim:
    """What one launcher's variables say about this process.

    Attributes:
        launcher: the launcher's name for people.
        rank: None where the variables describe an allocation (salloc, a batch script) and not this process.
        size: processes that the launcher promised.
        started: True where a launcher started this process, False for Slurm variables outside a step.
        rank_name, size_name: the variables that were read.
        names: every variable to unset so that this claim is gone.
        agents: processes of the launcher itself, one a host, where it says so.
    """

    launcher: str
    rank: int | None
    size: int
    rank_name: str
    size_name: str
    names: tuple[str, ...]
    local_rank: int | None = None
    local_size: int | None = None
    host_index: int | None = None
    agents: int | None = None
    started: bool = True

    def __str__(self) -> str:
        rank = "" if self.rank is None else f"{self.rank_name}={self.rank} "
        return f"{rank}{self.size_name}={self.size} ({self.launcher})"


@dataclass(frozen=True)
class _Names:
    launcher: str
    rank: str
    size: str
    local_rank: str
    local_size: str
    host_index: str | None = None


# Also the order of discovery: the innermost launcher comes first.
_FAMILIES = (
    _Names(ENVIRONMENT, "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK"),
    _Names(
        OPEN_MPI,
        "OMPI_COMM_WORLD_RANK",
        "OMPI_COMM_WORLD_SIZE",
        "OMPI_COMM_WORLD_LOCAL_RANK",
        "OMPI_COMM_WORLD_LOCAL_SIZE",
    ),
    _Names(HYDRA, "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
    _Names(
        MVAPICH, "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE"
    ),
)


def read_claims(environ: Mapping[str, str]) -> tuple[Claim, ...]:
    """Every launcher's claim, the innermost launcher first.

    Raises:
        LaunchError: for a value that is no count, a rank outside its world, or one of a pair without the other.
    """
    claims = [_read(names, environ) for names in _FAMILIES]
    claims.append(_read_slurm(environ))
    return tuple(claim for claim in claims if claim is not None)


def _read(names: _Names, environ: Mapping[str, str]) -> Claim | None:
    rank, size = _pair(environ, names.rank, names.size)
    if rank is None or size is None:
        return None
    local_rank, local_size = _count(environ, names.local_rank), _count(environ, names.local_size)
    if local_rank is not None and local_size is not None:
        _check_rank(names.local_rank, local_rank, names.local_size, local_size)
    if local_size is not None and local_size > size:
        raise _impossible(names.local_size, local_size, names.size, size)
    torchrun = names.launcher == ENVIRONMENT and TORCHRUN_MARK in environ
    agents = _count(environ, "GROUP_WORLD_SIZE") if torchrun else None
    return Claim(
        launcher=TORCHRUN if torchrun else names.launcher,
        rank=rank,
        size=size,
        rank_name=names.rank,
        size_name=names.size,
        names=(names.rank, names.size, names.local_rank, names.local_size),
        local_rank=local_rank,
        local_size=local_size,
        host_index=_count(environ, names.host_index) if names.host_index else None,
        agents=agents or (-(-size // local_size) if local_size else None),
    )


def _read_slurm(environ: Mapping[str, str]) -> Claim | None:
    step = _count(environ, "SLURM_STEP_ID") if "SLURM_STEP_ID" in environ else _count(environ, "SLURM_STEPID")
    # `srun --pty bash` runs the shell in task 0 of a step; what is typed there is in no step of its own.
    in_step = step is not None and step < _FIRST_SPECIAL_STEP and "SLURM_PTY_PORT" not in environ
    size_name = "SLURM_STEP_NUM_TASKS" if in_step and "SLURM_STEP_NUM_TASKS" in environ else "SLURM_NTASKS"
    if in_step:
        rank, size = _pair(environ, "SLURM_PROCID", size_name)
    else:
        # A batch script has SLURM_PROCID=0 always and SLURM_NTASKS only when tasks were asked for.
        rank, size = _count(environ, "SLURM_PROCID"), _count(environ, size_name)
        if "SLURM_JOB_ID" in environ or "SLURM_JOBID" in environ:
            rank = None
    if size is None:
        return None
    if rank is not None or in_step:
        _check_rank("SLURM_PROCID", rank or 0, size_name, size)
    return Claim(
        launcher=SLURM,
        rank=rank,
        size=size,
        rank_name="SLURM_PROCID",
        size_name=size_name,
        names=("SLURM_PROCID", "SLURM_NTASKS", "SLURM_STEP_NUM_TASKS") if in_step else ("SLURM_NTASKS",),
        local_rank=None if rank is None else _count(environ, "SLURM_LOCALID"),
        host_index=None if rank is None else _count(environ, "SLURM_NODEID"),
        started=in_step,
    )


def _pair(environ: Mapping[str, str], rank_name: str, size_name: str) -> tuple[int | None, int | None]:
    rank, size = _count(environ, rank_name), _count(environ, size_name)
    if (rank is None) != (size is None):
        present, missing = (size_name, rank_name) if rank is None else (rank_name, size_name)
        raise LaunchError(
            "half of a launcher's variables are set",
            expected=f"{rank_name} and {size_name}, both or neither",
            found=f"{present}={environ[present]}, {missing} is not set",
            fix=f"set {missing}, or `unset {present}` if another launcher starts the processes",
        )
    if rank is not None and size is not None:
        _check_rank(rank_name, rank, size_name, size)
    return rank, size


def _check_rank(rank_name: str, rank: int, size_name: str, size: int) -> None:
    if rank >= size:
        raise _impossible(rank_name, rank, size_name, size)


def _count(environ: Mapping[str, str], name: str) -> int | None:
    text = environ.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal()):
        raise LaunchError(
            "a launcher's variable cannot be read",
            expected=f"a whole number, 0 or more, in {name}",
            found=f"{name}={text!r}",
            fix=f"let the launcher set it, or `unset {name}`",
        )
    return int(text)


def _impossible(lower_name: str, lower: int, upper_name: str, upper: int) -> LaunchError:
    return LaunchError(
        "a launcher's variables contradict each other",
        expected=f"{lower_name} within {upper_name}, ranks counted from 0",
        found=f"{lower_name}={lower}, {upper_name}={upper}",
        fix=f"let one launcher set both, or `unset {lower_name} {upper_name}`",
    )
