"""Under a launcher: variables reach the ranks, and copies that do not meet are recognised."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.importing.runner.fakes import Result, environment, finish, install, start


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the fakes and a launcher."""
    install(tmp_path / "bin", "all_reduce_perf")
    script = tmp_path / "mpirun"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -IS {Path(__file__).with_name("launcher.py")} "$@"\n')
    script.chmod(0o755)
    return tmp_path


def launched(folder: Path, launch: str, fake: str = "rows:2") -> Result:
    """A run under a launcher of this folder."""
    words = ("all_reduce", "--binaries", "bin", "-J", "out.jsonl", "--launch", launch)
    return finish(start(words, folder, fake), folder)


def test_nccls_log_is_asked_for_through_the_launcher(folder: Path) -> None:
    result = launched(folder, f"{folder}/mpirun -np 1")
    assert (result.code, result.sweeps[0].proved) == (0, ("P2P",)), result.stderr


def test_a_level_in_the_launch_line_is_the_users(folder: Path) -> None:
    result = launched(folder, f"{folder}/mpirun -np 1 -x NCCL_DEBUG=WARN")
    assert (result.code, result.sweeps[0].proved) == (0, None), result.stderr


def test_copies_of_a_program_without_mpi_are_recognised(folder: Path) -> None:
    """Each prints a table of one rank's."""
    result = launched(folder, f"{folder}/mpirun -np 3", "slow")
    assert result.code == 2
    assert "have not met: each measures a world of one rank" in result.stderr
    assert "make MPI=1" in result.stderr
    assert all(sweep.status == "aborted" for sweep in result.sweeps)


@pytest.mark.mpi
def test_copies_under_a_real_mpirun_are_recognised(tmp_path: Path) -> None:
    install(tmp_path / "bin", "all_reduce_perf")
    mpirun = Path(sys.executable).with_name("mpirun")
    if not mpirun.exists():
        pytest.skip("no mpirun beside this Python")
    result = launched(tmp_path, f"{mpirun} --allow-run-as-root --map-by :oversubscribe -np 2", "slow")
    assert (result.code, "have not met" in result.stderr) == (2, True), result.stderr


@pytest.mark.parametrize(
    ("launch", "told"),
    [
        ("torchrun --standalone --nproc-per-node 2", "cannot be started with torchrun"),
        ("mpirun -np 2 ./all_reduce_perf", "names a program"),
        ("flux run -n 2", "a launch line cannot be used"),
        ("'mpirun", "a launch line cannot be used"),
        ("/nowhere/mpirun -np 2", "cannot be started"),
    ],
)
def test_a_launch_line_that_makes_no_sense_is_refused(folder: Path, launch: str, told: str) -> None:
    result = launched(folder, launch)
    assert (result.code, told in result.stderr) == (2, True), result.stderr
    assert "Traceback" not in result.stderr


def test_rows_are_told_on_a_terminal_too(folder: Path) -> None:
    """A bar would hide what nccl-tests shows."""
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "commbench", "nccl-tests", "all_reduce", "--binaries", "bin"]
    subprocess.run(words, cwd=folder, env=environment("rows:2"), stdout=subprocess.DEVNULL, stderr=theirs, check=True)
    os.close(theirs)
    told = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert "[4/60] all_reduce 16 B, float32, sum, in place: 13.6 us" in told
