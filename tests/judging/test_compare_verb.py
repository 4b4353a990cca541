"""`commbench compare`: files and folders as sides, exit codes, output."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from commbench.__main__ import main
from commbench.sweepfile.reader import Sweep
from tests.judging.synthetic import law, sweep


def write(path: Path, *sweeps: Sweep) -> str:
    """A sweep file; its path as a user types it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    records: list[Any] = [r for s in sweeps for r in (s.header, *s.measurements, s.end)]
    path.write_bytes(b"".join(msgspec.json.encode(record) + b"\n" for record in records))
    return str(path)


def compared(capsys: pytest.CaptureFixture[str], words: Sequence[str]) -> tuple[int, dict[str, Any]]:
    """The exit code and the JSON document."""
    code = main(["compare", *words, "--json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out or "{}")
    return code, found


@pytest.fixture
def two(tmp_path: Path) -> list[str]:
    """a, and b that takes twice the time."""
    return [
        write(tmp_path / "a.jsonl", sweep("a")),
        write(tmp_path / "b.jsonl", sweep("b", seconds=lambda size: 2 * law(size))),
    ]


def test_two_files_are_two_sides(two: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, document = compared(capsys, two)
    assert (code, [side["name"] for side in document["sides"]]) == (0, ["a", "b"])


def test_the_contract_of_a_comparison(two: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Fields that programs rely on."""
    _, document = compared(capsys, two)
    point = document["comparisons"][0]
    assert {"collective", "message_bytes", "ratio", "interval", "significant", "verdict"} <= point.keys()
    assert (point["significant"], point["verdict"]) == (True, "slower")
    assert document["verdict"].startswith("b is slower than a at 10 sizes")


def test_a_folder_is_a_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in (1, 2):
        write(tmp_path / "a" / f"{number}.jsonl", sweep("a", seed=number))
        write(tmp_path / "b" / f"{number}.jsonl", sweep("b", seed=number))
    _, document = compared(capsys, [str(tmp_path / "a"), str(tmp_path / "b")])
    assert {tuple(point["launches"]) for point in document["comparisons"]} == {(2, 2)}


def test_one_folder_with_several_settings_is_split(two: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, document = compared(capsys, [str(Path(two[0]).parent)])
    assert (code, [side["name"] for side in document["sides"]]) == (0, ["a", "b"])


def test_sides_of_one_label_are_told_apart_by_their_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [write(tmp_path / f"{day}.jsonl", sweep("host", seed=n)) for n, day in enumerate(("monday", "friday"))]
    _, document = compared(capsys, files)
    assert [side["name"] for side in document["sides"]] == ["monday", "friday"]


def test_a_wrong_side_ends_with_1(two: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = write(tmp_path / "c" / "c.jsonl", sweep("c", correct=False))
    assert compared(capsys, [two[0], wrong])[0] == 1


def test_single_values_end_with_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [write(tmp_path / f"{n}.jsonl", sweep(n, samples=1, statistic="mean")) for n in ("a", "b")]
    assert compared(capsys, files)[0] == 3
    assert compared(capsys, [*files, "--single-value", "10%"])[0] == 0
    assert main(["compare", *files, "--single-value", "much"]) == 2


@pytest.mark.parametrize("words", [["--across", "colour"], ["nothing.jsonl"], [""], ["\x00"]])
def test_mistakes_end_with_2(two: list[str], words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", two[0], *([two[1]] if words[0].startswith("--") else []), *words]) == 2
    assert capsys.readouterr().err.startswith("commbench: ")


def test_one_file_alone_is_no_comparison(two: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", two[0]]) == 2


def test_a_side_twice_is_no_comparison(two: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", two[0], two[0]]) == 2


def test_an_empty_folder_is_said(tmp_path: Path, two: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "none").mkdir()
    assert main(["compare", two[0], str(tmp_path / "none")]) == 2
    assert "holds no sweep files" in capsys.readouterr().err


def test_the_text_begins_with_the_verdict(two: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    main(["compare", *two])
    assert capsys.readouterr().out.startswith("verdict   b is slower than a at 10 sizes of all_reduce (8 B to 2 MiB): ")


def test_the_text_has_a_row_a_size(two: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    main(["compare", *two])
    assert sum(line.endswith("  slower") for line in capsys.readouterr().out.splitlines()) == 10
