"""The lines of the Slurm scripts, under faked Slurm variables and a fake scontrol and srun."""

from pathlib import Path

import pytest

from commbench.launching.identity import identify
from commbench.measuring.command_line import parser
from tests.jobs.site import Site, variables

TORCHRUN, SRUN = "slurm-torchrun.sbatch", "slurm-srun.sbatch"
BOTH = pytest.mark.parametrize("script", [TORCHRUN, SRUN])


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """Job 4321907 on two nodes of four GPUs, as a batch script sees it."""
    folder = tmp_path / "results of today"
    return Site(
        folder,
        {
            "SLURM_JOB_ID": "4321907",
            "SLURM_JOB_NODELIST": "gpu[07-08]",
            "SLURM_GPUS_ON_NODE": "4",
            "SLURM_SUBMIT_DIR": str(folder),
        },
        hosts=("gpu07", "gpu08"),
    )


def test_torchrun_line(site: Site) -> None:
    """One agent on each node, meeting on the first one; the port is 20000 and the job id's last digits."""
    srun = "srun --nodes=2 --ntasks=2 --ntasks-per-node=1 --cpu-bind=none --kill-on-bad-exit=1"
    torchrun = "torchrun --nnodes 2 --nproc-per-node 4"
    meeting = "--rdzv-backend c10d --rdzv-endpoint gpu07:21907 --rdzv-id 4321907"
    sweep = "-m commbench.sweep -J commbench-4321907.jsonl all_reduce -b 8 -e 8G"
    words = site.dry(TORCHRUN, "all_reduce", "-b", "8", "-e", "8G")
    assert words == f"{srun} {torchrun} {meeting} {sweep}".split()


def test_torchrun_understands_its_part(site: Site) -> None:
    """torch's own parser reads the line, and ours what is left for us."""
    run = pytest.importorskip("torch.distributed.run", reason="torch is not installed")
    words = site.dry(TORCHRUN, "--label", "two words", "-T", "25min")
    options = run.get_args_parser().parse_args(words[words.index("torchrun") + 1 :])
    assert (options.nnodes, options.nproc_per_node, options.rdzv_backend) == ("2", "4", "c10d")
    assert options.module
    assert options.training_script == "commbench.sweep"
    ours = parser("commbench.sweep").parse_args(options.training_script_args)
    assert (ours.label, ours.output_file) == ("two words", "commbench-4321907.jsonl")


def test_ranks_of_the_torchrun_line_are_one_world(site: Site) -> None:
    """Slurm's step of two tasks around two agents of four ranks is no disagreement."""
    environment = variables(
        "SLURM_JOB_ID=4321907 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=2 SLURM_NTASKS=2"
        " SLURM_PROCID=1 SLURM_LOCALID=0 SLURM_NODEID=1"
        " TORCHELASTIC_RUN_ID=4321907 GROUP_RANK=1 GROUP_WORLD_SIZE=2"
        " RANK=5 WORLD_SIZE=8 LOCAL_RANK=1 LOCAL_WORLD_SIZE=4"
    )
    identity = identify(environment)
    assert identity is not None
    assert (identity.rank, identity.world_size, identity.launcher) == (5, 8, "torchrun")


def test_srun_line(site: Site) -> None:
    """srun takes the number of tasks from the job; only the CPUs of each are not inherited."""
    words = site.dry(SRUN, "-b", "8")
    sweep = "python -m mpi4py -m mpi.sweep -J commbench-4321907.jsonl -b 8"
    assert words == f"srun --mpi=pmix --kill-on-bad-exit=1 {sweep}".split()
    words = site.dry(SRUN, "-b", "8", SLURM_MPI_TYPE="pmi2", SLURM_CPUS_PER_TASK="6")
    assert words == f"srun --mpi=pmi2 --kill-on-bad-exit=1 --cpus-per-task=6 {sweep}".split()


@BOTH
def test_a_dry_run_prints_what_a_run_starts(site: Site, script: str) -> None:
    """Word for word, whatever is in the words."""
    arguments = ("--label", "two  words", "-d", "float32,bfloat16", "", "it's $HOME; *", '"quoted"')
    words = site.dry(script, *arguments)
    assert words[-len(arguments) :] == list(arguments)
    assert site.call(script, *arguments).words == words


@BOTH
def test_the_environment_is_left_alone(site: Site, script: str) -> None:
    """A site's NCCL_NVLS_ENABLE=0 reaches srun, and NCCL_DEBUG is there only if it was."""
    given = {"NCCL_NVLS_ENABLE": "0", "NCCL_SOCKET_IFNAME": "ib0,ib1"}
    environment = site.call(script, **given).environment
    assert given.items() <= environment.items()
    assert set(environment) - set(given) - set(site.environment) <= {
        "PATH",
        "HOME",
        "CALLS",
        "PWD",
        "OLDPWD",
        "SHLVL",
        "_",
    }
    assert site.call(script, NCCL_DEBUG="INFO").environment["NCCL_DEBUG"] == "INFO"


@BOTH
@pytest.mark.parametrize(
    "own", [("-J", "mine.jsonl"), ("-Jmine.jsonl",), ("--resume", "mine.jsonl"), ("--output-file=mine.jsonl",)]
)
def test_a_file_of_ones_own_counts(site: Site, script: str, own: tuple[str, ...]) -> None:
    """A second -J would be another file."""
    words = site.dry(script, "-b", "8", *own)
    assert "commbench-4321907.jsonl" not in words
    assert words[words.index("-b") :] == ["-b", "8", *own]


@BOTH
def test_a_requeued_job_goes_on(site: Site, script: str) -> None:
    """Its file is there, and would never be overwritten."""
    (site.folder / "commbench-4321907.jsonl").touch()
    words = site.dry(script)
    assert words[-2:] == ["--resume", "commbench-4321907.jsonl"]


@BOTH
def test_a_wrapper_stands_before_the_program(site: Site, script: str) -> None:
    """So that each task, and not srun, runs inside the image."""
    words = site.dry(script, COMMBENCH_INSIDE="/the images/apptainer.sh")
    program = "torchrun" if script == TORCHRUN else "python"
    assert words[words.index(program) - 1] == "/the images/apptainer.sh"


@pytest.mark.parametrize(
    ("variables", "ranks"),
    [
        ({"SLURM_GPUS_ON_NODE": "8"}, "8"),
        ({"SLURM_GPUS_ON_NODE": "", "SLURM_GPUS_PER_NODE": "h200:2"}, "2"),
        ({"SLURM_GPUS_ON_NODE": "", "SLURM_GPUS_PER_NODE": "3"}, "3"),
        ({"COMMBENCH_RANKS_PER_NODE": "1"}, "1"),
    ],
)
def test_ranks_of_a_node(site: Site, variables: dict[str, str], ranks: str) -> None:
    """Slurm's GPUs, or what the user says."""
    words = site.dry(TORCHRUN, **variables)
    assert words[words.index("--nproc-per-node") + 1] == ranks


def test_a_job_without_gpus_is_told_how(site: Site) -> None:
    """Not started with one rank a node, which would measure something else."""
    done = site.run(TORCHRUN, SLURM_GPUS_ON_NODE="")
    assert (done.returncode, site.started) == (2, False)
    assert "--gpus-per-node" in done.stderr
    assert "COMMBENCH_RANKS_PER_NODE" in done.stderr


def test_one_node(site: Site, tmp_path: Path) -> None:
    """The same line, and the host is still named."""
    site.install("scontrol", "#!/bin/bash\necho gpu07\n")
    words = site.dry(TORCHRUN)
    assert words[1:3] == ["--nodes=1", "--ntasks=1"]
    assert "gpu07:21907" in words


def test_scontrol_that_fails_stops_the_job(site: Site) -> None:
    """An empty host would make torchrun wait for the rendezvous."""
    site.install("scontrol", "#!/bin/bash\necho 'slurm_load_jobs error' >&2\nexit 1\n")
    done = site.run(TORCHRUN)
    assert done.returncode != 0
    assert not site.started


@BOTH
def test_outside_a_job_it_says_how_to_start_it(site: Site, script: str) -> None:
    """`bash slurm-….sbatch` on a login node."""
    site.environment.clear()
    done = site.run(script)
    assert done.returncode != 0
    assert "start this with sbatch" in done.stderr
    assert not site.started
