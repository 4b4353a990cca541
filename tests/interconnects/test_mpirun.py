"""Shared memory against TCP under a real mpirun, and a launcher that loses the variables on the way."""

import json
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from commbench.launching.starters import ROOT_VARIABLES
from commbench.sweepfile.reader import Sweep, read_sweeps
from tests.importing.runner.fakes import environment, install
from tests.mpi.running import MPIRUN

pytestmark = pytest.mark.mpi

GUARD = 240.0
# mpirun as somebody's wrapper script: it drops every -x and the variable after it.
LOSES_VARIABLES = """#!{python}
import os, sys
words, kept = iter(sys.argv[1:]), []
for word in words:
    if word == "-x":
        next(words)
    else:
        kept.append(word)
os.execv("{mpirun}", ["{mpirun}", *kept])
"""


@dataclass(frozen=True)
class Outcome:
    """How the command ended, and the files that it left."""

    code: int
    out: str
    err: str
    folder: Path

    def sweep(self, setting: str, launch: int = 1) -> Sweep:
        return read_sweeps(self.folder / setting / f"{launch}.jsonl")[0]

    @property
    def document(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found


def interconnects(folder: Path, mpirun: Path, *options: str) -> Outcome:
    """`commbench interconnects --settings sm,tcp` with two ranks and one size."""
    launch = shlex.join([str(mpirun), "-n", "2", "--map-by", ":oversubscribe"])
    measured = ["all_reduce", "-b", "1K", "-e", "1K", "-n", "6", "--placement", "in"]
    words = ["--launch", launch, "--settings", "sm,tcp", "-J", str(folder), *options, "--", *measured]
    done = subprocess.run(
        [sys.executable, "-m", "commbench", "interconnects", *words],
        capture_output=True, text=True, timeout=GUARD, check=False,
        # Ranks that wait give their core away: the other tests' ranks need it.
        env={**os.environ, **dict.fromkeys(ROOT_VARIABLES, "1"), "OMPI_MCA_mpi_yield_when_idle": "1"},
    )  # fmt: skip
    return Outcome(done.returncode, done.stdout, done.stderr, folder)


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return interconnects(tmp_path_factory.mktemp("compared") / "r", MPIRUN, "--json")


@pytest.fixture(scope="module")
def sabotaged(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    folder = tmp_path_factory.mktemp("sabotaged")
    script = folder / "mpirun"
    script.write_text(LOSES_VARIABLES.format(python=sys.executable, mpirun=MPIRUN))
    script.chmod(0o755)
    return interconnects(folder / "r", script, "--launches", "1")


@pytest.fixture(scope="module")
def nccl_tests(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """A program of nccl-tests that prints a run over NVLink, whatever its variables say."""
    folder = tmp_path_factory.mktemp("nccl_tests")
    binaries = install(folder / "bin", "all_reduce_perf")
    words = ["--launch", f"{MPIRUN} -n 1", "--settings", "host,network", "--launches", "1", "-J", str(folder / "r")]
    done = subprocess.run(
        [sys.executable, "-m", "commbench", "interconnects", *words, "--program", "nccl-tests",
         "--", "all_reduce", "--binaries", str(binaries), "-g", "2"],
        capture_output=True, text=True, timeout=GUARD, check=False,
        env=environment(**dict.fromkeys(ROOT_VARIABLES, "1")),
    )  # fmt: skip
    return Outcome(done.returncode, done.stdout, done.stderr, folder / "r")


@pytest.mark.parametrize("setting", ["sm", "tcp"])
def test_each_setting_is_proved_by_open_mpis_own_matrix(compared: Outcome, setting: str) -> None:
    assert compared.sweep(setting).proved == (setting,), compared.err


def test_each_setting_has_its_launches(compared: Outcome) -> None:
    files = sorted(str(file.relative_to(compared.folder)) for file in compared.folder.rglob("*.jsonl"))
    assert files == ["sm/1.jsonl", "sm/2.jsonl", "tcp/1.jsonl", "tcp/2.jsonl"]


def test_launches_are_interleaved(compared: Outcome) -> None:
    """A B B A."""
    begun = [line.split("] ")[1].split(":")[0] for line in compared.err.splitlines() if "OMPI_MCA_btl" in line]
    assert begun == ["sm, launch 1", "tcp, launch 1", "tcp, launch 2", "sm, launch 2"]


def test_the_comparison_is_printed(compared: Outcome) -> None:
    (point,) = compared.document["comparisons"]
    assert (point["a"], point["b"], point["launches"]) == ("sm", "tcp", [2, 2])


def test_the_exit_code_is_the_comparisons(compared: Outcome) -> None:
    expected = {"different": 0, "no measurable difference": 0, "could not tell": 3}
    assert compared.code == expected[compared.document["outcome"]]


def test_variables_that_do_not_reach_the_ranks_end_with_1(sabotaged: Outcome) -> None:
    assert sabotaged.code == 1, sabotaged.err


def test_the_lost_variable_is_named(sabotaged: Outcome) -> None:
    assert "OMPI_MCA_btl=self,tcp did not reach the ranks" in sabotaged.out


def test_the_path_that_was_taken_instead_is_named(sabotaged: Outcome) -> None:
    assert any("0 -> 1 via sm" in str(void.found) for void in sabotaged.sweep("tcp").voids)


def test_both_files_are_kept_and_marked(sabotaged: Outcome) -> None:
    assert [bool(sabotaged.sweep(setting).voids) for setting in ("sm", "tcp")] == [True, True]


def test_nccl_tests_get_the_variables_through_their_launcher(nccl_tests: Outcome) -> None:
    variables = nccl_tests.sweep("network").header.environment["variables"]
    assert (variables["NCCL_P2P_DISABLE"], variables["NCCL_SHM_DISABLE"]) == ("1", "1")


def test_nccl_tests_that_went_over_nvlink_all_the_same_are_void(nccl_tests: Outcome) -> None:
    assert nccl_tests.code == 1, nccl_tests.err
    assert "host did not take: 0 -> 1 via P2P/direct pointer" in nccl_tests.out
