"""Provisional rows give way to exact ones in one step, and a full disk loses none."""

from pathlib import Path

import pytest

from commbench.errors import SweepFileError
from commbench.importing.nccl_tests.keeping import Keeper, raw_log_beside
from commbench.sweepfile.reader import read_sweeps
from commbench.sweepfile.records import End, Header, Measurement, Source
from commbench.sweepfile.writer import SweepWriter

END = End(sweep="b", finished_at="2026-01-01T00:00:00Z", status="complete")


def header(sweep: str) -> Header:
    """A sweep's first record."""
    return Header(sweep=sweep, started_at="2026-01-01T00:00:00Z", world_size=2, source=Source(tool="nccl-tests"))


def row(sweep: str, seconds: float) -> Measurement:
    """A row."""
    return Measurement(sweep=sweep, collective="all_reduce", message_bytes=8, seconds=(seconds,))


def filled(file: Path) -> Keeper:
    """A file with a finished sweep a and a begun one b."""
    keeper = Keeper(file)
    keeper.begin(header("a"))
    keeper.add(row("a", 1.0))
    keeper.begin(header("b"))
    keeper.add(row("b", 2.0))
    return keeper


def seconds(file: Path) -> list[float]:
    """The times in a file."""
    return [m.seconds[0] for sweep in read_sweeps(file) for m in sweep.measurements]


def test_only_the_sweep_that_was_begun_last_is_replaced(tmp_path: Path) -> None:
    with filled(tmp_path / "x.jsonl") as keeper:
        assert keeper.replace([header("b"), row("b", 2.5), END])
    assert seconds(tmp_path / "x.jsonl") == [1.0, 2.5]


def test_another_sweep_can_follow(tmp_path: Path) -> None:
    with filled(tmp_path / "x.jsonl") as keeper:
        keeper.replace([header("b"), row("b", 2.5), END])
        keeper.begin(header("c"))
        keeper.add(row("c", 3.0))
    assert seconds(tmp_path / "x.jsonl") == [1.0, 2.5, 3.0]


def test_a_disk_without_room_keeps_the_provisional_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with filled(tmp_path / "x.jsonl") as keeper:

        def full(path: Path, expected_bytes: int = 0) -> SweepWriter:
            raise SweepFileError("full", expected="room", found="none", fix="make some")

        monkeypatch.setattr(SweepWriter, "create", full)
        assert not keeper.replace([header("b"), row("b", 2.5), END])
        keeper.add(END)
    assert seconds(tmp_path / "x.jsonl") == [1.0, 2.0]
    assert [path.name for path in tmp_path.iterdir()] == ["x.jsonl"]


def test_a_command_that_kept_nothing_leaves_no_file(tmp_path: Path) -> None:
    with Keeper(tmp_path / "x.jsonl"):
        pass
    assert not list(tmp_path.iterdir())


def test_a_link_to_the_file_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with filled(tmp_path / "link" / "x.jsonl") as keeper:
        keeper.replace([header("b"), row("b", 2.5), END])
    assert seconds(tmp_path / "real" / "x.jsonl") == [1.0, 2.5]


def test_a_log_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "x.reduce.log").write_text("mine")
    log = raw_log_beside(tmp_path / "x.jsonl", "reduce")
    log.line("theirs")
    log.close()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "x.reduce.log": "mine",
        "x.reduce-2.log": "theirs\n",
    }
