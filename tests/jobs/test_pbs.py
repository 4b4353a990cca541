"""The lines of the PBS script, under faked PBS variables and a fake mpirun."""

from pathlib import Path

import pytest

from tests.jobs.site import Site

PBS = "pbs.sh"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """Job 70123 on two hosts with mpiprocs=2; PBS names each host twice."""
    folder = tmp_path / "work"
    (tmp_path / "nodes").write_text("node2\nnode2\nnode1\nnode1\n")
    return Site(
        folder,
        {"PBS_JOBID": "70123.head", "PBS_NODEFILE": str(tmp_path / "nodes"), "PBS_O_WORKDIR": str(folder)},
    )


def exported(words: list[str]) -> set[str]:
    """What mpirun takes to other hosts."""
    return {words[place + 1] for place, word in enumerate(words) if word == "-x"}


def without_exports(words: list[str]) -> list[str]:
    """The line without its `-x NAME`."""
    return [word for place, word in enumerate(words) if word != "-x" and words[place - 1] != "-x"]


def test_mpi_line(site: Site) -> None:
    """A rank for each line of the node file."""
    words = without_exports(site.dry(PBS, "-b", "8", "-e", "1G"))
    mpirun = f"mpirun --hostfile {site.environment['PBS_NODEFILE']} -n 4"
    assert words == f"{mpirun} python -m mpi4py -m mpi.sweep -J commbench-70123.jsonl -b 8 -e 1G".split()


def test_torchrun_line(site: Site) -> None:
    """An agent on each host, meeting on the host where PBS runs the script: the first one of the node file."""
    words = without_exports(site.dry(PBS, "-b", "8", COMMBENCH_LAUNCH="torchrun"))
    mpirun = f"mpirun --hostfile {site.environment['PBS_NODEFILE']} -n 2 --map-by ppr:1:node --bind-to none"
    torchrun = "torchrun --nnodes 2 --nproc-per-node 2"
    meeting = "--rdzv-backend c10d --rdzv-endpoint node2:20123 --rdzv-id 70123"
    assert words == f"{mpirun} {torchrun} {meeting} -m commbench.sweep -J commbench-70123.jsonl -b 8".split()


@pytest.mark.parametrize("launch", ["mpi", "torchrun"])
def test_a_dry_run_prints_what_a_run_starts(site: Site, launch: str) -> None:
    """Word for word, whatever is in the words."""
    arguments = ("--label", "two  words", "", "it's $HOME; *")
    words = site.dry(PBS, *arguments, COMMBENCH_LAUNCH=launch)
    assert words[-len(arguments) :] == list(arguments)
    assert site.call(PBS, *arguments, COMMBENCH_LAUNCH=launch).words == words


def test_arguments_through_qsub(site: Site) -> None:
    """qsub passes variables only; quotes keep a word together, and nothing in it is run."""
    words = site.dry(PBS, COMMBENCH_ARGUMENTS="all_reduce -b 8 --label 'two words $(touch made)' \"it's\"")
    assert words[-6:] == ["all_reduce", "-b", "8", "--label", "two words $(touch made)", "it's"]
    assert not (site.folder / "made").exists()
    assert site.dry(PBS, "barrier", COMMBENCH_ARGUMENTS="all_reduce")[-1] == "barrier"


def test_more_ranks_than_cores(site: Site) -> None:
    """Open MPI 5 wants it said."""
    words = without_exports(site.dry(PBS, COMMBENCH_RANKS="9", COMMBENCH_MAP_BY=":oversubscribe"))
    assert words[3:7] == ["-n", "9", "--map-by", ":oversubscribe"]


def test_what_other_hosts_get(site: Site) -> None:
    """What communicates and where programs are; NCCL_DEBUG only if it is set, and values are inherited, not written."""
    given = {"NCCL_NVLS_ENABLE": "0", "UCX_TLS": "sm;tcp", "SECRET": "no", "CUDA_VISIBLE_DEVICES": "1"}
    words = site.dry(PBS, **given)
    assert exported(words) == {"PATH", "NCCL_NVLS_ENABLE", "UCX_TLS"}
    call = site.call(PBS, **given, NCCL_DEBUG="INFO")
    assert exported(call.words) == {"PATH", "NCCL_NVLS_ENABLE", "UCX_TLS", "NCCL_DEBUG"}
    assert given.items() <= call.environment.items()


def test_a_file_of_ones_own_counts_and_a_job_that_runs_again_goes_on(site: Site) -> None:
    """As under Slurm."""
    assert site.dry(PBS, "--resume", "mine.jsonl")[-3:] == ["mpi.sweep", "--resume", "mine.jsonl"]
    (site.folder / "commbench-70123.jsonl").touch()
    assert site.dry(PBS)[-2:] == ["--resume", "commbench-70123.jsonl"]


def test_what_cannot_be_started_is_said(site: Site) -> None:
    """Each before anything starts."""
    done = site.run(PBS, COMMBENCH_LAUNCH="srun")
    assert (done.returncode, "found srun" in done.stderr) == (2, True)
    Path(site.environment["PBS_NODEFILE"]).write_text("node1\nnode1\nnode2\n")
    done = site.run(PBS, COMMBENCH_LAUNCH="torchrun")
    assert (done.returncode, "3 mpiprocs on 2 hosts" in done.stderr) == (2, True)
    site.environment.clear()
    done = site.run(PBS)
    assert "start this with qsub" in done.stderr
    assert not site.started
