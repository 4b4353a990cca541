"""Whole sweeps under Open MPI's mpirun: right, complete, with the library's facts and the path that it proves."""

from pathlib import Path
from typing import Any

import pytest

from commbench.collectives import COLLECTIVES
from commbench.sweepfile.records import Header
from tests.launched.launching import Result

from .running import run

pytestmark = pytest.mark.mpi

QUICK = ("-n", "4", "-w", "1", "--buffers", "same")


def swept(folder: Path, ranks: int, *options: str, mpirun: tuple[str, ...] = ()) -> Result:
    """A sweep into a file, which went well."""
    result = run(ranks, *options, *QUICK, "-J", str(folder / "out.jsonl"), mpirun=mpirun)
    assert result.returncode == 0, result.stderr
    return result


def only_header(result: Result) -> Header:
    """The header of a result's one sweep."""
    (sweep,) = result.sweeps
    return sweep.header


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """Two ranks: every collective, kinds of dtypes, operators and modes, on a size that no shard divides."""
    kinds = ("-d", "float,bf16,int8", "-o", "sum,avg,prod", "--mode", "isolated,graph")
    return swept(tmp_path_factory.mktemp("whole"), 2, "all", "-b", "1000", "-e", "1000", *kinds)


def right(result: Result, ranks: int) -> bool:
    """Whether every row is, of a complete sweep, and every collective has rows."""
    return (
        {row.correct for row in result.rows} == {True}
        and {row.collective for row in result.rows} == set(COLLECTIVES) - ({"send_recv"} if ranks == 1 else set())
        and result.sweeps[0].status == "complete"
    )


@pytest.mark.parametrize("ranks", [1, 3, 4])
def test_every_row_is_right(tmp_path: Path, ranks: int) -> None:
    """With shards of odd sizes, and more ranks than cores."""
    assert right(swept(tmp_path, ranks, "all", "-b", "1000", "-e", "1000"), ranks)


def test_every_kind_of_row_is_right(whole: Result) -> None:
    """Moved and reduced types, operators, modes."""
    assert right(whole, 2)


def test_what_mpi_lacks_is_left_out_with_its_reason(whole: Result) -> None:
    """Averages, sums of types that MPI does not know, graphs."""
    (sweep,) = whole.sweeps
    reasons = {(row.op, row.dtype, row.mode): row.reason for row in sweep.left_out}
    assert "MPI has no operator avg" in reasons["avg", "float32", "isolated"]
    assert "MPI has no type for bfloat16" in reasons["sum", "bfloat16", "isolated"]
    assert "CUDA graphs" in reasons["sum", "float32", "graph"]


def test_words_that_mpi_does_not_know_are_moved(whole: Result) -> None:
    """And the row says so."""
    notes = {row.dtype: row.notes for row in whole.rows if row.collective == "all_gather"}
    assert notes["float32"] == ()
    assert "moved as words" in notes["bfloat16"][0]


def test_the_header_knows_the_library(whole: Result) -> None:
    """Its version, the ranks as MPI counts them, and the cost of each call from Python."""
    header = only_header(whole)
    assert (header.backend, header.world_size, header.ranks_per_host) == ("mpi", 2, (2,))
    assert header.environment["mpi"].startswith("Open MPI v")
    costs: dict[str, Any] = header.environment["python_call_seconds"]
    assert set(costs) == set(COLLECTIVES)
    assert all(0.0 < seconds < 0.1 for seconds in costs.values())
    assert header.settings["persistent"] is False


def test_the_path_that_the_library_chose_is_proved(whole: Result) -> None:
    """By its own matrix, of which nothing reaches the screen."""
    expected = {"setting": None, "proved": ["sm"], "pairs": [{"from": 0, "to": 1, "path": "sm"}]}
    assert expected == only_header(whole).transport
    assert "Connection summary" not in whole.stdout + whole.stderr


def test_the_path_that_was_asked_for_is_proved(tmp_path: Path) -> None:
    """What the matrix says, beside the label."""
    result = swept(tmp_path, 3, "all_reduce", "-e", "8", "--label", "tcp", mpirun=("--mca", "btl", "self,tcp"))
    expected = {"setting": "tcp", "proved": ["tcp"], "pairs": [{"from": 0, "to": 1, "path": "tcp"}]}
    assert expected == only_header(result).transport


def test_a_matrix_that_the_user_asked_for_is_shown_too(tmp_path: Path) -> None:
    """The user's own variable stays theirs."""
    variable = ("-x", "OMPI_MCA_ompi_display_comm=mpi_init")
    result = swept(tmp_path, 2, "all_reduce", "-e", "8", mpirun=variable)
    assert "Connection summary" in result.stdout
    assert only_header(result).transport["proved"] == ["sm"]


def test_worlds_and_groups(tmp_path: Path) -> None:
    """Sub-worlds each prove their own path; groups run at once."""
    result = swept(tmp_path, 3, "all_reduce", "-b", "4K", "-e", "4K", "--world-sizes", "1,2,3")
    assert [sweep.header.transport["proved"] for sweep in result.sweeps] == [None, ["sm"], ["sm"]]
    (tmp_path / "groups").mkdir()
    result = swept(tmp_path / "groups", 4, "all_gather", "-b", "4K", "-e", "4K", "--groups", "MOD 2")
    assert only_header(result).groups == ((0, 2), (1, 3))
    assert {len(row.group_seconds or ()) for row in result.rows} == {2}


def test_persistent_collectives_are_labelled(tmp_path: Path) -> None:
    """In the settings, so that no other run continues the file, and in every row."""
    result = swept(tmp_path, 1, "all_reduce", "barrier", "-e", "64", "-f", "8", "--persistent")
    assert only_header(result).settings["persistent"] is True
    assert all("persistent" in row.notes[-1] for row in result.rows)
    refused = run(1, "all_reduce", "barrier", *QUICK, "--resume", str(tmp_path / "out.jsonl"))
    assert refused.returncode == 2
    assert "settings.persistent: true in the file, false now" in refused.stderr


def test_a_count_above_an_int_is_refused(tmp_path: Path) -> None:
    """Open MPI 5 implements MPI-3 counts; nothing is allocated for it."""
    options = ("all_reduce", "-d", "int8", "-b", "2G", "-e", "2G", "--placement", "in", *QUICK)
    (sweep,) = run(1, *options, "-J", str(tmp_path / "out.jsonl")).sweeps
    (refused,) = sweep.left_out
    assert "a count of 2147483648 elements does not fit the int of MPI-3.1" in refused.reason


def test_torch_workers_meet_without_a_word(tmp_path: Path) -> None:
    """`--backend gloo`: MPI tells ranks who they are and where they meet."""
    result = swept(tmp_path, 2, "all_reduce", "--backend", "gloo", "-b", "4K", "-e", "4K")
    header = only_header(result)
    assert (header.backend, header.world_size) == ("gloo", 2)
    assert header.environment["mpi"].startswith("Open MPI v")
    assert {row.correct for row in result.rows} == {True}
