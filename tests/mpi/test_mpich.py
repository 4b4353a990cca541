"""The same under MPICH, which lives in an environment of its own: its wheel and Open MPI's both install mpirun.

`make mpich-venv` makes that environment, and COMMBENCH_MPICH_VENV names it. MPICH's ranks never yield their core, so
more ranks than cores are slow, and those worlds are checked with one type.
"""

import json
import os
import signal
from pathlib import Path

import pytest

from commbench.collectives import COLLECTIVES

from .running import MPICH, MpiLaunch, run

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(MPICH is None, reason="COMMBENCH_MPICH_VENV is not set: `make mpich-venv` makes and names it"),
]

QUICK = ("-n", "4", "-w", "1", "--buffers", "same")


TYPES = {1: "float32,int8", 2: "float32,float16,int8", 3: "int8", 4: "int8"}  # by ranks


@pytest.mark.parametrize("ranks", TYPES)
def test_mpich_keeps_the_contract(ranks: int) -> None:
    """Every collective and placement."""
    result = run(ranks, "--types", TYPES[ranks], program="tests.mpi.contract", mpich=MPICH)
    assert result.returncode == 0, result.stderr
    assert set(json.loads(result.stdout)["whole"]) == set(COLLECTIVES) - ({"send_recv"} if ranks == 1 else set())


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_a_sweep_under_mpich(tmp_path: Path, ranks: int) -> None:
    """All rows right; MPICH does not say how it reaches other ranks, so no path is proved."""
    result = run(ranks, "-b", "8", "-e", "4K", "-f", "8", *QUICK, "-J", str(tmp_path / "out.jsonl"), mpich=MPICH)
    assert result.returncode == 0, result.stderr
    (sweep,) = result.sweeps
    assert sweep.header.environment["mpi"].startswith("MPICH ")
    assert sweep.header.transport["proved"] is None
    assert {row.correct for row in result.rows} == {True}
    assert sweep.status == "complete"


def test_persistent_collectives_under_mpich(tmp_path: Path) -> None:
    """MPI-4 has them."""
    options = ("all_reduce", "-e", "64", "-f", "8", "--persistent", *QUICK, "-J", str(tmp_path / "out.jsonl"))
    result = run(2, *options, mpich=MPICH)
    assert result.returncode == 0, result.stderr
    assert {row.correct for row in result.rows} == {True}


def test_the_wrong_mpirun_is_named() -> None:
    """Open MPI's mpirun, MPICH's mpi4py: MPI_Init would end the process without a word of ours."""
    with MpiLaunch(2, python=f"{MPICH}/bin/python") as launch:
        result = launch.wait()
    assert result.returncode == 2
    assert "mpirun and mpi4py belong to different MPI libraries" in result.stderr


def test_a_killed_rank_is_named_if_mpiexec_leaves_the_others_alone(tmp_path: Path) -> None:
    """By default it kills them all at once; with -disable-auto-cleanup our watch names the rank and ends the rest."""
    options = ("all_reduce", "-b", "8", "-e", "4K", "-N", "9", "--limit", "150ms", "--target", "0.001")
    with MpiLaunch(
        2, *options, "-J", str(tmp_path / "out.jsonl"), mpich=MPICH, mpirun=("-disable-auto-cleanup",)
    ) as launch:
        launch.wait_for_rows(3)
        os.kill(launch.worker(1), signal.SIGKILL)
        result = launch.wait(10.0)
        assert launch.left_over() == []
    assert result.returncode != 0
    assert result.last_words[0].startswith("commbench: rank 1 on ")
    assert len(result.sweeps[0].measurements) >= 3
