"""Time limits and signals end the program and everything it started; finished rows stay."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from commbench.__main__ import main
from commbench.importing.nccl_tests import running
from commbench.importing.nccl_tests.process_tree import ProcessTree
from commbench.sweepfile.reader import read_sweeps
from tests.importing.runner.fakes import environment, finish, gone, install, start

LINE = ("all_reduce", "--binaries", "bin", "-J", "out.jsonl")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with the fakes; whatever they leave behind is ended after the test."""
    install(tmp_path / "bin", "all_reduce_perf", "reduce_scatter_perf")
    yield tmp_path
    for pid in pids(tmp_path, wait=0.0):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def pids(folder: Path, wait: float = 30.0) -> list[int]:
    """The program and its grandchild, once they run."""
    file, until = folder / "pids", time.monotonic() + wait
    while time.monotonic() < until and not (file.exists() and len(file.read_text().split()) == 2):
        time.sleep(0.02)
    return [int(pid) for pid in file.read_text().split()] if file.exists() else []


def test_the_time_limit_ends_the_whole_tree_and_keeps_the_rows(folder: Path) -> None:
    """The grandchild is in a session of its own and ignores SIGTERM."""
    result = finish(start((*LINE, "-T", "2"), folder, "hang:3", FAKE_PIDS=str(folder / "pids")), folder)
    assert (result.code, result.sweeps[0].status, len(result.sweeps[0].measurements)) == (3, "timed-out", 6)
    assert "the time limit (-T 2) ended it after 6 rows" in result.stderr
    assert all(gone(pid) for pid in pids(folder))


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_the_whole_tree_and_keeps_the_rows(folder: Path, number: int, code: int) -> None:
    process = start(("all_reduce", "reduce_scatter", *LINE[1:]), folder, "hang:3", FAKE_PIDS=str(folder / "pids"))
    running = pids(folder)
    process.send_signal(number)
    result = finish(process, folder)
    assert (result.code, len(result.sweeps), result.sweeps[0].status) == (code, 1, "aborted")
    assert len(result.sweeps[0].measurements) == 6
    assert len(running) == 2
    assert all(gone(pid) for pid in running)


def test_a_grandchild_that_outlives_the_program_holds_up_nothing(folder: Path) -> None:
    """It keeps the output open."""
    result = finish(start(LINE, folder, "leave:2", FAKE_PIDS=str(folder / "pids")), folder)
    assert (result.code, len(result.sweeps[0].measurements)) == (2, 4)
    assert all(gone(pid) for pid in pids(folder))


def test_rows_are_in_the_file_while_the_program_still_runs(folder: Path) -> None:
    """A kill of commbench itself loses none of them."""
    process = start(LINE, folder, "hang:3", FAKE_PIDS=str(folder / "pids"))
    running = pids(folder)
    file, until = folder / "out.jsonl", time.monotonic() + 20.0
    while time.monotonic() < until and file.read_text().count('"measurement"') < 6:
        time.sleep(0.02)
    process.kill()
    result = finish(process, folder)
    assert (len(result.sweeps[0].measurements), result.sweeps[0].header.world_size) == (6, 2)
    for pid in running:
        os.kill(pid, signal.SIGKILL)


def test_rows_that_come_while_the_program_ends_count(folder: Path) -> None:
    words = (*LINE, "-T", "2")
    result = finish(start(words, folder, "hang:3,parting", FAKE_PIDS=str(folder / "pids")), folder)
    assert (result.code, len(result.sweeps[0].measurements)) == (3, 8)


def test_a_program_that_ignores_sigterm_is_killed(folder: Path) -> None:
    with ProcessTree(
        [str(folder / "bin" / "all_reduce_perf")], {**environment("stubborn,hang:0"), "FAKE_PIDS": str(folder / "pids")}
    ) as tree:
        running = pids(folder)
        tree.end(0.1)
    assert tree.status == -signal.SIGKILL
    assert all(gone(pid) for pid in running)


def test_silence_ends_a_program_that_has_no_time_limit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "SILENCE", 0.5)
    for name, text in environment("hang:1", FAKE_PIDS=str(folder / "pids")).items():
        monkeypatch.setenv(name, text)
    monkeypatch.chdir(folder)
    assert main(["nccl-tests", *LINE]) == 3
    end = read_sweeps("out.jsonl")[0].end
    assert end is not None
    assert (end.status, "printed nothing for" in str(end.reason)) == ("timed-out", True)
