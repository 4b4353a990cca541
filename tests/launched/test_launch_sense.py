"""What cannot go well stops in seconds, says why in four parts, and touches nothing."""

import sys
from pathlib import Path

import pytest

from .launching import Launch, Result, sweep

pytestmark = pytest.mark.gloo

WORLD = {"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "0"}
PARTS = ("expected:", "found:", "to do:")
CONTENT = '{"record":"sweep"}\n'


@pytest.fixture(scope="module")
def alone() -> Result:
    """`python -m commbench.sweep`, by hand."""
    with Launch(1, words=[sys.executable, "-m", "commbench.sweep", "all_reduce"]) as launch:
        return launch.wait(30.0)


@pytest.fixture(scope="module")
def doubled() -> Result:
    """torchrun with 2 ranks where mpirun promised 4."""
    return sweep(2, env=WORLD)


@pytest.fixture(scope="module")
def late(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """An option that nobody knows, in a launch whose rank 0 starts after the others."""
    return sweep(2, "--frobnicate", program="tests.launched.late_start")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("existing")


@pytest.fixture(scope="module")
def existing(folder: Path) -> Result:
    """A -J file that is there already."""
    (folder / "out.jsonl").write_text(CONTENT)
    with Launch(2, "-J", str(folder / "out.jsonl")) as launch:
        launch.file = None  # it is not a sweep file that could be read
        return launch.wait()


@pytest.fixture(scope="module")
def unwritable(folder: Path) -> Result:
    """A -J file in a folder that does not exist."""
    return sweep(1, "-J", str(folder / "missing" / "out.jsonl"))


def test_no_launcher_is_a_usage_error(alone: Result) -> None:
    """Exit code 2, and nothing on standard output."""
    assert (alone.returncode, alone.stdout) == (2, "")


def test_no_launcher_names_the_launch_line(alone: Result) -> None:
    """To be copied."""
    assert "torchrun --standalone --nproc-per-node 2 -m commbench.sweep" in alone.stderr


def test_a_launcher_that_promised_more_ranks_is_refused(doubled: Result) -> None:
    """Every rank exits with 2, which torchrun reports as 1."""
    assert doubled.returncode == 1
    assert "exitcode  : 2 " in doubled.stderr


def test_both_launchers_are_named_with_their_variables(doubled: Result) -> None:
    """What was read, and what to unset."""
    for word in ("OMPI_COMM_WORLD_SIZE=4 (Open MPI)", "WORLD_SIZE=2 (torchrun)", "unset OMPI_COMM_WORLD_RANK"):
        assert word in doubled.stderr


def test_an_existing_file_is_refused(existing: Result) -> None:
    """Naming it, and the option that continues it."""
    assert existing.returncode == 1
    assert "exitcode  : 2 " in existing.stderr
    assert "out.jsonl" in existing.stderr
    assert "--resume" in existing.stderr


def test_an_existing_file_is_left_as_it_was(existing: Result, folder: Path) -> None:
    """To the byte."""
    assert (folder / "out.jsonl").read_text() == CONTENT


def test_a_path_that_cannot_be_written_is_found_before_measuring(unwritable: Result) -> None:
    """Nobody waits for a sweep that cannot be kept."""
    assert unwritable.returncode == 1
    assert "nothing was measured yet" in unwritable.stderr
    assert "right" not in unwritable.stderr  # what is said of a measured point


def test_a_bad_option_is_named(late: Result) -> None:
    """Once, by rank 0, although rank 1 failed long before."""
    ours = [line for line in late.stderr.splitlines() if line.startswith("commbench.sweep: ")]
    assert ours == ["commbench.sweep: the options of commbench.sweep cannot be read"]
    assert "--frobnicate" in late.stderr


def test_a_bad_option_is_a_usage_error(late: Result) -> None:
    """Exit code 2, which torchrun reports as 1."""
    assert late.returncode == 1
    assert "exitcode  : 2 " in late.stderr


@pytest.mark.parametrize("launch", ["doubled", "existing", "unwritable", "late"])
def test_it_is_told_in_four_parts(launch: str, request: pytest.FixtureRequest) -> None:
    """What was wrong, what was expected, what was found, what to do."""
    stderr = request.getfixturevalue(launch).stderr
    ours = stderr[stderr.index("commbench.sweep: ") :].splitlines()[1:4]
    assert [line.split()[0].rstrip(":") for line in ours] == ["expected", "found", "to"]


@pytest.mark.parametrize("launch", ["doubled", "existing", "unwritable", "late"])
def test_no_traceback_is_ours(launch: str, request: pytest.FixtureRequest) -> None:
    """A mistake of the user's is no crash; torchrun prints a traceback of its own."""
    assert "commbench/" not in request.getfixturevalue(launch).stderr


@pytest.mark.parametrize("launch", ["doubled", "existing", "unwritable", "late"])
def test_torchrun_shows_the_message_as_the_root_cause(launch: str, request: pytest.FixtureRequest) -> None:
    """It reads the error file; without that it shows a page about tracebacks."""
    root_cause = request.getfixturevalue(launch).stderr.partition("Root Cause")[2]
    assert "traceback : To enable traceback" not in root_cause
    assert all(part in root_cause for part in PARTS)
