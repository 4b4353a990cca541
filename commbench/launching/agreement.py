"""Do several launchers' variables describe one world? If not, the classic accident is N copies of a small run.

One launcher often runs inside another: torchrun's agents under srun or mpirun (one a host), mpirun's daemons as a
Slurm step, or anything in an allocation. That is fine as long as the outer one promised no more than is there.
Ranks of agents are not compared: a c10d rendezvous numbers them by host name, not by the outer launcher's rank.
"""

from commbench.errors import LaunchError
from commbench.launching.variables import ENVIRONMENT, SLURM, TORCHRUN, Claim


def check_agreement(claims: tuple[Claim, ...]) -> None:
    """Compare every outer launcher's claim with the innermost one, `claims[0]`.

    Raises:
        LaunchError: naming the variables of both with their values, and how to start what was probably meant.
    """
    inner, *others = claims
    for outer in others:
        if inner.launcher == TORCHRUN:
            _check_around_torchrun(inner, outer)
        else:
            _check_same_world(inner, outer)


def _check_around_torchrun(inner: Claim, outer: Claim) -> None:
    agents = inner.agents or 1
    # A batch allocation may count ranks instead of agents; a launcher that started agents cannot.
    if outer.size <= agents or (not outer.started and outer.size == inner.size):
        return
    raise LaunchError(
        _copies(outer, inner),
        expected=f"{outer.size_name} is the number of torchrun agents, one on each host ({agents} here)"
        + ("" if outer.started else f", or of ranks ({inner.size} here)"),
        found=f"{outer}, {inner}, {_agents(agents)}",
        fix=_fix_around_torchrun(inner, outer),
    )


def _check_same_world(inner: Claim, outer: Claim) -> None:
    if outer.rank is None:
        # Only an allocation: it promises a size and says nothing about this process.
        if outer.size <= inner.size:
            return
    elif (outer.rank, outer.size) == (inner.rank, inner.size) or _is_daemons(inner, outer):
        return
    wrong = f"{inner.launcher} and {outer.launcher} disagree about this process"
    raise LaunchError(
        _copies(outer, inner) if outer.size > inner.size else wrong,
        expected="every launcher's variables name the same rank and world size",
        found=f"{inner}, {outer}",
        fix=_fix_same_world(inner, outer),
    )


def _is_daemons(inner: Claim, outer: Claim) -> bool:
    """Whether `outer` is the Slurm step in which mpirun started its own daemons, at most one a host."""
    return (
        outer.launcher == SLURM
        and inner.launcher != ENVIRONMENT
        and inner.agents is not None
        and outer.size <= inner.agents
    )


def _copies(outer: Claim, inner: Claim) -> str:
    started = f"{outer.launcher} started" if outer.started else f"{outer.launcher} allocated tasks for"
    return f"{started} {outer.size} processes but this world has {inner.size} rank{'s' * (inner.size != 1)}"


def _agents(agents: int) -> str:
    return f"{agents} torchrun agent{'s' * (agents != 1)}"


def _fix_around_torchrun(inner: Claim, outer: Claim) -> str:
    if not outer.started:
        return (
            "start one agent on each node, `srun --ntasks-per-node=1 torchrun --nnodes N --nproc-per-node G"
            " --rdzv-backend c10d --rdzv-endpoint HOST:PORT …`;"
            f" to use a part of the allocation on purpose, `unset {' '.join(outer.names)}`"
        )
    start = f"srun -n {outer.size}" if outer.launcher == SLURM else f"mpirun -n {outer.size}"
    return (
        f"join the agents, `{start} torchrun --nnodes {outer.size} --nproc-per-node {inner.local_size or 1}"
        " --rdzv-backend c10d --rdzv-endpoint HOST:PORT …`;"
        " on one host leave the outer launcher away, `torchrun --standalone --nproc-per-node N …`;"
        f" if torchrun is alone and the variables are left over, `unset {' '.join(outer.names)}`"
    )


def _fix_same_world(inner: Claim, outer: Claim) -> str:
    if outer.rank is None:
        return (
            f"start {outer.size} ranks, or to use a part of the allocation on purpose, `unset {' '.join(outer.names)}`"
        )
    return (
        f"start all ranks with one launcher: with {outer.launcher} `unset {' '.join(inner.names)}`,"
        f" with {inner.launcher} `unset {' '.join(outer.names)}`"
    )
