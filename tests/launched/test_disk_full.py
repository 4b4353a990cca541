"""A disk that fills up is found before measuring starts, or ends the run with every finished row kept.

The disk is a small tmpfs of our own; mounting one takes root.
"""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from .launching import Launch, Result, sweep

pytestmark = [pytest.mark.gloo, pytest.mark.cluster]

SIZE = 4 << 20  # bytes


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("mounting a tmpfs needs root")
    folder = tmp_path_factory.mktemp("disk")
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(disk: Path) -> Path:
    """Fill the disk to its last page; returns the file that does it."""
    filler = disk / "filler"
    with filler.open("ab", buffering=0) as file:
        for size in (1 << 16, 1 << 12):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue
    return filler


@pytest.fixture(scope="module")
def before(disk: Path) -> Result:
    """The disk is full when the sweep starts."""
    filler = fill(disk)
    try:
        return sweep(1, "all_reduce", "-J", str(disk / "before.jsonl"))
    finally:
        filler.unlink()


@pytest.fixture(scope="module")
def meanwhile(disk: Path) -> Result:
    """The disk fills up after three rows."""
    options = ["all_reduce", "-b", "8", "-e", "64K", "-N", "6", "--limit", "100ms", "--buffers", "same"]
    with Launch(2, *options, "-J", str(disk / "meanwhile.jsonl")) as launch:
        launch.wait_for_rows(3)
        filler = fill(disk)
        try:
            return launch.wait()
        finally:
            filler.unlink()


def test_a_full_disk_is_found_before_measuring(before: Result) -> None:
    """Nobody waits for rows that cannot be kept."""
    assert before.returncode == 1
    assert "nothing was measured yet" in before.stderr
    assert "right" not in before.stderr  # what is said of a measured point


def test_a_full_disk_leaves_no_file_behind(before: Result, disk: Path) -> None:
    """Neither an empty sweep file nor the probe that found it."""
    assert [path for path in disk.iterdir() if "before" in path.name] == []


def test_a_disk_that_fills_up_ends_the_run(meanwhile: Result) -> None:
    """All ranks, with an exit code that is not 0."""
    assert meanwhile.returncode == 1


def test_a_disk_that_fills_up_is_named_once(meanwhile: Result) -> None:
    """With what to do."""
    (words,) = meanwhile.last_words
    assert "a record could not be written" in words
    assert "No space left on device" in meanwhile.stderr
    assert "--resume" in meanwhile.stderr


def test_rows_before_the_disk_was_full_are_kept(meanwhile: Result) -> None:
    """And the file is not damaged."""
    assert [stored.status for stored in meanwhile.sweeps] == ["aborted"]
    assert len(meanwhile.rows) >= 3
    assert {row.correct for row in meanwhile.rows} == {True}
