"""The lines that start launches: each launcher gets the variables in its own way."""

import shlex
import sys
from pathlib import Path

import pytest

from commbench.errors import CommbenchError, UsageError
from commbench.interconnects.order import order
from commbench.interconnects.programs import job
from commbench.launching.lines import LaunchLine, parse_launch
from commbench.launching.settings import parse_settings


def first_line(launch: str, settings: str, *arguments: str, program: str | None = None, **inherited: str) -> LaunchLine:
    """The line of the first launch of the first setting."""
    (step, *_) = order(parse_settings([settings]), 1, Path("r"))
    return job(parse_launch(launch), program, arguments, inherited, [step.setting]).line(step)


@pytest.fixture(autouse=True)
def launchers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every launcher is on PATH."""
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")


def test_torchruns_workers_inherit() -> None:
    line = first_line("torchrun --standalone --nproc-per-node 2", "host,nvlink", "-b", "8", HOME="/root")
    assert line.environment["NCCL_P2P_DISABLE"] == "1"
    assert line.environment["HOME"] == "/root"


def test_torchrun_starts_the_sweep_with_file_and_label() -> None:
    line = first_line("torchrun --standalone", "host,nvlink", "-b", "8")
    assert shlex.join(line.words) == "torchrun --standalone -m commbench.sweep -b 8 -J r/host/1.jsonl --label host"


def test_mpirun_carries_them_with_x() -> None:
    line = first_line("mpirun -n 2", "sm,tcp")
    expected = ["mpirun", "-x", "OMPI_MCA_btl=self,sm", "-x", "OMPI_MCA_pml=ob1", "-n", "2", sys.executable]
    assert list(line.words[:8]) == expected


def test_srun_exports_them() -> None:
    line = first_line("srun -n 2", "a:NCCL_P2P_DISABLE=1,b:")
    assert "--export=ALL,NCCL_P2P_DISABLE=1" in line.words


def test_nccl_tests_get_them_through_their_launcher() -> None:
    line = first_line("mpirun -np 2", "host,nvlink", "all_reduce", program="nccl-tests")
    inner = shlex.split(line.words[line.words.index("--launch") + 1])
    assert inner[:3] == ["mpirun", "-x", "NCCL_P2P_DISABLE=1"]
    assert list(line.words[1:5]) == ["-m", "commbench", "nccl-tests", "all_reduce"]


def test_a_resumed_launch_is_given_nothing_but_its_file() -> None:
    (step, *_) = order(parse_settings(["sm,tcp"]), 1, Path("r"))
    line = job(parse_launch("mpirun -n 2"), None, ["-b", "8"], {}).line(step, resume=True)
    assert list(line.words[-2:]) == ["--resume", "r/sm/1.jsonl"]


@pytest.mark.parametrize("word", ["-J", "-Jx.jsonl", "--label", "--label=x", "--resume", "--plan", "--json"])
def test_files_and_labels_are_not_the_programs(word: str) -> None:
    with pytest.raises(UsageError, match="is not for the measuring program"):
        first_line("mpirun -n 2", "sm,tcp", word)


@pytest.mark.parametrize(
    ("launch", "program"),
    [("mpirun -n 2", "commbench.sweep"), ("torchrun --standalone", "mpi.sweep"), ("mpirun -n 2", "something")],
)
def test_a_program_that_the_launcher_cannot_start_is_refused(launch: str, program: str) -> None:
    with pytest.raises(UsageError):
        first_line(launch, "sm,tcp", program=program)


def test_the_launch_line_counts_as_inherited() -> None:
    with pytest.raises(UsageError, match="OMPI_MCA_btl=self,tcp"):
        first_line("mpirun --mca btl self,tcp -n 2", "sm,tcp")


@pytest.mark.parametrize(
    ("launch", "settings", "arguments"),
    [
        ("mpirun -n 2", "nvlink,host", ()),
        ("mpiexec.hydra -n 2", "sm,tcp", ()),
        ("torchrun --standalone", "sm,tcp", ()),
        ("torchrun --standalone", "nvlink,host", ("--backend", "gloo")),
    ],
)
def test_settings_of_another_library_are_refused(launch: str, settings: str, arguments: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match=r"is NCCL's|is Open MPI's"):
        first_line(launch, settings, *arguments)


def test_nccl_in_ranks_that_mpi_started_has_nccls_settings() -> None:
    assert "NCCL_P2P_DISABLE=1" in first_line("mpirun -n 2", "host,nvlink", "--backend=nccl").words


def test_a_missing_launcher_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(CommbenchError, match="the launcher cannot be found"):
        first_line("srun -n 2", "sm,tcp")


def test_without_the_checkout_there_is_no_mpi_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CommbenchError, match=r"mpi\.sweep cannot be found"):
        first_line("mpirun -n 2", "sm,tcp")
