"""Buffers in GPU memory: refused with what was found, where there is no GPU or the library is not GPU-aware."""

import json
import sys
from importlib.util import find_spec

import pytest

pytest.importorskip("mpi4py")

from commbench.collectives import COLLECTIVES

from .running import run

pytestmark = pytest.mark.mpi

GPU = find_spec("torch") is not None and __import__("torch").cuda.is_available()


@pytest.mark.skipif(GPU, reason="there is a GPU")
def test_without_a_gpu_device_buffers_are_refused() -> None:
    """Once, in four parts, with what each library sees."""
    result = run(2, "all_reduce", "-e", "8", "--device-buffers")
    assert result.returncode == 2
    assert "--device-buffers has no GPU memory to use" in result.stderr
    assert "found:" in result.stderr
    assert "CuPy" in result.stderr
    assert result.stderr.count("to do:") == 1


def test_device_buffers_are_about_mpis_own_collectives() -> None:
    """torch's backends have their buffers where their devices are."""
    result = run(2, "--backend", "gloo", "--device-buffers")
    assert result.returncode == 2
    assert "--device-buffers is about MPI's collectives" in result.stderr


def test_a_library_that_is_not_gpu_aware_is_asked_before_it_is_tried() -> None:
    """Its own word is in the refusal: Open MPI's and MPICH's wheels are built without CUDA."""
    result = run(2, "all_reduce", "-e", "8", "--device-buffers", program="tests.mpi.pretended_gpu")
    assert result.returncode == 2
    assert "this MPI library does not take buffers in GPU memory" in result.stderr
    assert "MPIX_Query_cuda_support says no (on " in result.stderr
    assert result.stderr.count("to do:") == 1


def test_tensors_keep_the_contract() -> None:
    """What runs on a GPU's tensors runs on the host's, whose addresses MPI is given in the same way."""
    result = run(2, "--tensors", "--types", "float32,uint64", program="tests.mpi.contract")
    assert result.returncode == 0, result.stderr
    assert set(json.loads(result.stdout)["whole"]) == set(COLLECTIVES)


def test_a_crash_of_the_trial_is_an_answer() -> None:
    """And hurts nobody."""
    from mpi.gpu_awareness import trial

    words = [sys.executable, "-m", "tests.mpi.forbidden_memory"]
    assert trial(words, trusted=True) == (
        False,
        "a call on GPU memory in a process of its own failed: it was ended by SIGSEGV",
    )


@pytest.mark.parametrize("trusted", [True, False])
def test_a_trial_that_cannot_start_leaves_it_to_the_librarys_word(trusted: bool) -> None:
    """Some sites let only their launcher start MPI."""
    from mpi.gpu_awareness import trial

    works, seen = trial([sys.executable, "-c", "raise SystemExit('no PMI here')"], trusted=trusted)
    assert works == trusted
    assert seen == "a call on GPU memory could not be tried: exit code 1, no PMI here"


def test_the_trial_belongs_to_no_job() -> None:
    """The launcher's variables stay behind, the user's settings go with it."""
    from mpi.gpu_awareness import alone

    kept = {"OMPI_MCA_opal_cuda_support": "1", "UCX_TLS": "cuda", "PATH": "/bin", "MPICH_GPU_SUPPORT_ENABLED": "1"}
    job = {"OMPI_COMM_WORLD_RANK": "1", "PMIX_RANK": "1", "PMI_RANK": "1", "OMPI_MCA_orte_ess_jobid": "7", "PRTE_X": ""}
    assert alone(kept | job) == kept
