"""What the Apptainer script runs, binds and lets in, with a fake apptainer."""

import shlex
from pathlib import Path

import pytest

from tests.jobs.site import JOBS, Site, variables

SCRIPT = "apptainer.sh"
CHECKOUT = str(JOBS.parents[1])


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """An image with a space in its name."""
    return Site(tmp_path / "results", {"COMMBENCH_IMAGE": "/images/comm bench.sif"})


def test_the_line(site: Site) -> None:
    """The checkout is this one, results are where we are."""
    words = site.dry(SCRIPT, "python", "-m", "mpi4py", "-m", "mpi.sweep", "--label", "two words")
    binds = ["--bind", str(site.folder), "--bind", CHECKOUT, "--pwd", str(site.folder)]
    inside = ["python", "-m", "mpi4py", "-m", "mpi.sweep", "--label", "two words"]
    assert words == ["apptainer", "exec", "--nv", *binds, "/images/comm bench.sif", *inside]
    assert site.call(SCRIPT, *inside).words == words


def test_what_a_site_changes(site: Site, tmp_path: Path) -> None:
    """Each variable of the head."""
    changed = {"COMMBENCH_CHECKOUT": "", "COMMBENCH_RESULTS": "/scratch", "COMMBENCH_GPU": "--rocm"}
    words = site.dry(SCRIPT, "true", **changed)
    assert words == shlex.split("apptainer exec --rocm --bind /scratch --pwd /scratch '/images/comm bench.sif' true")
    assert "--nv" not in site.dry(SCRIPT, "true", COMMBENCH_GPU="")
    words = site.dry(SCRIPT, "true", COMMBENCH_CHECKOUT=CHECKOUT, COMMBENCH_RESULTS=CHECKOUT)
    assert words.count("--bind") == 1  # the same folder twice is an error to Apptainer
    done = site.run(SCRIPT, "true", COMMBENCH_CHECKOUT=str(tmp_path))
    assert (done.returncode, "COMMBENCH_CHECKOUT" in done.stderr) == (2, True)


@pytest.mark.parametrize("program", ["apptainer", "singularity"])
def test_what_gets_in_even_if_the_environment_is_cleaned(site: Site, program: str) -> None:
    """Who the rank is and how it communicates; the prefix is the program's own."""
    if program == "singularity":
        site.remove("apptainer")
        site.install("singularity")
    in_there = variables(
        "PMIX_RANK=1 PMI_SIZE=2 SLURM_PROCID=1 OMPI_COMM_WORLD_RANK=1 RANK=1 MASTER_ADDR=gpu07"
        " NCCL_NVLS_ENABLE=0 NCCL_SOCKET_IFNAME=ib0,ib1 UCX_TLS='all words'"
    )
    call = site.call(SCRIPT, "true", **in_there, LD_LIBRARY_PATH="/host/lib", PYTHONPATH="/host/python")
    prefix = f"{program.upper()}ENV_"
    passed = {name.removeprefix(prefix): value for name, value in call.environment.items() if name.startswith(prefix)}
    assert call.words[0] == program
    assert passed == {**in_there, "PYTHONPATH": CHECKOUT}
    assert in_there.items() <= call.environment.items()


def test_pmix_of_srun_can_be_reached(site: Site, tmp_path: Path) -> None:
    """Its folder is bound where it is; a choice of the user's own counts."""
    server = tmp_path / "pmix.4321.0"
    server.mkdir()
    call = site.call(SCRIPT, "true", PMIX_SERVER_TMPDIR=str(server))
    assert call.words[call.words.index(str(server)) - 1] == "--bind"
    assert call.environment["APPTAINERENV_PMIX_MCA_gds"] == "hash"
    call = site.call(SCRIPT, "true", PMIX_SERVER_TMPDIR=str(server), PMIX_MCA_gds="shmem2")
    assert call.environment["APPTAINERENV_PMIX_MCA_gds"] == "shmem2"
    assert "hash" not in site.call(SCRIPT, "true").environment.values()


def test_without_an_image_it_says_so(site: Site) -> None:
    """Before anything starts."""
    done = site.run(SCRIPT, "true", COMMBENCH_IMAGE="")
    assert done.returncode != 0
    assert "COMMBENCH_IMAGE" in done.stderr
    assert not site.started
