"""A whole sweep on one fake rank: what is in the file, and how it ends."""

import json
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from commbench.errors import SweepFileError
from commbench.sweepfile.writer import SweepWriter

from .fakes import Law
from .running import GivenUpError, Launch, launch, records

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
def fail_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Makes the disk full at the k-th record."""

    def plant(k: int) -> None:
        whole, written = SweepWriter.write, count(1)

        def write(writer: SweepWriter, record: Any) -> None:
            if next(written) == k:
                raise SweepFileError("a record could not be written", expected="room", found="none", fix="free space")
            whole(writer, record)

        monkeypatch.setattr(SweepWriter, "write", write)

    return plant


def test_a_good_sweep_ends_with_0(one: Launch, file: Path) -> None:
    assert one.run(*SIZES, "-J", str(file)) == 0


def test_the_library_is_left_in_order(one: Launch) -> None:
    one.run(*SIZES)
    assert one.sessions[0].left


def test_a_file_holds_header_states_points_and_end_in_order(one: Launch, file: Path) -> None:
    one.run(*SIZES, "-J", str(file))
    kinds = [record["record"] for record in records(file)]
    assert kinds == ["sweep", "machine_state", *["measurement"] * 4, "machine_state", "end"]


def test_the_header_has_what_the_contract_says(one: Launch, file: Path) -> None:
    one.run(*SIZES, "-J", str(file), "--label", "here")
    (header,) = records(file, "sweep")
    wanted = {"format": 1, "label": "here", "backend": "fake", "world_size": 1, "ranks_per_host": [1]}
    assert wanted == {key: header[key] for key in wanted}
    assert header["started_at"].endswith("Z")
    assert header["source"]["tool"] == "commbench"
    assert header["transport"]["setting"] == "here"
    assert header["transport"]["proved"] is None


@pytest.mark.parametrize(
    ("setting", "value"),
    [("sizes", [8, 16, 32, 64]), ("samples", 6), ("warm_up", 1), ("check", True), ("buffers", "rotate"),
     ("modes", ["isolated"]), ("clock_resolution", 1e-7), ("cache_bytes", 1 << 20), ("placements", None)],
)  # fmt: skip
def test_the_header_says_how_it_was_measured(setting: str, value: Any, one: Launch, file: Path) -> None:
    one.run(*SIZES, "-J", str(file))
    assert value == records(file, "sweep")[0]["settings"][setting]


def test_the_header_says_on_what_it_was_measured(one: Launch, file: Path) -> None:
    one.run(*SIZES, "-J", str(file))
    environment = records(file, "sweep")[0]["environment"]
    assert environment["device"] == "fake CPU"
    assert environment["fake"] == "1"
    assert len(environment["hosts"]) == 1


def test_a_measurement_has_what_the_contract_says(one: Launch, file: Path) -> None:
    one.run("all_reduce", "-b", "1M", "-e", "1M", "-J", str(file))
    (found,) = records(file, "measurement")
    sweep, seconds = records(file, "sweep")[0]["sweep"], 20e-6 + 2**20 / 10e9
    expected = {
        "sweep": sweep, "collective": "all_reduce", "message_bytes": 1 << 20, "dtype": "float32", "op": "sum",
        "root": None, "placement": "in", "mode": "isolated", "clock": "host", "calls_per_sample": 1,
        "seconds": pytest.approx([seconds] * 6), "fastest_seconds": pytest.approx([seconds] * 6), "slowest_rank": None,
        "fastest_rank": None, "correct": True, "wrong": 0, "cycle": 0, "notes": ["nothing was sent"],
    }  # fmt: skip
    assert expected == {key: found[key] for key in expected}


def test_every_record_has_the_sweep_s_id(one: Launch, file: Path) -> None:
    one.run(*SIZES, "-J", str(file))
    assert len({record["sweep"] for record in records(file)}) == 1


def test_wrong_results_end_with_1(one: Launch, file: Path) -> None:
    one.law = Law(wrong={0: 2})
    assert one.run(*SIZES, "-J", str(file)) == 1
    assert {(False, 4)} == {(record["correct"], record["wrong"]) for record in records(file, "measurement")}


def test_unchecked_results_end_with_0(one: Launch, file: Path) -> None:
    one.law = Law(wrong={0: 2})
    assert one.run(*SIZES, "-J", str(file), "-c", "0") == 0
    assert {(None, None)} == {(record["correct"], record["wrong"]) for record in records(file, "measurement")}


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("the fake has no reduce", ["reduce"]),
        ("the fake has no all_reduce with placement 'out'", ["all_reduce", "--placement", "out"]),
        (
            "buffers up to this size need 4 GiB a rank, and may take 90 % of the 1 GiB a rank that are free",
            ["all_reduce", "-b", "4G", "-e", "4G"],
        ),
    ],
)
def test_what_cannot_be_measured_is_left_out_with_its_reason(
    reason: str, words: list[str], one: Launch, file: Path
) -> None:
    one.law = Law(refuses=("reduce",))
    one.run("-b", "8", "-e", "8", *words, "-J", str(file))
    assert {reason} == {record["reason"] for record in records(file, "left_out")}


def test_json_is_all_that_is_printed(one: Launch, capsys: pytest.CaptureFixture[str]) -> None:
    one.run(*SIZES, "--json")
    document = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert len(document["sweeps"][0]["measurements"]) == 4


def test_a_plan_measures_nothing_and_writes_no_file(one: Launch, file: Path) -> None:
    assert one.run(*SIZES, "-J", str(file), "--plan") == 0
    assert not file.exists()
    assert one.sessions[0].backends == []


def test_a_plan_is_printed(one: Launch, capsys: pytest.CaptureFixture[str]) -> None:
    one.run(*SIZES, "--plan")
    assert capsys.readouterr().out.startswith("1 rank: 4 points\n")


def test_a_file_is_never_overwritten(one: Launch, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text("mine\n")
    assert one.run(*SIZES, "-J", str(file)) == 2
    assert f"--resume {file}" in capsys.readouterr().err
    assert file.read_text() == "mine\n"


def test_nothing_is_measured_before_the_file_is_open(one: Launch, file: Path) -> None:
    file.touch()
    one.run(*SIZES, "-J", str(file))
    assert one.sessions[0].backends == []


def test_a_usage_error_ends_with_2_before_anything_is_opened(one: Launch) -> None:
    assert one.run("-b", "x") == 2
    assert one.sessions == []


@pytest.mark.parametrize("k", range(1, 8))
def test_a_full_disk_keeps_every_earlier_record(
    k: int, one: Launch, file: Path, fail_at: Callable[[int], None]
) -> None:
    """The k-th of 8 records fails: this rank alone knows, so it gives up for all, with the file's message."""
    fail_at(k)
    with pytest.raises(GivenUpError, match="a record could not be written") as caught:
        one.run(*SIZES, "-J", str(file))
    assert caught.value.args[1] == 2
    assert k - 1 == len(records(file))


def test_cycles_are_measured_and_numbered(one: Launch, file: Path) -> None:
    one.run(*SIZES, "-J", str(file), "-N", "3")
    assert [record["cycle"] for record in records(file, "measurement")] == [0] * 4 + [1] * 4 + [2] * 4


def test_a_plan_for_programs_is_one_document(one: Launch, capsys: pytest.CaptureFixture[str]) -> None:
    """`--plan --json`: strict JSON on standard output and nothing else."""
    one.run(*SIZES, "--plan", "--json")
    (part,) = json.loads(capsys.readouterr().out)["plan"]
    assert (part["ranks"], part["points"], part["left_out"]) == (1, 4, [])


def test_a_run_in_which_nothing_was_measured_ends_with_3(one: Launch, capsys: pytest.CaptureFixture[str]) -> None:
    """Every point left out is no success: a job that checks the code must not pass."""
    assert one.run("all_reduce", "-b", "4G", "-e", "4G") == 3
    assert "nothing was measured" in capsys.readouterr().err


def test_compute_on_cpus_is_refused(one: Launch, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--with-compute without a GPU ends with 2, names the reason, and leaves no file."""
    assert (one.run(*SIZES, "--with-compute", "-J", str(file)), file.exists()) == (2, False)
    assert "--with-compute needs GPUs" in capsys.readouterr().err
