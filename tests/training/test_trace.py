"""Traces of real steps against schedules: gloo's as they were recorded, NCCL's as its events are documented."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commbench.__main__ import main
from commbench.errors import SweepFileError
from commbench.training.agreement import Agreement, compare
from commbench.training.profiled import NoCollectivesError, TracedCall, read_profile

from .laws import call, step

# tiny under DDP (bucket_cap_mb=0.05) and fully_shard, 2 gloo ranks, torch 2.13; other events were taken out
TRACES = Path(__file__).parents[1] / "data" / "traces"
DP, FSDP = TRACES / "dp-tiny-gloo.json", TRACES / "fsdp-tiny-gloo.json"
OF_DP = ("--model", "tiny", "--strategy", "dp", "--set", "param_dtype=float32", "--set", "bucket_cap_mb=0.05")
OF_FSDP = ("--model", "tiny", "--strategy", "fsdp", "--set", "param_dtype=float32")

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a trace of events (name, ts, args)."""

    def trace(*events: tuple[str, float, dict[str, Any]], **top: Any) -> Path:
        found = [{"name": name, "ts": ts, "dur": 10.0, "args": args} for name, ts, args in events]
        (tmp_path / "trace.json").write_text(json.dumps({"traceEvents": found, **top}))
        return tmp_path / "trace.json"

    return trace


def params(name: str, sent: int, received: int, ts: float = 0.0) -> tuple[str, float, dict[str, Any]]:
    """An event of NCCL."""
    args = {"Collective name": name, "In msg nelems": sent, "Out msg nelems": received, "dtype": "BFloat16",
            "Group size": 8}  # fmt: skip
    return "record_param_comms", ts, args


@pytest.mark.parametrize(("trace", "words"), [(DP, OF_DP), (FSDP, OF_FSDP)])
def test_a_real_step_agrees_with_its_schedule(trace: Path, words: tuple[str, ...]) -> None:
    assert main(["training", "--trace", str(trace), *words]) == 0


@pytest.mark.parametrize(
    ("trace", "words", "differing"),
    [
        (FSDP, (*OF_FSDP, "--set", "reshard_after_forward=false"), {"extra": 2}),
        (FSDP, (*OF_FSDP, "--set", "gradient_accumulation_steps=2"), {"missing": 8}),
        (DP, (*OF_DP[:-1], "bucket_cap_mb=25"), {"different": 1, "extra": 5}),
    ],
)
def test_what_differs_is_listed(
    trace: Path, words: tuple[str, ...], differing: dict[str, int], capsys: pytest.CaptureFixture[str]
) -> None:
    """And ends with 1."""
    assert main(["training", "--trace", str(trace), *words, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)["trace"]
    assert {name: len(found[name]) for name in ("missing", "extra", "different") if found[name]} == differing


def test_nccl_s_events_hold_shards_and_whole_messages(write: Write) -> None:
    """An all_gather's message is its output, a reduce_scatter's its input."""
    path = write(params("_allgather_base", 100, 800), params("_reduce_scatter_base", 1600, 200, 1.0))
    assert read_profile(path).calls == (
        TracedCall("all_gather", 800, "bfloat16", 8), TracedCall("reduce_scatter", 1600, "bfloat16", 8),
    )  # fmt: skip


def test_events_that_are_no_collective_are_left(write: Write) -> None:
    path = write(params("wait", 0, 0), params("allreduce", 8, 8, 1.0), params("init", 0, 0, 2.0))
    assert [each.collective for each in read_profile(path).calls] == ["all_reduce"]


def test_one_kind_of_events_is_read(write: Write) -> None:
    """The same call stands in a trace up to three times."""
    dims = {"Input Dims": [[8]], "Input type": ["float"]}
    path = write(params("allreduce", 8, 8), ("c10d::allreduce_", 0.1, dims), ("nccl:all_reduce", 0.2, dims))
    assert len(read_profile(path).calls) == 1


def test_the_last_step_is_read(write: Write) -> None:
    path = write(
        ("ProfilerStep#4", 0.0, {}), ("ProfilerStep#5", 20.0, {}), params("allreduce", 1, 1, 5.0),
        params("allreduce", 2, 2, 25.0),
    )  # fmt: skip
    assert (read_profile(path).step, read_profile(path).calls[0].elements) == (5, 2)


def test_another_step_may_be_chosen(write: Write) -> None:
    path = write(
        ("ProfilerStep#4", 0.0, {}), ("ProfilerStep#5", 20.0, {}), params("allreduce", 1, 1, 5.0),
        params("allreduce", 2, 2, 25.0),
    )  # fmt: skip
    assert [each.elements for each in read_profile(path, 4).calls] == [1]


def test_a_step_that_is_not_there_is_named(write: Write) -> None:
    with pytest.raises(SweepFileError, match="no such step"):
        read_profile(write(("ProfilerStep#4", 0.0, {}), params("allreduce", 1, 1, 5.0)), 9)


def test_packed_traces_are_read(tmp_path: Path) -> None:
    (tmp_path / "trace.json.gz").write_bytes(gzip.compress(DP.read_bytes()))
    assert read_profile(tmp_path / "trace.json.gz") == read_profile(DP)


def test_a_trace_without_sizes_could_not_tell(write: Write) -> None:
    with pytest.raises(NoCollectivesError, match="names no collective") as refusal:
        read_profile(write(("c10d::allreduce_", 0.0, {})))
    assert refusal.value.exit_code == 3


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\x1f\x8bnonsense", b'{"traceEvents": 3}', b"\xff\xfe"])
def test_what_is_no_trace_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "trace.json").write_bytes(content)
    with pytest.raises(SweepFileError):
        read_profile(tmp_path / "trace.json")


def found(write: Write, *events: tuple[str, float, dict[str, Any]]) -> Agreement:
    """Traced events against a step of an all_reduce of 256 and an all_gather of 64 elements."""
    return compare(step(call(), call("all_gather", 64)), read_profile(write(*events)))


def test_another_size_in_the_same_place_is_different(write: Write) -> None:
    dims = {"Input Dims": [[300]], "Input type": ["float"]}
    other = {"Input Dims": [[64], [32]], "Input type": ["float", "float"]}
    result = found(write, ("c10d::allreduce_", 0.0, dims), ("c10d::_allgather_base_", 1.0, other))
    assert [(ours.elements, theirs.elements) for ours, theirs in result.different] == [(256, 300)]


def test_another_dtype_is_different(write: Write) -> None:
    dims = {"Input Dims": [[256]], "Input type": ["c10::BFloat16"]}
    result = found(write, ("c10d::allreduce_", 0.0, dims))
    assert (len(result.different), len(result.missing), result.matched) == (1, 1, 0)


def test_an_unknown_dtype_is_no_difference(write: Write) -> None:
    dims = {"Input Dims": [[[128], [128]]], "Input type": ["TensorList"]}
    assert found(write, ("c10d::allreduce_", 0.0, dims)).matched == 1
