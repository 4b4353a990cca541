"""Programs that print like nccl-tests, from start to sweep file."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from commbench.__main__ import main
from commbench.sweepfile.reader import read_sweeps
from commbench.sweepfile.records import Measurement
from tests.importing.runner.fakes import TOKEN, Result, environment, install

DATA = Path(__file__).resolve().parents[2] / "data" / "runner"

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """`commbench nccl-tests` in this process, with fakes that do as `fake` says."""
    install(tmp_path / "bin", "all_reduce_perf", "reduce_scatter_perf")
    monkeypatch.chdir(tmp_path)

    def start(line: str = "all_reduce", fake: str = "", **variables: str) -> Result:
        for name in ("NCCL_DEBUG", "NCCL_DEBUG_FILE", "NCCL_TESTS_HOME"):
            monkeypatch.delenv(name, raising=False)
        for name, text in environment(fake, **variables).items():
            monkeypatch.setenv(name, text)
        code = main(["nccl-tests", *line.split(), "--binaries", "bin", "-J", "out.jsonl"])
        page = capfd.readouterr()
        file = tmp_path / "out.jsonl"
        return Result(code, page.out, page.err, read_sweeps(file) if file.exists() else ())

    return start


def rows(result: Result) -> list[Measurement]:
    """The measurements of all sweeps."""
    return [row for sweep in result.sweeps for row in sweep.measurements]


def test_a_run_gives_a_complete_sweep_with_its_exact_times(run: Run) -> None:
    result = run("all_reduce -b 8 -e 4G -f 2")
    exact = json.loads((DATA / "new-all_reduce.json").read_text())["results"]
    expected = {
        (row["size"], place): row[key]["time"] * 1e-6
        for row in exact
        for place, key in (("out", "out_of_place"), ("in", "in_place"))
    }
    assert result.code == 0, result.stderr
    assert result.sweeps[0].status == "complete"
    assert {(row.message_bytes, str(row.placement)): row.seconds[0] for row in rows(result)} == pytest.approx(expected)


def test_every_row_is_told_as_it_comes(run: Run) -> None:
    assert "[4/60] all_reduce 16 B, float32, sum, in place: 13.6 us" in run(fake="rows:2").stderr


def test_labels_for_the_cross_check(run: Run) -> None:
    result = run("all_reduce --label nvlink", "rows:2")
    header = result.sweeps[0].header
    assert (header.label, header.backend, header.world_size, header.ranks_per_host) == ("nvlink", "nccl", 2, (2,))
    assert {(row.mode, row.statistic, row.clock) for row in rows(result)} == {
        ("pipelined", "maximum over ranks", "host")
    }
    assert header.settings["buffers"] == "rotate"


def test_graph_mode_is_labelled(run: Run) -> None:
    assert {row.mode for row in rows(run("all_reduce -G 4", "rows:2"))} == {"graph"}


def test_programs_follow_each_other_into_one_file(run: Run) -> None:
    result = run("all_reduce reduce_scatter", "rows:2")
    assert [sweep.measurements[0].collective for sweep in result.sweeps] == ["all_reduce", "reduce_scatter"]


def test_an_old_version_is_read_from_its_table(run: Run) -> None:
    result = run("all_reduce", "old,rows:3")
    assert [row.seconds[0] for row in rows(result)] == pytest.approx(
        [8.97e-6, 8.83e-6, 9.48e-6, 9.10e-6, 10.28e-6, 9.34e-6]
    )
    assert (result.code, rows(result)[0].statistic) == (0, "mean over ranks")
    assert "no -a 3" in result.stderr


def test_what_was_printed_is_kept_beside_the_sweep_file(run: Run, tmp_path: Path) -> None:
    result = run(fake="rows:2,noise")
    assert result.sweeps[0].header.source.file == "out.all_reduce.log"
    log = (tmp_path / "out.all_reduce.log").read_text()
    assert "# Collective test concluded" in log
    assert "libibverbs" in log


def test_nothing_else_is_left(run: Run, tmp_path: Path) -> None:
    run(fake="rows:2")
    assert {path.name for path in tmp_path.iterdir()} == {"bin", "out.jsonl", "out.all_reduce.log"}


def test_a_secret_of_the_environment_reaches_no_output(run: Run, tmp_path: Path) -> None:
    """The JSON holds the whole environment."""
    result = run("all_reduce", "rows:2", NCCL_ALGO="Ring")
    texts = [result.stdout, result.stderr, *(path.read_text() for path in tmp_path.iterdir() if path.is_file())]
    assert not any(TOKEN in text for text in texts)
    variables = result.sweeps[0].header.environment["variables"]
    assert variables["NCCL_ALGO"] == "Ring"


def test_variables_of_ours_are_not_taken_for_the_users(run: Run) -> None:
    assert "NCCL_DEBUG_FILE" not in run(fake="rows:1").sweeps[0].header.environment["variables"]


def test_the_path_is_proved_from_nccls_log(run: Run) -> None:
    sweep = run(fake="rows:2").sweeps[0]
    assert sweep.proved == ("P2P",)
    assert {"from": 0, "to": 1, "path": "P2P/direct pointer"} in sweep.header.transport["pairs"]


def test_a_users_own_log_is_read_where_they_want_it(run: Run, tmp_path: Path) -> None:
    result = run(fake="rows:2", NCCL_DEBUG="INFO", NCCL_DEBUG_FILE=str(tmp_path / "mine.%h.%p"))
    assert result.sweeps[0].proved == ("P2P",)
    assert list(tmp_path.glob("mine.node-0.*"))


def test_a_users_log_on_standard_output_is_read_there(run: Run) -> None:
    result = run(fake="rows:2", NCCL_DEBUG="INFO")
    assert (result.code, result.sweeps[0].proved, len(rows(result))) == (0, ("P2P",), 4)


def test_lines_of_libraries_hurt_no_row(run: Run) -> None:
    result = run(fake="rows:5,noise")
    assert (result.code, len(rows(result))) == (0, 10)


def test_a_crash_keeps_the_rows_before_it(run: Run) -> None:
    result = run(fake="crash:5")
    assert (result.code, result.sweeps[0].status, len(rows(result))) == (2, "aborted", 10)
    assert "crashed after 10 rows, which are kept (exit status 3): node-0: Test NCCL failure" in result.stderr


def test_a_crash_does_not_keep_the_next_program_from_running(run: Run) -> None:
    result = run("all_reduce reduce_scatter", "crash:1")
    assert (result.code, len(result.sweeps)) == (2, 2)


def test_a_segmentation_fault_is_named(run: Run) -> None:
    assert "signal SIGSEGV" in run(fake="segv:1").stderr


def test_a_failure_before_the_first_row(run: Run) -> None:
    result = run(fake="crash:0")
    assert (result.code, rows(result), result.sweeps[0].status) == (2, [], "aborted")
    assert "failed before its first row" in result.stderr


def test_no_rows_without_an_error(run: Run) -> None:
    result = run(fake="zero")
    assert (result.code, rows(result)) == (1, [])
    assert "printed no row" in result.stderr


def test_output_without_a_footer_could_be_cut(run: Run) -> None:
    assert (run(fake="cut:3").code) == 3


def test_wrong_results_are_1_and_kept_as_wrong(run: Run) -> None:
    result = run(fake="wrong,rows:5")
    wrong = [row for row in rows(result) if row.correct is False]
    assert (result.code, len(wrong), wrong[0].wrong) == (1, 1, 17)
    assert "wrong data in 1 of 10 rows (2 out of bounds values FAILED)" in result.stderr


def test_an_average_below_the_minimum_is_1(run: Run) -> None:
    result = run(fake="minimum,rows:2")
    assert (result.code, "NCCL_TESTS_MIN_BW" in result.stderr) == (1, True)


def test_sizes_that_memory_does_not_hold_are_left_out(run: Run) -> None:
    result = run(fake="memory")
    assert (result.code, result.sweeps[0].status) == (3, "complete")
    assert [point.message_bytes for point in result.sweeps[0].left_out] == [1 << power for power in range(27, 33)]
    assert "6 sizes from 128 MiB were left out: memory allows 64 MiB" in result.stderr


def test_a_failure_after_the_footer_keeps_the_sweep_complete(run: Run) -> None:
    result = run(fake="late-failure,rows:2")
    assert (result.code, result.sweeps[0].status) == (2, "complete")


@pytest.mark.parametrize("fake", ["cut-json", "no-json"])
def test_without_a_whole_json_the_table_counts(run: Run, fake: str) -> None:
    result = run(fake=f"{fake},rows:3")
    assert result.code == 0
    assert rows(result)[0].seconds[0] == pytest.approx(20.49e-6)
    assert "its JSON cannot be read" in result.stderr


def test_a_json_that_disagrees_with_the_table_is_not_believed(run: Run) -> None:
    result = run(fake="lying-json,rows:3")
    assert result.code == 3
    assert rows(result)[0].seconds[0] == pytest.approx(20.49e-6)
    assert "its JSON and its table disagree: 8 B float32 out of place" in result.stderr


def test_one_json_document_and_nothing_else_on_standard_output(run: Run) -> None:
    result = run("all_reduce --json", "rows:2")
    assert [len(sweep["measurements"]) for sweep in result.document["sweeps"]] == [4]


def test_an_existing_sweep_file_is_never_overwritten(run: Run, tmp_path: Path) -> None:
    run(fake="rows:2")
    before = (tmp_path / "out.jsonl").read_bytes()
    result = run(fake="rows:2")
    assert (result.code, (tmp_path / "out.jsonl").read_bytes() == before) == (2, True)
    assert "never overwritten" in result.stderr


def test_a_library_that_is_missing_is_named_before_anything_runs(run: Run) -> None:
    result = run(fake="no-library")
    assert (result.code, result.sweeps) == (2, ())
    assert "libnccl.so.2" in result.stderr


def test_a_program_that_is_missing_is_named_before_anything_runs(run: Run, tmp_path: Path) -> None:
    result = run("all_reduce all_gather", "rows:2")
    assert (result.code, (tmp_path / "out.jsonl").exists()) == (2, False)
    assert "all_gather_perf was not found" in result.stderr


def test_options_that_are_not_understood_after_all(run: Run) -> None:
    result = run(fake="usage")
    assert (result.code, "did not understand its options" in result.stderr) == (2, True)


def test_a_replaced_type_ends_the_run(run: Run) -> None:
    """nccl-tests measures float instead, and says so in one line only."""
    result = run(fake="replaced")
    assert (result.code, "invalid type fp3" in result.stderr, rows(result)) == (2, True, [])
