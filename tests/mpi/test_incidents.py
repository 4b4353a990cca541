"""A rank is wrong, raises, dies or hangs under mpirun: the job ends soon, says who, and keeps what it had."""

import os
import re
import signal
import socket
import time
from pathlib import Path

import pytest

from tests.launched.launching import Result

from .running import MpiLaunch, run

pytestmark = pytest.mark.mpi

BOUND = 10.0  # seconds: the issue's
PLAN = ("all_reduce,all_gather", "-b", "8", "-e", "32K", "-f", "8", "-N", "2", "--limit", "150ms",
        "--target", "0.001", "--buffers", "same", "--placement", "in")  # fmt: skip
FAULTY = ("all_reduce", "-e", "8", "-n", "4", "--buffers", "same", "-J")  # and the file
HIT_AFTER = 3  # rows
ATTEMPTS = 3


def test_a_wrong_element_is_found(tmp_path: Path) -> None:
    """Exit code 1, the row says how many, and the others are right."""
    options = ("-o", "sum,max", *FAULTY, str(tmp_path / "out.jsonl"))
    result = run(2, *options, program="tests.mpi.faulty")
    assert result.returncode == 1, result.stderr
    assert {(row.op, row.correct) for row in result.rows} == {("sum", True), ("max", False)}


def test_a_rank_that_raises_ends_the_job(tmp_path: Path) -> None:
    """Named with its error, in the file, too."""
    options = ("-o", "sum,min", *FAULTY, str(tmp_path / "out.jsonl"))
    begun = time.monotonic()
    result = run(3, *options, program="tests.mpi.faulty")
    assert time.monotonic() - begun < BOUND + 10.0  # with the start and the rows before
    assert result.returncode != 0
    assert f"ValueError: planted in one rank; rank 1 on {socket.gethostname()}" in result.stderr
    assert {row.op for row in result.rows} == {"sum"}
    (sweep,) = result.sweeps
    assert sweep.status == "aborted"
    assert "planted in one rank; rank 1 on" in ((sweep.end and sweep.end.reason) or "")


def strike(folder: Path, ranks: int, victim: int | None, number: signal.Signals) -> tuple[Result, int]:
    """Send a signal to a rank, or to mpirun, in mid-sweep; returns how it ended and who was hit.

    mpirun leaves its ranks a third of a second to say why. On a machine full of other work that may not be enough, so
    a launch that said nothing is tried again.
    """
    for attempt in range(ATTEMPTS):
        with MpiLaunch(ranks, *PLAN, "-J", str(folder / f"{attempt}.jsonl")) as launch:
            launch.wait_for_rows(HIT_AFTER)
            pid = launch.process.pid if victim is None else launch.worker(victim)
            os.kill(pid, number)
            result = launch.wait(BOUND)
            assert launch.left_over() == []
        (sweep,) = result.sweeps
        assert result.returncode != 0
        assert len(result.rows) >= HIT_AFTER
        assert sweep.status == "aborted"
        if (sweep.end or victim == 0) and (result.last_words or victim is None):
            break
    return result, pid


@pytest.mark.parametrize(("victim", "number"), [(1, signal.SIGKILL), (0, signal.SIGKILL), (2, signal.SIGSTOP)])
def test_a_rank_that_dies_or_stops_is_named(tmp_path: Path, victim: int, number: signal.Signals) -> None:
    """With host and pid, within the bound, on the screen and in the file, which a dead rank 0 cannot write."""
    result, pid = strike(tmp_path, 3, victim, number)
    where = rf"rank {victim} on {re.escape(socket.gethostname())} \(pid {pid}\), in phase "
    (words,) = result.last_words
    assert re.match(f"commbench: {where}", words)
    if victim:
        assert re.match(where, (result.sweeps[0].end and result.sweeps[0].end.reason) or "")


def test_mpirun_told_to_end_leaves_an_end_record(tmp_path: Path) -> None:
    """With the phase that it interrupted."""
    result, _ = strike(tmp_path, 2, None, signal.SIGTERM)
    assert "ended by SIGTERM" in ((result.sweeps[0].end and result.sweeps[0].end.reason) or "")
