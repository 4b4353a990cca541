"""Models are written and read back, and no other file is touched."""

import json
from pathlib import Path
from typing import Any

import pytest

from commbench.errors import SweepFileError
from commbench.modelling.inputs import read_models
from commbench.modelling.saved import load, save
from tests.modelling.building import DATA, real


def test_models_come_back_as_they_were(tmp_path: Path) -> None:
    """Refused ones too."""
    models = (*real("nvlink-all_reduce"), *real("single-gpu"))
    save(models, tmp_path / "model.json")
    assert load(tmp_path / "model.json") == models


def test_a_saved_file_stands_for_its_sweep(tmp_path: Path) -> None:
    """And beside sweeps."""
    save(real("nvlink-all_reduce"), tmp_path / "model.json")
    both = read_models([tmp_path / "model.json", DATA / "host-all_reduce.jsonl"])
    assert both == (*real("nvlink-all_reduce"), *real("host-all_reduce"))


def test_saved_models_are_replaced(tmp_path: Path) -> None:
    for name in ("nvlink-all_reduce", "host-all_reduce"):
        save(real(name), tmp_path / "model.json")
    assert load(tmp_path / "model.json") == real("host-all_reduce")


def test_another_file_is_never_replaced(tmp_path: Path) -> None:
    file = tmp_path / "sweep.jsonl"
    file.write_text('{"record":"sweep"}\n')
    with pytest.raises(SweepFileError, match="not saved over"):
        save(real("nvlink-all_reduce"), file)
    assert file.read_text() == '{"record":"sweep"}\n'


@pytest.mark.parametrize(
    "content",
    [
        '{"record":"models","format":2,"models":[]}', '{"record":"models","format":1,"models":[{"key":3}]}',
        '{"record":"models","format":1,"models":[{}]}', '{"record":"models","format":1', '{"record":"models"}',
        '{"record":"models","format":1,"models":[{"key":{"label":1}}]}', '{"record":"models","format":1,"models":3}',
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_an_error(content: str, tmp_path: Path) -> None:
    """Another format, damage, and a cut."""
    (tmp_path / "model.json").write_text(content)
    with pytest.raises(SweepFileError):
        read_models([tmp_path / "model.json"])


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SweepFileError, match="cannot be saved"):
        save((), tmp_path / "no" / "model.json")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("knots", None), ("knots", {"message_bytes": [], "seconds": [], "spread": []}), ("segments", []), ("sizes", []),
        ("knots", {"message_bytes": [8, 4], "seconds": [1.0, 2.0], "spread": [0.1, 0.1]}),
        ("knots", {"message_bytes": [4, 8], "seconds": [2.0, 1.0], "spread": [0.1, 0.1]}),
        ("knots", {"message_bytes": [4, 8], "seconds": [0.0, 1.0], "spread": [0.1, 0.1]}),
        ("knots", {"message_bytes": [4, 8], "seconds": [1.0, 2.0], "spread": [0.1, 1e308]}),
        ("latency_seconds", -1.0), ("bytes_per_second", 0.0), ("beyond", 1e308), ("refused", ""),
        ("key", {"collective": "all_to_none"}), ("key", {"world_size": 0}),
    ],
)  # fmt: skip
def test_an_edited_model_that_cannot_be_is_an_error(field: str, value: Any, tmp_path: Path) -> None:
    file = tmp_path / "model.json"
    save(real("nvlink-all_reduce")[:1], file)
    document = json.loads(file.read_text())
    edited = document["models"][0]
    edited[field] = {**edited["key"], **value} if field == "key" else value
    file.write_text(json.dumps(document))
    with pytest.raises(SweepFileError, match="cannot be read"):
        load(file)
