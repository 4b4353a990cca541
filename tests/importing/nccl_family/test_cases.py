"""Real logs of nccl-tests and rccl-tests give, through `commbench import --json`, what a careful reader gets."""

import json
from typing import Any

import pytest

from commbench.verbs.importing import main
from tests.importing.logs import FOLDER

CASES: dict[str, Any] = json.loads((FOLDER / "nccl_cases.json").read_text())
# the printed average is of other rows and only kept apart; a number of ranks or a name that the log does not prove
_SAME = ("collective", "world_size", "rows", "zero_rows", "half_rows", "placements", "wrong_rows", "lines", "complete")
_MAGNITUDES = "046-rs-8-olderror-tail-cut.log"  # an error without a footer is neither checked nor not
_DTYPES = {"float": "float32", "bfloat16": "bfloat16"}


def imported(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    """Exit code and document of `commbench import`."""
    code = main([*words, "--json"])
    return code, json.loads(capsys.readouterr().out)


_DONE: dict[str, tuple[str, int, dict[str, Any]]] = {}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> tuple[str, int, dict[str, Any]]:
    """A real log, imported once: its name, the exit code and the document."""
    name = request.param
    if name not in _DONE:
        _DONE[name] = (name, *imported(capsys, str(FOLDER / name)))
    return _DONE[name]


def test_a_real_log_gives_what_it_holds(case: tuple[str, int, dict[str, Any]]) -> None:
    """Runs, rows, times, checks, footer and how each fact is known; nothing that the log does not say."""
    name, _, document = case
    expected = CASES[name]["runs"]
    assert len(document["sweeps"]) == len(expected)
    for sweep, wanted in zip(document["sweeps"], expected, strict=True):
        assert sweep["source"]["tool"] == CASES[name]["tool"]
        for fact in _SAME:
            if fact in wanted and not (sweep[fact] is None and fact in wanted.get("null_ok", ())):
                assert sweep[fact] == wanted[fact], fact
        assert sweep["checked"] is (None if name == _MAGNITUDES else wanted["checked"])
        assert sweep["checked_by_placement"] == wanted.get("checked_by_placement", sweep["checked_by_placement"])
        assert sweep["candidates"] == sorted(wanted.get("collective_candidates", []))
        assert sweep["dtypes"] == [_DTYPES[dtype] for dtype in wanted["dtypes"]]
        verdict = sweep["out_of_bounds"], sweep["out_of_bounds_verdict"]
        assert wanted["oob_footer"] in (None, "{} {}".format(*verdict))
        assert sweep["average_printed"] == wanted["avg_printed"]
        assert sweep["average_is_of_these_rows"] == wanted.get("avg_is_of_these_rows")
        for which, place in (("first", 0), ("last", -1)):
            assert _point(sweep, place) == wanted[which]


def _point(sweep: dict[str, Any], place: int) -> dict[str, Any]:
    keys = list(dict.fromkeys((m["message_bytes"], m["cycle"]) for m in sweep["measurements"]))
    size, cycle = keys[place]
    point: dict[str, Any] = {"message_bytes": size, "out_us": None, "in_us": None}
    for m in sweep["measurements"]:
        if (m["message_bytes"], m["cycle"]) == (size, cycle):
            (seconds,) = m["seconds"]
            point[f"{m['placement']}_us"] = round(seconds * 1e6, 4)
    return point


def test_an_average_stands_beside_its_own_rows_only(case: tuple[str, int, dict[str, Any]]) -> None:
    """`average` is null unless it is the mean of the rows that were read."""
    for sweep in case[2]["sweeps"]:
        if sweep["average"] is not None:
            values = [m["reported"]["busbw"] for m in sweep["measurements"]]
            assert sweep["average"] == pytest.approx(sum(values) / (len(values) + 2 * sweep["zero_rows"]), abs=6e-3)


def test_the_exit_code_says_whether_something_is_missing(case: tuple[str, int, dict[str, Any]]) -> None:
    """1 without a run; 3 where a run is not complete or a reject matters; else 0."""
    name, code, document = case
    doubtful = any(s["complete"] is False for s in document["sweeps"]) or any(r["matters"] for r in document["rejects"])
    assert code == (1 if not document["sweeps"] else 3 if doubtful else 0)
    assert bool(document["sweeps"]) == bool(CASES[name]["runs"])


def test_every_line_of_figures_is_accounted_for(case: tuple[str, int, dict[str, Any]]) -> None:
    """A line that begins with a size and a count is a row, is left out, or is rejected with its number."""
    name, _, document = case
    known = {r["line"] for r in document["rejects"]}
    for sweep in document["sweeps"]:
        known |= {skipped["line"] for skipped in sweep["left_out"]} | set(range(*sweep["lines"])) | {sweep["lines"][1]}
    for number, line in enumerate((FOLDER / name).read_text().splitlines(), 1):
        words = line.rpartition(":")[2].split()
        if len(words) > 3 and words[0].isdigit() and words[1].isdigit() and words[2] in _DTYPES:
            assert number in known, line


def test_a_run_that_failed_without_a_row_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """Its failure is a reject with the line, and nothing can be used."""
    name = "018-ar-rtx5090-2-failure-no-rows.log"
    code, document = imported(capsys, str(FOLDER / name))
    assert code == 1
    assert document["rejects"][0]["line"] == 10
    assert CASES[name]["error_line"] in document["rejects"][0]["reason"]


def test_a_file_that_was_not_checked_is_in_doubt_with_strict(capsys: pytest.CaptureFixture[str]) -> None:
    """N/A is not 0, whatever the footer says."""
    log = str(FOLDER / "002-ar-k80-2-novalidation.log")
    assert imported(capsys, log)[0] == 0
    assert imported(capsys, log, "--strict")[0] == 3


def test_what_the_user_states_is_kept_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    """It fills what the log leaves open; where the log knows better, it is not used and a warning says so."""
    open_log, full_log = (
        str(FOLDER / name) for name in ("041-ar-two-jobs-interleaved.log", "055-ar-gb10-2-newformat-cut.log")
    )
    sweeps = imported(capsys, open_log, "--world-size", "2", "--label", "ib")[1]["sweeps"]
    assert [(s["world_size"], s["world_size_basis"], s["label"]) for s in sweeps] == [
        (2, "stated by the user", "ib")
    ] * 2
    document = imported(capsys, full_log, "--world-size", "4")[1]
    assert document["sweeps"][0]["world_size"] == 2
    assert any("--world-size 4 is not used" in words for words in document["warnings"])
