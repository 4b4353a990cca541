"""Launch lines, compared as lists of words."""

from pathlib import Path

import pytest

from commbench.errors import UsageError
from commbench.launching.lines import Launcher, launch_line, parse_launch

HYDRA = "HYDRA build details:\n    Version:   5.0.2"
OPEN_MPI = "mpirun (Open MPI) 5.0.11\n"


@pytest.mark.parametrize(
    ("text", "version", "kind"),
    [
        ("torchrun --standalone --nproc-per-node 8", None, "torchrun"),
        ("/opt/venv/bin/torchrun --standalone", None, "torchrun"),
        ("python -m torch.distributed.run --standalone", None, "torchrun"),
        ("mpirun -n 2", None, "openmpi"),
        ("mpirun -n 2", OPEN_MPI, "openmpi"),
        ("mpirun -n 2", "prterun (PRRTE) 3.0.1", "openmpi"),
        ("mpirun -n 2", HYDRA, "mpich"),
        ("mpiexec -n 4", "Intel(R) MPI Library for Linux* OS, Version 2021.10", "mpich"),
        ("mpiexec -n 4", HYDRA, "mpich"),
        ("mpiexec.hydra -n 4", None, "mpich"),
        ("mpirun.openmpi -n 4", HYDRA, "openmpi"),
        ("srun -n 16 --mpi=pmix", HYDRA, "srun"),
        ("srun -m block -n 16", None, "srun"),
    ],
)
def test_the_launcher_is_recognised(text: str, version: str | None, kind: str) -> None:
    launcher = parse_launch(text, mpi_version_text=version)
    assert launcher == Launcher(launcher.kind, tuple(text.split()))
    assert launcher.kind == kind


@pytest.mark.parametrize(
    "text",
    [
        "",
        "qsub -n 2",
        "python -m commbench.sweep",
        "NCCL_DEBUG=INFO torchrun --standalone",
        "mpirun -n 2 'open",
        "torchrun --standalone -m commbench.sweep",
        "torchrun --standalone train.py",
        "mpirun -n 2 python -m mpi.sweep",
        "srun torchrun --nnodes 2 -m commbench.sweep",
    ],
)
def test_a_line_that_cannot_be_used_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_launch(text)
    assert repr(text) in caught.value.found


def test_quoted_options_stay_one_word() -> None:
    assert parse_launch("mpirun -n 2 --mca btl 'self,vader' --wdir '/a b'").words[-1] == "/a b"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("torchrun --standalone", ["torchrun", "--standalone", "-m", "commbench.sweep", "-b", "8"]),
        ("mpirun -n 2", ["mpirun", "-n", "2", "PY", "-m", "mpi4py", "-m", "mpi.sweep", "-b", "8"]),
        ("srun -n 2", ["srun", "-n", "2", "PY", "-m", "mpi4py", "-m", "mpi.sweep", "-b", "8"]),
    ],
)
def test_the_sweep_is_the_default_program(text: str, words: list[str]) -> None:
    line = launch_line(parse_launch(text), None, ["-b", "8"], {}, python="PY")
    assert list(line.words) == words
    assert line.environment == {}


@pytest.mark.parametrize(
    ("text", "program", "start"),
    [
        ("torchrun", "commbench.pairs", ["-m", "commbench.pairs"]),
        ("mpirun", "mpi.pairs", ["python", "-m", "mpi4py", "-m", "mpi.pairs"]),
        ("mpirun", "mpirror.run", ["python", "-m", "mpirror.run"]),
        ("srun", "commbench.sweep", ["python", "-m", "commbench.sweep"]),
    ],
)
def test_another_module_can_be_started(text: str, program: str, start: list[str]) -> None:
    assert list(launch_line(parse_launch(text), program).words) == [text, *start]


@pytest.mark.parametrize("binary", ["all_reduce_perf", Path("build/all_reduce_perf")])
def test_a_binary_is_started_as_it_is(binary: str | Path) -> None:
    words = launch_line(parse_launch("mpirun -n 2"), None, ["-g", "1"], binary=binary).words
    assert list(words) == ["mpirun", "-n", "2", str(binary), "-g", "1"]
    words = launch_line(parse_launch("torchrun"), None, ["-g", "1"], binary=binary).words
    assert list(words) == ["torchrun", "--no-python", str(binary), "-g", "1"]


VARIABLES = {"NCCL_P2P_DISABLE": "1", "NCCL_DEBUG_FILE": "/tmp/a b"}


@pytest.mark.parametrize(
    ("text", "version", "words"),
    [
        ("mpirun -n 2", None, ["mpirun", "-x", "NCCL_P2P_DISABLE=1", "-x", "NCCL_DEBUG_FILE=/tmp/a b", "-n", "2"]),
        (
            "mpirun -n 2",
            HYDRA,
            ["mpirun", "-genv", "NCCL_P2P_DISABLE", "1", "-genv", "NCCL_DEBUG_FILE", "/tmp/a b", "-n", "2"],
        ),
        ("srun -n 2", None, ["srun", "--export=ALL,NCCL_P2P_DISABLE=1,NCCL_DEBUG_FILE=/tmp/a b", "-n", "2"]),
    ],
)
def test_variables_reach_every_host(text: str, version: str | None, words: list[str]) -> None:
    line = launch_line(parse_launch(text, mpi_version_text=version), "mpi.sweep", ["a b"], VARIABLES)
    assert list(line.words) == [*words, "python", "-m", "mpi4py", "-m", "mpi.sweep", "a b"]
    assert line.environment == {}


def test_torchruns_workers_inherit_its_environment() -> None:
    line = launch_line(parse_launch("torchrun --standalone"), None, [], VARIABLES)
    assert list(line.words) == ["torchrun", "--standalone", "-m", "commbench.sweep"]
    assert line.environment == VARIABLES


def test_srun_cannot_carry_commas_and_quotes_in_words() -> None:
    variables = {"NCCL_IB_HCA": "mlx5_0,mlx5_1", "NCCL_ALGO": "Ring", "A": "it's"}
    line = launch_line(parse_launch("srun -n 2"), None, [], variables)
    assert line.words[:2] == ("srun", "--export=ALL,NCCL_ALGO=Ring")
    assert line.environment == {"NCCL_IB_HCA": "mlx5_0,mlx5_1", "A": "it's"}


@pytest.mark.parametrize(
    ("text", "export"),
    [
        ("srun --export=ALL,B=2 -n 2", "--export=ALL,B=2,A=1"),
        ("srun --export ALL,B=2 -n 2", "--export=ALL,B=2,A=1"),
        ("srun --export=NONE -n 2", "--export=C,A=1"),
    ],
)
def test_the_users_own_export_is_extended(text: str, export: str) -> None:
    line = launch_line(parse_launch(text), None, [], {"A": "1", "C": "1,2"})
    assert line.words[:4] == ("srun", export, "-n", "2")
    assert line.environment == {"C": "1,2"}


def test_open_mpi_cannot_carry_semicolons_in_words() -> None:
    line = launch_line(parse_launch("mpirun -n 2"), None, [], {"NCCL_ALGO": "allreduce:tree;broadcast:ring"})
    assert line.words[:3] == ("mpirun", "-x", "NCCL_ALGO")
    assert line.environment == {"NCCL_ALGO": "allreduce:tree;broadcast:ring"}


@pytest.mark.parametrize(
    ("outer", "carried"),
    [
        ("srun --ntasks-per-node=1", ["srun", "--export=ALL,A=1", "--ntasks-per-node=1"]),
        ("mpirun --map-by ppr:1:node", ["mpirun", "-x", "A=1", "--map-by", "ppr:1:node"]),
    ],
)
def test_the_outer_launcher_carries_torchruns_variables(outer: str, carried: list[str]) -> None:
    line = launch_line(parse_launch(f"{outer} torchrun --nnodes 2"), None, ["-b", "8"], {"A": "1"})
    assert list(line.words) == [*carried, "torchrun", "--nnodes", "2", "-m", "commbench.sweep", "-b", "8"]
    assert line.environment == {}


def test_torchrun_as_a_module_inside_another_launcher() -> None:
    launcher = parse_launch("srun -n 2 python -m torch.distributed.run --nnodes 2")
    assert (launcher.kind, launcher.outer) == ("torchrun", "srun")
    assert launch_line(launcher).words[-3:] == ("2", "-m", "commbench.sweep")
