"""Who a rank is: MPI's answer against the launcher's, and a library that is not there."""

import sys
from collections.abc import Mapping

import pytest

from tests.launched.launching import Launch, Result

from .running import run

pytestmark = pytest.mark.mpi

ALONE = (sys.executable, "-m", "mpi4py", "-m", "mpi.sweep")
TORCHRUN = {"RANK": "0", "WORLD_SIZE": "2", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "2", "TORCHELASTIC_RUN_ID": "x"}


def alone(env: Mapping[str, str]) -> Result:
    """One process, as somebody else's launcher would leave it."""
    with Launch(1, words=ALONE, env=env) as launch:
        return launch.wait()


@pytest.mark.parametrize(
    ("env", "both", "fix"),
    [
        ({"PMI_RANK": "0", "PMI_SIZE": "4"}, "rank 0 of 4 from MPICH or Intel MPI, rank 0 of 1 from", "/mpirun"),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "8", "SLURM_STEP_ID": "0", "SLURM_JOB_ID": "7"},
         "rank 0 of 8 from Slurm, rank 0 of 1 from", "srun --mpi=pmix"),
        (TORCHRUN, "rank 0 of 2 from torchrun, rank 0 of 1 from", "under torchrun the program is commbench.sweep"),
    ],
)  # fmt: skip
def test_a_promised_world_that_mpi_does_not_find(env: Mapping[str, str], both: str, fix: str) -> None:
    """The classic accident of N worlds of one: both values, and what to do."""
    result = alone(env)
    assert result.returncode == 2
    assert both in result.stderr
    assert fix in result.stderr
    assert "Traceback" not in result.stderr


def test_nobody_started_it() -> None:
    """One rank by hand is a mistake, as it is without MPI."""
    result = alone({})
    assert result.returncode == 2
    assert "mpi.sweep was not started by a launcher" in result.stderr


def test_no_library() -> None:
    """One sentence, no traceback."""
    result = alone({"MPI4PY_LIBMPI": "/nonexistent/libmpi.so"})
    assert result.returncode == 2
    assert "no MPI library can be loaded" in result.stderr
    assert "Traceback" not in result.stderr


def test_help_is_printed_once() -> None:
    """By rank 0, with the option that only this program has."""
    result = run(2, "-h")
    assert (result.returncode, result.stdout.count("usage:")) == (0, 1)
    assert "--persistent" in result.stdout


@pytest.mark.parametrize(
    ("options", "wrong"), [(("--frob",), "--frob"), (("--backend", "gloo", "--persistent"), "--persistent")]
)
def test_a_mistake_is_told_once(options: tuple[str, ...], wrong: str) -> None:
    """Exit code 2 and four parts, from rank 0."""
    result = run(2, *options)
    assert result.returncode == 2
    assert wrong in result.stderr
    assert result.stderr.count("to do:") == 1
