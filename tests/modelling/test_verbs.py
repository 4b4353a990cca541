"""`commbench fit` and `commbench predict` as a user meets them."""

import json
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from commbench.__main__ import main
from commbench.sweepfile.records import Header, Measurement
from tests.modelling.building import DATA, SIZES, about, line, sweep

NVLINK, HOST, COLLAPSE = (str(DATA / f"{name}.jsonl") for name in ("nvlink-all_reduce", "host-all_reduce", "collapse"))


def _ring(ranks: int, size: float) -> float:
    return 2 * (ranks - 1) * 1e-5 + 2 * (ranks - 1) / ranks * size / 1e10


def written(folder: Path, *worlds: int) -> str:
    """A file of sweeps of these numbers of ranks, whose latency grows as a ring's."""
    lines: list[Header | Measurement] = []
    for ranks in worlds:
        one = sweep(partial(_ring, ranks), world_size=ranks)
        lines += [msgspec.structs.replace(one.header, sweep=f"s{ranks}")]
        lines += [msgspec.structs.replace(row, sweep=f"s{ranks}") for row in one.measurements]
    file = folder / "worlds.jsonl"
    file.write_bytes(b"\n".join(map(msgspec.json.encode, lines)) + b"\n")
    return str(file)


def answer(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Any:
    """The document that a command prints, and nothing else."""
    assert main([*words, "--json"]) == code
    said = capsys.readouterr()

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    return json.loads(said.out, parse_constant=refuse)


def test_fit_prints_a_document(capsys: pytest.CaptureFixture[str]) -> None:
    """The fields that programs rely on."""
    models = answer(capsys, "fit", NVLINK)["models"]
    assert {
        "label", "collective", "op", "dtype", "placement", "mode", "world_size", "latency_seconds", "latency_interval",
        "bytes_per_second", "bytes_per_second_interval", "bus_bytes_per_second", "half_bytes", "segments", "held_out",
        "refused", "reference",
    } <= set(models[0])  # fmt: skip
    assert set(models[0]["segments"][0]) == {"from_bytes", "to_bytes", "latency_seconds", "bytes_per_second"}
    assert {"median", "mean", "worst", "interpolation_mean", "relative_mean", "plain_mean"} <= set(
        models[0]["held_out"]
    )


def test_a_refused_fit_prints_its_document_and_ends_with_3(capsys: pytest.CaptureFixture[str]) -> None:
    models = answer(capsys, "fit", COLLAPSE, code=3)["models"]
    assert [("collapse" in one["refused"], one["latency_seconds"]) for one in models] == [(True, None)] * 2


def test_a_refused_prediction_prints_its_document_and_ends_with_3(capsys: pytest.CaptureFixture[str]) -> None:
    (first, *_) = answer(capsys, "predict", COLLAPSE, "--size", "1M", code=3)["predictions"]
    assert ("collapse" in first["refused"], first["seconds"], first["message_bytes"]) == (True, None, 1 << 20)


def test_predict_answers_for_each_model_and_size(capsys: pytest.CaptureFixture[str]) -> None:
    """Two placements, two sizes; one of them is 16 times beyond 4 GiB."""
    found = answer(capsys, "predict", NVLINK, "--size", "1M,64G")["predictions"]
    assert [(one["message_bytes"], one["extrapolated"]) for one in found] == [(1 << 20, False), (1 << 36, True)] * 2
    assert found[1]["extrapolated_by"] == about(16)
    assert all(one["interval"][0] < one["seconds"] < one["interval"][1] for one in found)


def test_several_sets_stand_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "predict", NVLINK, HOST, "--size", "64M")["predictions"]
    assert [one["label"] for one in found] == ["nvlink-all_reduce"] * 2 + ["host-all_reduce"] * 2


def test_a_collective_that_was_not_measured_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    (only,) = answer(capsys, "predict", NVLINK, "--size", "8", "--collective", "broadcast", code=3)["predictions"]
    assert (only["collective"], only["refused"]) == ("broadcast", "this collective was not measured")


def test_another_number_of_ranks_is_predicted_from_three(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """2, 4 and 8 ranks in a ring, to 16."""
    (only,) = answer(capsys, "predict", written(tmp_path, 2, 4, 8), "--size", "1M", "--world-size", "16")["predictions"]
    assert only["seconds"] == about(30e-5 + 30 / 16 * (1 << 20) / 1e10, rel=0.05)
    assert (only["world_size"], only["extrapolated"], only["extrapolated_by"]) == (16, True, 2.0)
    assert (only["scaling"]["law"], only["scaling"]["from_world_sizes"]) == ("ring", [2, 4, 8])
    assert only["scaling"]["largest_world_error"] < 0.01


def test_another_number_of_ranks_is_refused_from_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("predict", written(tmp_path, 2, 4), "--size", "1M", "--world-size", "16")
    assert "3 or more" in answer(capsys, *words, code=3)["predictions"][0]["refused"]


def test_a_measured_number_of_ranks_is_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "predict", written(tmp_path, 2, 4), "--size", "1M", "--world-size", "4")["predictions"]
    assert [one["world_size"] for one in found] == [4]


def test_fit_prints_a_table_with_units(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", NVLINK, "--reference"]) == 0
    page = capsys.readouterr().out
    assert re.search(r"latency +95 % +bandwidth", page)
    assert "NVLink 4, 18 links" in page
    assert "1 outlier" in page


def test_fit_prints_the_law_over_ranks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Three numbers of ranks: a table and an entry of the document."""
    file = written(tmp_path, 2, 4, 8)
    assert main(["fit", file]) == 0
    assert re.search(r"2, 4, 8 +ring", capsys.readouterr().out)
    (law,) = answer(capsys, "fit", file)["scaling"]
    assert (law["law"], law["hop_seconds"]) == ("ring", about(1e-5, rel=0.05))


def test_fit_names_what_it_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", COLLAPSE]) == 3
    assert "refused  all_to_all float32 out pipelined: a collapse" in capsys.readouterr().out


def test_predict_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", NVLINK, "--size", "64G", "--collective", "allreduce"]) == 0
    assert "yes, 16 times beyond" in capsys.readouterr().out


def test_saved_models_answer_like_their_sweep(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "model.json")
    assert main(["fit", NVLINK, "--save", file]) == 0
    capsys.readouterr()
    assert answer(capsys, "predict", file, "--size", "1M") == answer(capsys, "predict", NVLINK, "--size", "1M")


@pytest.mark.parametrize(
    "words",
    [
        ["fit"], ["fit", "nothing.jsonl"], ["fit", NVLINK, "--mode", "fast"], ["fit", NVLINK, "--collective", "x"],
        ["predict", NVLINK], ["predict", NVLINK, "--size", "0"], ["predict", NVLINK, "--size", "-1"],
        ["predict", NVLINK, "--size", "1M", "--world-size", "1"],
        ["predict", NVLINK, "--size", "1M", "--world-size", "9" * 99], ["fit", NVLINK, "--save", NVLINK],
    ],
)  # fmt: skip
def test_a_mistake_is_told_in_four_parts(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "expected:" in said.err


def test_nothing_to_fit_could_not_tell(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", NVLINK, "--collective", "reduce"]) == 3
    assert "nothing to fit" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["fit", "predict"])
def test_help_loads_nothing_heavy(verb: str) -> None:
    code = (
        f"import sys\nfrom commbench.__main__ import main\ntry:\n    main(['{verb}', '--help'])\nexcept SystemExit:\n"
        "    pass\nprint('loaded', *{'numpy', 'scipy', 'torch', 'matplotlib', 'rich', 'msgspec'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "loaded"


def test_the_law_of_the_tests_is_exact(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A sweep of 28 sizes written and read back fits exactly."""
    one = sweep(line)
    file = tmp_path / "law.jsonl"
    file.write_bytes(b"\n".join(map(msgspec.json.encode, (one.header, *one.measurements))) + b"\n")
    (found,) = answer(capsys, "fit", str(file))["models"]
    assert (found["latency_seconds"], found["sizes"]["count"]) == (about(20e-6), len(SIZES))


@pytest.mark.parametrize("words", [["fit", NVLINK], ["predict", NVLINK, "--size", "1M"]])
def test_an_empty_collective_chooses_nothing(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """As from an unset variable of a script."""
    assert main([*words, "--collective", ""]) == 2
    assert "names no collective" in capsys.readouterr().err


def test_nothing_to_fit_is_a_document_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, "fit", NVLINK, "--collective", "broadcast", code=3)["models"] == []
