"""A rank is wrong, raises, dies or hangs under mpirun: the job ends soon, says who, and keeps what it had."""

import os
import re
import signal
import socket
import time
from pathlib import Path

import pytest

from .running import MpiLaunch, run

pytestmark = pytest.mark.mpi

BOUND = 10.0  # seconds: the issue's
PLAN = ("all_reduce,all_gather", "-b", "8", "-e", "32K", "-f", "8", "-N", "2", "--limit", "150ms",
        "--buffers", "same", "--placement", "in")  # fmt: skip
HIT_AFTER = 3  # rows


def test_a_wrong_element_is_found(tmp_path: Path) -> None:
    """Exit code 1, the row says how many, and the others are right."""
    options = (
        "all_reduce",
        "-o",
        "sum,max",
        "-e",
        "8",
        "-n",
        "4",
        "--buffers",
        "same",
        "-J",
        str(tmp_path / "out.jsonl"),
    )
    result = run(2, *options, program="tests.mpi.faulty")
    assert result.returncode == 1, result.stderr
    assert {(row.op, row.correct) for row in result.rows} == {("sum", True), ("max", False)}


def test_a_rank_that_raises_ends_the_job(tmp_path: Path) -> None:
    """Named with its error, in the file, too."""
    options = (
        "all_reduce",
        "-o",
        "sum,min",
        "-e",
        "8",
        "-n",
        "4",
        "--buffers",
        "same",
        "-J",
        str(tmp_path / "out.jsonl"),
    )
    begun = time.monotonic()
    result = run(3, *options, program="tests.mpi.faulty")
    assert time.monotonic() - begun < BOUND + 10.0  # with the start and the rows before
    assert result.returncode != 0
    assert f"ValueError: planted in one rank; rank 1 on {socket.gethostname()}" in result.stderr
    assert {row.op for row in result.rows} == {"sum"}
    (sweep,) = result.sweeps
    assert sweep.status == "aborted"
    assert "planted in one rank; rank 1 on" in ((sweep.end and sweep.end.reason) or "")


@pytest.mark.parametrize(("victim", "number"), [(1, signal.SIGKILL), (0, signal.SIGKILL), (2, signal.SIGSTOP)])
def test_a_rank_that_dies_or_stops_is_named(tmp_path: Path, victim: int, number: signal.Signals) -> None:
    """With host and pid, within the bound; finished rows stay."""
    with MpiLaunch(3, *PLAN, "-J", str(tmp_path / "out.jsonl")) as launch:
        launch.wait_for_rows(HIT_AFTER)
        pid = launch.worker(victim)
        os.kill(pid, number)
        result = launch.wait(BOUND)
        assert launch.left_over() == []
    assert result.returncode != 0
    where = rf"rank {victim} on {re.escape(socket.gethostname())} \(pid {pid}\), in phase "
    (words,) = result.last_words
    assert re.match(f"commbench: {where}", words)
    (sweep,) = result.sweeps
    assert len(result.rows) >= HIT_AFTER
    assert sweep.status == "aborted"
    if victim:
        assert re.match(where, (sweep.end and sweep.end.reason) or "")


def test_mpirun_told_to_end_leaves_an_end_record(tmp_path: Path) -> None:
    """mpirun gives its ranks a third of a second."""
    with MpiLaunch(2, *PLAN, "-J", str(tmp_path / "out.jsonl")) as launch:
        launch.wait_for_rows(HIT_AFTER)
        os.kill(launch.process.pid, signal.SIGTERM)
        result = launch.wait(BOUND)
    (sweep,) = result.sweeps
    assert result.returncode != 0
    assert "ended by SIGTERM" in ((sweep.end and sweep.end.reason) or "")
