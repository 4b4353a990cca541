"""A rank dies, stops, or the run is told to end, in mid-sweep: it ends soon, says why once, and can be continued.

Each incident is one launch with a file, and for some of them a second one that resumes it.
"""

import os
import re
import signal
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from commbench.sweepfile.reader import Sweep
from commbench.sweepfile.resume import point_key

from .launching import Launch, Result, side_by_side, sweep

pytestmark = pytest.mark.gloo

BOUND = 40.0  # seconds from the incident to the end of everything: the contract
# 24 points of about 0.15 s: long enough to be hit in its middle
PLAN = ("all_reduce,all_gather", "-b", "8", "-e", "32K", "-f", "8", "-N", "2", "--limit", "150ms", "-T", "20",
        "--target", "0.001", "--buffers", "same", "--placement", "in")  # fmt: skip
POINTS = 2 * 5 * 2
HIT_AFTER = 3  # rows

KILL, STOP = signal.SIGKILL, signal.SIGSTOP


@dataclass(frozen=True)
class Incident:
    """A signal to a rank, or to torchrun (rank None)."""

    ranks: int
    rank: int | None
    signal: signal.Signals

    def __str__(self) -> str:
        target = "torchrun" if self.rank is None else f"rank-{self.rank}"
        return f"{self.signal.name}-to-{target}-of-{self.ranks}"


@dataclass(frozen=True)
class Outcome:
    """What came of it. `resumed` is None where nobody tried."""

    incident: Incident
    victim: int
    result: Result
    left_over: list[int]
    resumed: Result | None

    @property
    def sweep(self) -> Sweep:
        (stored,) = self.result.sweeps
        return stored


INCIDENTS = (
    Incident(2, 0, KILL), Incident(2, 1, KILL), Incident(2, 1, STOP),
    Incident(4, 0, KILL), Incident(4, 2, KILL), Incident(4, 3, STOP),
    Incident(2, None, signal.SIGTERM), Incident(2, None, signal.SIGINT),
)  # fmt: skip
RESUMED = {Incident(2, 0, KILL), Incident(2, 1, KILL), Incident(4, 3, STOP)}
STRUCK = [incident for incident in INCIDENTS if incident.rank is not None]
TOLD = [incident for incident in INCIDENTS if incident.rank is None]


def happen(incident: Incident, folder: Path) -> Outcome:
    """Start a sweep, let the incident happen in its middle, see how it ends, and resume it."""
    file = str(folder / f"{incident}.jsonl")
    with Launch(incident.ranks, *PLAN, "-J", file) as launch:
        launch.wait_for_rows(HIT_AFTER)
        victim = launch.process.pid if incident.rank is None else launch.worker(incident.rank)
        os.kill(victim, incident.signal)
        struck = time.monotonic()
        result = launch.wait(BOUND)
        while launch.left_over() and time.monotonic() < struck + BOUND:
            time.sleep(0.05)
        left_over = launch.left_over()
    resumed = sweep(incident.ranks, *PLAN, "--resume", file) if incident in RESUMED else None
    return Outcome(incident, victim, result, left_over, resumed)


@pytest.fixture(scope="module")
def happened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Incident], Outcome]]:
    """Looks an outcome up, waiting for it."""
    folder = tmp_path_factory.mktemp("incidents")
    with side_by_side({incident: partial(happen, incident, folder) for incident in INCIDENTS}) as outcomes:
        yield outcomes


@pytest.fixture(params=INCIDENTS, ids=str)
def any_outcome(request: pytest.FixtureRequest, happened: Callable[[Incident], Outcome]) -> Outcome:
    return happened(request.param)


@pytest.fixture(params=STRUCK, ids=str)
def struck(request: pytest.FixtureRequest, happened: Callable[[Incident], Outcome]) -> Outcome:
    return happened(request.param)


@pytest.fixture(params=TOLD, ids=str)
def told(request: pytest.FixtureRequest, happened: Callable[[Incident], Outcome]) -> Outcome:
    return happened(request.param)


@pytest.fixture(params=[incident for incident in INCIDENTS if incident in RESUMED], ids=str)
def resumed(request: pytest.FixtureRequest, happened: Callable[[Incident], Outcome]) -> Outcome:
    return happened(request.param)


def test_everything_ends_within_the_bound(any_outcome: Outcome) -> None:
    """torchrun, every worker and whatever they started; the launch itself would have failed otherwise."""
    assert any_outcome.left_over == []


def test_the_launch_fails(any_outcome: Outcome) -> None:
    """An ended sweep is never mistaken for a whole one."""
    assert any_outcome.result.returncode != 0


def test_it_is_said_once(any_outcome: Outcome) -> None:
    """One rank speaks for all."""
    assert len(any_outcome.result.last_words) == 1, any_outcome.result.stderr


def test_it_says_which_rank_is_missing_and_where_it_was(struck: Outcome) -> None:
    """Rank, host and process, phase, collective and size."""
    where = rf"rank {struck.incident.rank} on {re.escape(socket.gethostname())} \(pid {struck.victim}\), "
    what = r"in phase (warm-up|timed|check) of all_(reduce|gather) \d+ \w+ \(.*\)"
    how = {KILL: "its process died", STOP: "its process is stopped (SIGSTOP)"}[struck.incident.signal]
    (words,) = struck.result.last_words
    assert re.fullmatch(rf"commbench: {where}{what}: {re.escape(how)} \(.*\)", words)


def test_no_other_rank_is_blamed(struck: Outcome) -> None:
    """Ranks that follow the first one down are not missing."""
    (words,) = struck.result.last_words
    assert re.findall(r"rank (\d+)", words) == [str(struck.incident.rank)]


def test_torchrun_has_nobody_left_to_wait_for(struck: Outcome) -> None:
    """A survivor ends stopped ranks before it leaves; torchrun would give each of them 30 s and then do the same."""
    assert "forcefully exiting via" not in struck.result.stderr


def test_no_traceback_is_ours(any_outcome: Outcome) -> None:
    """torchrun prints its own; a rank that gives up prints a sentence."""
    assert "commbench/" not in any_outcome.result.stderr


def test_finished_rows_are_kept(any_outcome: Outcome) -> None:
    """All that were in the file before, each once, none of them damaged."""
    stored = any_outcome.sweep
    assert HIT_AFTER <= len(stored.measurements) < POINTS
    assert set(Counter(map(point_key, stored.measurements)).values()) == {1}
    assert {row.correct for row in stored.measurements} == {True}


def test_the_end_record_says_why(struck: Outcome) -> None:
    """The same words as on the screen; a killed rank 0 leaves none, which readers take as aborted."""
    assert struck.sweep.status == "aborted"
    if struck.incident.rank == 0:
        assert struck.sweep.end is None
    else:
        assert struck.sweep.end is not None
        assert [f"commbench: {struck.sweep.end.reason}"] == struck.result.last_words


def test_a_signal_to_torchrun_is_named_in_the_end_record(told: Outcome) -> None:
    """With the phase and the point that it interrupted."""
    assert told.sweep.end is not None
    assert f"ended by {told.incident.signal.name}" in (told.sweep.end.reason or "")


def test_a_resumed_sweep_goes_well(resumed: Outcome) -> None:
    """Exit code 0."""
    assert resumed.resumed is not None
    assert resumed.resumed.returncode == 0, resumed.resumed.stderr


def test_a_resumed_sweep_has_every_point_once(resumed: Outcome) -> None:
    """What was missing was measured, and nothing else."""
    assert resumed.resumed is not None
    counted = Counter(map(point_key, resumed.resumed.rows))
    assert (len(counted), set(counted.values())) == (POINTS, {1})


def test_a_resumed_sweep_is_the_same_sweep(resumed: Outcome) -> None:
    """One id, one header, and the last end record counts: complete."""
    assert resumed.resumed is not None
    (whole,) = resumed.resumed.sweeps
    assert (whole.header, whole.status) == (resumed.sweep.header, "complete")


def test_a_resumed_sweep_keeps_the_rows_it_had(resumed: Outcome) -> None:
    """To the last digit."""
    assert resumed.resumed is not None
    before = resumed.sweep.measurements
    assert resumed.resumed.rows[: len(before)] == before
