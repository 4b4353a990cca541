"""A sweep on one fake rank that ends before its plan does, and how it goes on."""

from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

from commbench.measuring import points

from .fakes import Law
from .running import Launch, launch, records

SIZES = ["all_reduce", "-b", "8", "-e", "64"]  # 8, 16, 32, 64


@pytest.fixture
def one(monkeypatch: pytest.MonkeyPatch) -> Launch:
    """One launched rank."""
    return launch(monkeypatch)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the sweep goes."""
    return tmp_path / "a.jsonl"


@pytest.fixture
def seconds_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at the clock between points takes a second."""
    clock = count(1)
    ticking = SimpleNamespace(monotonic=lambda: float(next(clock)))
    monkeypatch.setattr(points, "time", ticking)
    monkeypatch.setattr("commbench.measuring.sweeping.time", SimpleNamespace(monotonic=lambda: 0.0))


@pytest.mark.usefixtures("seconds_pass")
def test_a_time_limit_ends_between_points(one: Launch, file: Path) -> None:
    """Looks at 1, 2 and 3 s: two points are measured before -T 3."""
    assert one.run(*SIZES, "-J", str(file), "-T", "3") == 3
    assert [record["message_bytes"] for record in records(file, "measurement")] == [8, 16]


@pytest.mark.usefixtures("seconds_pass")
def test_a_time_limit_is_the_sweep_s_status(one: Launch, file: Path) -> None:
    one.run(*SIZES, "-J", str(file), "-T", "3")
    (end,) = records(file, "end")
    assert (end["status"], end["reason"]) == ("timed-out", "the time limit (-T) passed with 2 of 4 points to go")


def test_resume_measures_only_what_is_missing(one: Launch, file: Path) -> None:
    one.run("all_reduce", "-b", "16", "-e", "32", "-J", str(file))
    one.run(*SIZES, "--resume", str(file))
    assert one.measured == [("all_reduce", 8), ("all_reduce", 64)]


@pytest.mark.usefixtures("seconds_pass")
def test_a_resumed_sweep_is_complete_under_its_first_id(one: Launch, file: Path) -> None:
    one.run(*SIZES, "-J", str(file), "-T", "3")
    one.run(*SIZES, "--resume", str(file))
    assert [end["status"] for end in records(file, "end")] == ["timed-out", "complete"]
    assert len(records(file, "sweep")) == 1
    assert len({record["sweep"] for record in records(file)}) == 1


def test_resume_of_a_complete_sweep_measures_nothing(one: Launch, file: Path) -> None:
    one.run(*SIZES, "-J", str(file))
    assert one.run(*SIZES, "--resume", str(file)) == 0
    assert one.measured == []


def test_points_that_were_left_out_are_not_tried_again(one: Launch, file: Path) -> None:
    one.law = Law(refuses=("all_reduce",))
    one.run(*SIZES, "-J", str(file))
    one.run(*SIZES, "--resume", str(file))
    assert len(records(file, "left_out")) == 4


@pytest.mark.parametrize(
    ("setting", "words"),
    [("check", ["-c", "0"]), ("buffers", ["--buffers", "same"]), ("target", ["--target", "5"]),
     ("calls", ["-m", "9"]), ("root", ["-r", "0", "--label", "b"])],
)  # fmt: skip
def test_resume_refuses_other_settings(
    setting: str, words: list[str], one: Launch, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one.run(*SIZES, "-J", str(file), "--label", "a")
    before = file.read_bytes()
    assert one.run(*SIZES, "--resume", str(file), "--label", "a", *words) == 2
    assert ("label" if "b" in words else setting) in capsys.readouterr().err
    assert before == file.read_bytes()


def test_resume_of_no_file_ends_with_2(one: Launch, file: Path) -> None:
    assert one.run(*SIZES, "--resume", str(file)) == 2
