"""The schema accepts what the writer writes, and nothing else."""

import json
from typing import Any

import jsonschema
import msgspec
import pytest

from commbench.sweepfile.records import LeftOut, MachineState, Record, Transport
from commbench.sweepfile.schema import main, schema

from .sweeps import COMPLETE, MIB, point, sweep

RECORDS: list[Record] = [
    sweep(label="nvlink", ranks_per_host=(8,), settings={"target": 0.02}, transport={"proved": ["P2P"]}).header,
    point(fastest_seconds=(9e-5,) * 20, slowest_rank=3, notes=("a",)),
    LeftOut(sweep="s", collective="all_reduce", message_bytes=MIB, reason="no room"),
    Transport(sweep="s", setting="nvlink", proved=("P2P",), pairs=({"from": 0},)),
    MachineState(sweep="s", moment="before", devices=({"device": 0},)),
    COMPLETE,
]


def problems(line: dict[str, Any]) -> list[Any]:
    return list(jsonschema.Draft202012Validator(schema()).iter_errors(line))


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_it_accepts_each_kind_of_record(record: Record) -> None:
    assert problems(json.loads(msgspec.json.encode(record))) == []


@pytest.mark.parametrize(
    "damage", [{"message_bytes": -1}, {"seconds": "fast"}, {"mode": "quick"}, {"record": "unheard-of"}]
)
def test_it_refuses_damage(damage: dict[str, Any]) -> None:
    assert problems(json.loads(msgspec.json.encode(point())) | damage)


def test_it_refuses_another_format() -> None:
    assert problems(json.loads(msgspec.json.encode(sweep().header)) | {"format": 2})


def test_the_verb_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    assert json.loads(capsys.readouterr().out) == schema()
