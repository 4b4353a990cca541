"""`commbench show`: what it prints and how it ends."""

import json
from pathlib import Path

import pytest

from commbench.errors import SweepFileError, UsageError
from commbench.showing.formats import FORMATS
from commbench.showing.show import main

from .sweeps import point, sweep, write


@pytest.fixture
def good(tmp_path: Path) -> str:
    return str(write(tmp_path / "good.jsonl", sweep(point())))


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_prints_something(name: str, good: str, capsys: pytest.CaptureFixture[str]) -> None:
    main([good, "--format", name])
    assert capsys.readouterr().out.strip()


def test_json_is_the_whole_output(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    main([good, good, "--json"])
    assert len(json.loads(capsys.readouterr().out)["sweeps"]) == 2


def test_good_results_end_with_0(good: str) -> None:
    assert main([good]) == 0


def test_a_wrong_result_ends_with_1(tmp_path: Path) -> None:
    bad = write(tmp_path / "bad.jsonl", sweep(point(), point(correct=False, wrong=1)))
    assert main([str(bad), "--json"]) == 1


def test_a_result_nobody_checked_ends_with_0(tmp_path: Path) -> None:
    unchecked = write(tmp_path / "unchecked.jsonl", sweep(point(correct=None, wrong=None)))
    assert main([str(unchecked)]) == 0


def test_nothing_is_printed_when_one_file_cannot_be_read(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SweepFileError):
        main([good, "/nowhere/x.jsonl"])
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("words", [[], ["x.jsonl", "--format", "xml"], ["x.jsonl", "--for", "csv"]])
def test_options_that_make_no_sense_are_refused(words: list[str]) -> None:
    with pytest.raises(UsageError):
        main(words)
