"""CSV and JSON of rccl-tests' reporter, old and new."""

import json

import pytest

from commbench.importing.foreign import Run
from commbench.importing.nccl_family import rccl_reporter
from tests.importing.logs import reading

HEADER = "numCycle,collective,nodes,ranks,ranksPerNode,gpusPerRank,size,type,redop,inplace,time,algbw,busbw,#wrong"
ROWS = [
    "0,AllReduce,1,8,8,1,8192,float,sum,0,21.37,0.38,0.67,0",
    "0,AllReduce,1,8,8,1,8192,float,sum,1,21.05,0.39,0.68,N/A",
    "0,AllReduce,1,8,8,1,16777216,float,sum,0,400.00,41.94,73.40,0",
    "0,AllReduce,1,8,8,1,16777216,float,sum,1,410.00,40.92,71.61,3",
]
FACTS = [
    (8192, 2.137e-05, "out", True, 0),
    (8192, 2.105e-05, "in", None, None),
    (16777216, 4e-4, "out", True, 0),
    (16777216, 4.1e-4, "in", False, 3),
]


def only_run(*lines: str) -> Run:
    """The run of a file that holds one."""
    found = reading(rccl_reporter, "\n".join([*lines, ""]))
    assert not found.rejects
    (run,) = found.runs
    return run


def facts(run: Run) -> list[tuple[object, ...]]:
    """What each row says."""
    return [(row.message_bytes, row.seconds, row.placement, row.correct, row.wrong) for row in run.rows]


def quoted(row: str) -> str:
    """The old CSV: text in quotes, a blank behind each comma."""
    return ", ".join(word if word[0].isdigit() else f'"{word}"' for word in row.split(","))


def as_object(row: str) -> dict[str, object]:
    """The new JSON."""
    names = ("numCycle", "name", "nodes", "ranks", "ranksPerNode", "gpusPerRank", "size", "type", "redop", "inPlace",
             "time", "algBw", "busBw", "wrong")  # fmt: skip
    words = [w if n in ("name", "type", "redop", "wrong") else float(w) if "." in w else int(w)
             for n, w in zip(names, row.split(","), strict=True)]  # fmt: skip
    return dict(zip(names, words, strict=True))


SHORT = ",".join(name for name in HEADER.split(",") if name != "nodes")
FORMS = {
    "new CSV": [HEADER, *ROWS],
    "old CSV": [HEADER, *map(quoted, ROWS)],
    "header one column short": [SHORT, *map(quoted, ROWS)],
    "no header": ROWS,
    "new JSON": [json.dumps([as_object(row) for row in ROWS])],
    "new JSON, a line each": json.dumps([as_object(row) for row in ROWS], indent=1).split("\n"),
    "old JSON": [json.dumps(as_object(row)) for row in ROWS],
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_rows(form: str) -> None:
    """By the known order of the columns where the header is shorter than the rows."""
    run = only_run(*FORMS[form])
    assert facts(run) == FACTS
    assert (run.collective, run.world_size, run.tool) == ("all_reduce", 8, "rccl-tests")


def test_without_mpi_one_column_counts_the_gpus() -> None:
    """`gpus` in place of nodes, ranks, ranks a node and GPUs a rank."""
    names = "numCycle,collective,gpus,size,type,redop,inplace,time,algbw,busbw,#wrong"
    run = only_run(names, *(row.replace(",1,8,8,1,", ",8,") for row in ROWS))
    assert facts(run) == FACTS
    assert run.world_size == 8


def test_gpus_of_one_rank_count() -> None:
    """One process that drives 8 GPUs is 8 ranks."""
    assert only_run(HEADER, *(row.replace(",1,8,8,1,", ",1,1,1,8,") for row in ROWS)).world_size == 8


def test_another_collective_is_another_run() -> None:
    """One file holds what one script ran."""
    other = [row.replace("AllReduce", "Broadcast").replace("0.67", "0.38").replace("0.68", "0.39") for row in ROWS[:2]]
    found = reading(rccl_reporter, "\n".join([HEADER, *ROWS, *other]))
    assert [run.collective for run in found.runs] == ["all_reduce", "broadcast"]


def test_cycles_are_those_of_the_file() -> None:
    """numCycle counts them."""
    again = [row.replace("0,", "1,", 1) for row in ROWS]
    assert [row.cycle for row in only_run(HEADER, *ROWS, *again).rows] == [0] * 4 + [1] * 4


def test_a_cut_record_is_rejected_with_its_line() -> None:
    """And the others stay."""
    found = reading(rccl_reporter, "\n".join([HEADER, *ROWS[:3], ROWS[3][:40]]))
    assert [reject.line for reject in found.rejects] == [5]
    assert len(found.runs[0].rows) == 3
    cut = reading(rccl_reporter, json.dumps([as_object(row) for row in ROWS], indent=1)[:-60])
    assert len(cut.runs[0].rows) == 3
    assert any(reject.matters for reject in cut.rejects)


def test_a_last_record_that_is_cut_ends_the_run_early() -> None:
    """Such a file says nothing about its end otherwise."""
    found = reading(rccl_reporter, "\n".join([HEADER, *ROWS[:3], ROWS[3][:-7]]))
    assert (found.runs[0].complete, len(found.runs[0].rows)) == (False, 3)
    assert [reject.line for reject in found.rejects] == [5]
