"""Who am I: every launcher's variables, broken ones, and several at once."""

import re
from collections.abc import Mapping

import pytest

from commbench.errors import LaunchError
from commbench.launching.identity import Identity, identify, no_launcher_error

Env = dict[str, str]


def _torchrun(rank: int, world: int, local: int, *, agents: int | None = None, group: int = 0) -> Env:
    return {
        "TORCHELASTIC_RUN_ID": "none",
        "RANK": str(rank),
        "WORLD_SIZE": str(world),
        "LOCAL_RANK": str(rank % local),
        "LOCAL_WORLD_SIZE": str(local),
        "GROUP_RANK": str(group),
        "GROUP_WORLD_SIZE": str(agents or world // local),
    }


def _plain(rank: int, world: int) -> Env:
    return {"RANK": str(rank), "WORLD_SIZE": str(world)}


def _open_mpi(rank: int, world: int, local: int) -> Env:
    prefix = "OMPI_COMM_WORLD_"
    return {
        f"{prefix}RANK": str(rank),
        f"{prefix}SIZE": str(world),
        f"{prefix}LOCAL_RANK": str(rank % local),
        f"{prefix}LOCAL_SIZE": str(local),
    }


def _batch(tasks: int | None) -> Env:
    """What an sbatch script sees; SLURM_NTASKS is there only when tasks were asked for."""
    tasks_asked = {} if tasks is None else {"SLURM_NTASKS": str(tasks)}
    return {"SLURM_JOB_ID": "7", "SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_NODEID": "0", **tasks_asked}


def _step(rank: int, tasks: int) -> Env:
    """What srun's task sees."""
    return {
        **_batch(tasks),
        "SLURM_STEP_ID": "0",
        "SLURM_STEP_NUM_TASKS": str(tasks),
        "SLURM_PROCID": str(rank),
        "SLURM_LOCALID": "1",
        "SLURM_NODEID": "3",
    }


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        (_torchrun(5, 8, 4, group=1), Identity(5, 8, 1, 4, "torchrun", 1)),
        ({**_plain(1, 2), "LOCAL_RANK": "1"}, Identity(1, 2, 1, None, "environment variables")),
        (_plain(1, 2), Identity(1, 2, None, None, "environment variables")),
        (_plain(0, 1), Identity(0, 1, 0, 1, "environment variables")),
        (_open_mpi(3, 4, 2), Identity(3, 4, 1, 2, "Open MPI")),
        (
            {"PMI_RANK": "3", "PMI_SIZE": "4", "MPI_LOCALRANKID": "1", "MPI_LOCALNRANKS": "2"},
            Identity(3, 4, 1, 2, "MPICH or Intel MPI"),
        ),
        (
            {"MV2_COMM_WORLD_RANK": "1", "MV2_COMM_WORLD_SIZE": "2", "MV2_COMM_WORLD_LOCAL_RANK": "1"},
            Identity(1, 2, 1, None, "MVAPICH"),
        ),
        (_step(6, 8), Identity(6, 8, 1, None, "Slurm", 3)),
        ({"SLURM_PROCID": "1", "SLURM_NTASKS": "2", "SLURM_LOCALID": "1"}, Identity(1, 2, 1, None, "Slurm")),
        # srun --mpi=pmi2: PMI knows the rank, Slurm the place on the host.
        ({"PMI_RANK": "6", "PMI_SIZE": "8", **_step(6, 8)}, Identity(6, 8, 1, None, "MPICH or Intel MPI", 3)),
    ],
)
def test_each_launcher_is_recognised(environ: Env, expected: Identity) -> None:
    assert identify(environ) == expected


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"PMIX_RANK": "0"},
        _batch(None),
        _batch(8),
        {"SLURM_JOB_ID": "7", "SLURM_NTASKS": "4"},
        {**_batch(8), "SLURM_STEP_ID": "4294967290", "SLURM_STEP_NUM_TASKS": "1"},
        {**_step(0, 8), "SLURM_PTY_PORT": "4242"},
    ],
    ids=["nothing", "pmix alone", "batch", "batch with tasks", "salloc", "interactive step", "srun --pty"],
)
def test_no_launcher_started_this_process(environ: Env) -> None:
    assert identify(environ) is None


@pytest.mark.parametrize("text", ["", "one", "-1", "1.0", "1_0", "²"])
@pytest.mark.parametrize("name", ["RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK"])
def test_a_value_that_is_no_count_is_named(name: str, text: str) -> None:
    with pytest.raises(LaunchError) as caught:
        identify({**_torchrun(0, 2, 2), name: text})
    assert f"{name}={text!r}" in caught.value.found
    assert f"unset {name}" in caught.value.fix


@pytest.mark.parametrize(
    ("environ", "found"),
    [
        (_plain(2, 2), "RANK=2, WORLD_SIZE=2"),
        (_plain(0, 0), "RANK=0, WORLD_SIZE=0"),
        ({**_plain(1, 4), "LOCAL_RANK": "2", "LOCAL_WORLD_SIZE": "2"}, "LOCAL_RANK=2, LOCAL_WORLD_SIZE=2"),
        ({**_plain(1, 2), "LOCAL_WORLD_SIZE": "4"}, "LOCAL_WORLD_SIZE=4, WORLD_SIZE=2"),
        (_step(8, 8), "SLURM_PROCID=8, SLURM_STEP_NUM_TASKS=8"),
        ({"RANK": "0"}, "RANK=0, WORLD_SIZE is not set"),
        ({"PMI_SIZE": "2"}, "PMI_SIZE=2, PMI_RANK is not set"),
        ({"SLURM_STEP_ID": "0", "SLURM_PROCID": "0"}, "SLURM_PROCID=0, SLURM_NTASKS is not set"),
    ],
)
def test_impossible_and_half_set_variables_are_refused(environ: Env, found: str) -> None:
    with pytest.raises(LaunchError) as caught:
        identify(environ)
    assert caught.value.found == found


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({**_plain(0, 1), **_open_mpi(1, 2, 2)}, ["RANK=0", "OMPI_COMM_WORLD_RANK=1", "WORLD_SIZE=1", "WORLD_SIZE=2"]),
        ({**_plain(0, 2), **_open_mpi(1, 2, 2)}, ["RANK=0", "OMPI_COMM_WORLD_RANK=1"]),
        ({**_plain(0, 4), **_step(0, 2)}, ["WORLD_SIZE=4", "SLURM_STEP_NUM_TASKS=2"]),
        ({**_open_mpi(0, 2, 2), "PMI_RANK": "0", "PMI_SIZE": "3"}, ["OMPI_COMM_WORLD_SIZE=2", "PMI_SIZE=3"]),
        # N copies of a small run: srun started mpirun N times.
        ({**_open_mpi(0, 1, 1), **_step(1, 4)}, ["OMPI_COMM_WORLD_SIZE=1", "SLURM_STEP_NUM_TASKS=4"]),
        ({**_open_mpi(0, 2, 2), **_batch(4)}, ["OMPI_COMM_WORLD_SIZE=2", "SLURM_NTASKS=4"]),
    ],
)
def test_launchers_that_disagree_are_both_named(environ: Env, words: list[str]) -> None:
    with pytest.raises(LaunchError) as caught:
        identify(environ)
    for word in words:
        assert word in caught.value.found
    _check_that_unset_helps(environ, caught.value)


@pytest.mark.parametrize(
    "environ",
    [
        {**_plain(1, 2), **_open_mpi(1, 2, 2), **_step(1, 2)},
        {**_open_mpi(5, 8, 4), **_step(0, 2)},  # mpirun's daemons are the step, one a host
        {**_open_mpi(5, 8, 8), **_step(0, 1)},  # srun -n 1 mpirun -n 8
        {**_open_mpi(5, 8, 4), **_batch(8)},
        {**_open_mpi(5, 8, 4), **_batch(2)},  # --ntasks-per-node=1, and mpirun places ranks itself
        {**_open_mpi(5, 8, 4), "SLURM_JOB_ID": "7", "SLURM_NTASKS": "8"},
    ],
)
def test_launchers_that_agree_are_fine(environ: Env) -> None:
    assert identify(environ) is not None


@pytest.mark.parametrize(
    "environ",
    [
        {**_torchrun(0, 1, 1), **_open_mpi(1, 2, 2)},
        {**_torchrun(0, 2, 2), **_open_mpi(0, 2, 2)},
        {**_torchrun(1, 2, 2), **_open_mpi(1, 2, 2)},
        {**_torchrun(3, 4, 4), **_step(3, 4)},
        {**_torchrun(3, 4, 4), **_batch(8)},
        {**_torchrun(3, 8, 8), **_batch(2)},
        {**_torchrun(0, 1, 1), "PMI_RANK": "0", "PMI_SIZE": "2"},
    ],
    ids=["2 of 1", "2 of 2", "2 of 2, rank 1", "srun", "part", "one node of two", "hydra"],
)
def test_copies_of_a_torchrun_world_are_refused(environ: Env) -> None:
    with pytest.raises(LaunchError, match=r"processes but this world has \d rank") as caught:
        identify(environ)
    assert "torchrun" in caught.value.fix
    assert "--rdzv-endpoint" in caught.value.fix
    _check_that_unset_helps(environ, caught.value)


@pytest.mark.parametrize(
    "environ",
    [
        {**_torchrun(5, 8, 4, group=1), **_step(0, 2)},  # c10d numbers agents by host name, not by srun's rank
        {**_torchrun(1, 2, 1, group=1), **_open_mpi(1, 2, 1)},
        {**_torchrun(1, 2, 2), **_step(0, 1)},
        {**_torchrun(5, 8, 4, group=1), **_step(0, 1)},  # one step for each agent
        {**_torchrun(5, 6, 2, agents=2), **_step(0, 2)},  # hosts of 4 and 2 ranks
        {**_torchrun(3, 6, 4, agents=3), **_step(0, 3)},  # hosts of 4, 1 and 1
        {**_torchrun(3, 4, 4), **_batch(4)},
        {**_torchrun(3, 4, 4), **_batch(1)},
        {**_torchrun(3, 4, 4), **_batch(None)},
        {**_torchrun(3, 4, 4), **_step(0, 4), "SLURM_PTY_PORT": "4242"},
        {**_torchrun(0, 1, 1), **_open_mpi(0, 1, 1)},
        _torchrun(0, 1, 1),
    ],
)
def test_torchrun_inside_another_launcher_is_fine(environ: Env) -> None:
    found = identify(environ)
    assert found is not None
    assert (found.launcher, found.rank, found.is_torchrun) == ("torchrun", int(environ["RANK"]), True)


def test_without_a_launcher_the_lines_to_copy_are_named() -> None:
    error = no_launcher_error("commbench.sweep")
    assert "torchrun --standalone --nproc-per-node 2 -m commbench.sweep" in error.fix
    assert "mpirun -n 2 python -m mpi4py -m mpi.sweep" in error.fix
    assert "-m mpi.replay" in no_launcher_error("mpi.replay").fix


def _check_that_unset_helps(environ: Mapping[str, str], error: LaunchError) -> None:
    """Every `unset …` that an error recommends makes this error go away."""
    commands = re.findall(r"`unset ([A-Z0-9_ ]+)`", error.fix)
    assert commands
    for command in commands:
        names = command.split()
        assert identify({name: value for name, value in environ.items() if name not in names}) is not None
