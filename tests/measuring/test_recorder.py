"""Where finished measurements go, also when the watch ends the run from beside."""

import os
import threading
from pathlib import Path

import pytest

from commbench.errors import SweepFileError
from commbench.measuring.recorder import Recorder
from commbench.sweepfile.reader import read_sweeps
from commbench.sweepfile.records import Measurement
from commbench.sweepfile.writer import SweepWriter

from ..sweepfile.building import SWEEP, header, measurement


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where records go."""
    return tmp_path / "a.jsonl"


@pytest.fixture
def recorder(file: Path) -> Recorder:
    """Rank 0's recorder with an open sweep of one point."""
    made = Recorder(active=True, writer=SweepWriter.create(file))
    made.begin(header(), SWEEP)
    made.add(measurement())
    return made


def test_records_are_in_the_file_at_once(recorder: Recorder, file: Path) -> None:
    """Before anything is closed."""
    assert len(file.read_bytes().splitlines()) == 2


def test_without_a_file_records_are_kept_in_memory() -> None:
    """The same sweep comes out."""
    kept = Recorder(active=True)
    kept.begin(header(), SWEEP)
    kept.add(measurement())
    kept.end("complete")
    assert (kept.sweeps()[0].status, kept.sweeps()[0].measurements) == ("complete", (measurement(),))


def test_other_ranks_record_nothing() -> None:
    """Their recorder takes everything and keeps nothing."""
    idle = Recorder(active=False)
    idle.begin(header(), SWEEP)
    idle.add(measurement())
    idle.end("complete")
    assert idle.records == []


@pytest.mark.parametrize(
    ("status", "reason"),
    [("aborted", "rank 1 died"), ("timed-out", "the time limit of 20.0 s (-T) passed inside a point")],
)
def test_the_watch_ends_the_open_sweep(status: str, reason: str, recorder: Recorder, file: Path) -> None:
    """With its reason, and everything before it kept."""
    recorder.abort(reason)
    (sweep,) = read_sweeps(file)
    assert (status, reason) == (sweep.status, sweep.end and sweep.end.reason)
    assert len(sweep.measurements) == 1


def test_nothing_is_written_behind_an_abort(recorder: Recorder, file: Path) -> None:
    """The main thread may come back from its collective while the watch is leaving: it has to wait."""
    recorder.abort("rank 1 died")
    late = threading.Thread(target=recorder.add, args=(measurement(message_bytes=8),), daemon=True)
    late.start()
    late.join(0.2)
    assert late.is_alive()
    assert [m.message_bytes for m in read_sweeps(file)[0].measurements] == [1024]


def test_an_abort_does_not_wait_for_a_main_thread_that_is_stuck(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inside a write to a dead disk, say."""
    monkeypatch.setattr("commbench.measuring.recorder.LOCK_PATIENCE", 0.05)
    recorder._lock.acquire()
    recorder.abort("rank 1 died")


def test_a_sweep_that_ended_is_not_aborted(recorder: Recorder, file: Path) -> None:
    """A rank that dies while the result is shown does not undo it."""
    recorder.end("complete")
    recorder.abort("rank 1 died")
    assert read_sweeps(file)[0].status == "complete"


def test_a_write_that_fails_is_known_to_rank_0_alone(recorder: Recorder) -> None:
    """So it must not wait for the others to raise too."""
    with pytest.raises(SweepFileError) as caught:
        recorder.add(Measurement(sweep=SWEEP, collective="all_reduce", message_bytes=8, seconds=(float("nan"),)))
    assert caught.value.alone


def test_a_close_that_fails_is_known_to_rank_0_alone(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full network disk answers at fsync."""

    def refuse(descriptor: int) -> None:
        raise OSError(122, "Disk quota exceeded")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(SweepFileError) as caught:
        recorder.close()
    assert caught.value.alone


def test_a_file_that_went_away_is_known_to_rank_0_alone(recorder: Recorder, file: Path) -> None:
    """Deleted while it was measured: the others wait for the result to be shown."""
    recorder.close()
    file.unlink()
    with pytest.raises(SweepFileError) as caught:
        recorder.sweeps()
    assert caught.value.alone
