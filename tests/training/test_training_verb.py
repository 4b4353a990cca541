"""`commbench training`: the contract of its JSON, its tables, and how it ends."""

import json
from pathlib import Path
from typing import Any

import pytest

from commbench.__main__ import main

EXAMPLES = Path(__file__).parents[2] / "examples"
NVLINK, HOST = str(EXAMPLES / "h200x2-nvlink.jsonl"), str(EXAMPLES / "h200x2-host.jsonl")
CONTRACT = (
    *("label", "strategy", "variant", "framework", "world_size", "parameters", "calls", "message_bytes", "bus_bytes"),
    *("seconds", "interval", "latency_share", "exposed_seconds", "extrapolated_calls", "phases"),
)


def document(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Any:
    """What `commbench training WORDS --json` prints, as a strict reader takes it."""
    assert main(["training", *words, "--json"]) == code
    return json.loads(capsys.readouterr().out, parse_constant=pytest.fail)


def predictions(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = document(capsys, *words, code=code)["predictions"]
    return found


def error(capsys: pytest.CaptureFixture[str], *words: str, code: int = 2) -> str:
    """The message of a run that ends with `code`."""
    assert main(["training", *words]) == code
    return capsys.readouterr().err


def test_the_document_has_what_the_contract_says(capsys: pytest.CaptureFixture[str]) -> None:
    (found,) = predictions(capsys, NVLINK, "--model", "tiny", "--strategy", "dp")
    assert set(CONTRACT) <= set(found)


def test_strategies_and_interconnects_stand_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    found = predictions(capsys, NVLINK, HOST, "--model", "tiny", "--strategy", "dp,zero2,zero3")
    assert [(each["strategy"], each["label"]) for each in found] == [
        (strategy, label) for strategy in ("dp", "zero2", "zero3") for label in ("nvlink", "host")
    ]


def test_nvlink_is_faster_for_every_strategy_of_a_7b_model(capsys: pytest.CaptureFixture[str]) -> None:
    found = predictions(capsys, NVLINK, HOST, "--model", "llama2-7b", "--strategy", "dp,zero2,zero3")
    times = [each["seconds"] for each in found]
    assert all(5 * nvlink < host for nvlink, host in zip(times[::2], times[1::2], strict=True))


def test_phases_sum_up_to_the_whole(capsys: pytest.CaptureFixture[str]) -> None:
    (found,) = predictions(capsys, NVLINK, "--model", "llama2-7b", "--strategy", "zero3")
    assert sum(each["seconds"] for each in found["phases"]) == pytest.approx(found["seconds"])


def test_the_interval_holds_the_time(capsys: pytest.CaptureFixture[str]) -> None:
    (found,) = predictions(capsys, NVLINK, "--model", "llama2-7b", "--strategy", "dp")
    assert found["interval"][0] < found["seconds"] < found["interval"][1]


def test_messages_beyond_the_sweep_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """ZeRO-2's one AllGather of 12.6 GiB is larger than anything measured; the scalars are smaller."""
    (found,) = predictions(capsys, NVLINK, "--model", "llama2-7b", "--strategy", "zero2")
    assert (found["extrapolated_calls"], found["farthest_extrapolation"] > 3) == (3, True)


def test_the_schedule_is_in_the_document_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, NVLINK, "--model", "tiny", "--strategy", "zero2", "--schedule")
    assert {"phase", "collective", "op", "dtype", "elements", "message_bytes", "group"} <= set(found["schedule"][0])
    assert sum(each["message_bytes"] for each in found["schedule"]) == found["predictions"][0]["message_bytes"]


def test_a_schedule_needs_no_sweep(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, "--model", "tiny", "--strategy", "dp", "--world-size", "4", "--schedule")
    assert (found["predictions"][0]["seconds"], len(found["schedule"])) == (None, found["predictions"][0]["calls"])


def test_variants_stand_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    found = predictions(capsys, NVLINK, "--model", "tiny", "--strategy", "dp,zero2", "--variant", "paper,deepspeed")
    assert [(each["strategy"], each["variant"]) for each in found][1:] == [("zero2", "paper"), ("zero2", "deepspeed")]


def test_a_setting_reaches_the_strategies_that_have_it(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--model", "llama2-7b", "--strategy", "dp,zero2")
    plain = predictions(capsys, NVLINK, *words)
    small = predictions(capsys, NVLINK, *words, "--set", "reduce_bucket_size=2e8")
    assert plain[0]["calls"] == small[0]["calls"]
    assert plain[1]["calls"] < small[1]["calls"]


def test_computation_gives_exposed_time_and_efficiency(capsys: pytest.CaptureFixture[str]) -> None:
    (found,) = predictions(capsys, HOST, "--model", "llama2-7b", "--strategy", "dp", "--step-compute", "350ms")
    assert found["scaling_efficiency"] == pytest.approx(0.35 / (0.35 + found["exposed_seconds"]))
    assert 0 < found["exposed_seconds"] < found["seconds"]


def test_computation_follows_from_tokens_and_flops(capsys: pytest.CaptureFixture[str]) -> None:
    """6 operations a parameter and token."""
    words = ("--tokens", "4096", "--flops", "1e15", "--mfu", "0.5")
    (found,) = predictions(capsys, NVLINK, "--model", "tiny", "--strategy", "dp", *words)
    assert found["compute_seconds"] == pytest.approx(6 * found["parameters"] * 4096 / 0.5e15)


def test_what_does_not_fit_is_marked(capsys: pytest.CaptureFixture[str]) -> None:
    found = predictions(capsys, NVLINK, "--model", "llama2-7b", "--strategy", "dp,zero3", "--gpu-memory", "80GiB")
    assert [each["fits"] for each in found] == [False, True]


def test_another_number_of_ranks_ends_with_3(capsys: pytest.CaptureFixture[str]) -> None:
    (found,) = predictions(capsys, NVLINK, "--model", "tiny", "--strategy", "dp", "--world-size", "8", code=3)
    assert (found["seconds"], "among 8 ranks was not measured" in found["refused"]) == (None, True)


def test_a_ring_may_be_assumed_and_is_marked(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--strategy", "dp", "--world-size", "8", "--assume-ring")
    (found,) = predictions(capsys, NVLINK, "--model", "tiny", *words)
    assert found["extrapolated_calls"] == found["calls"]


def test_a_collective_that_was_not_measured_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [line for line in Path(NVLINK).read_text().splitlines(True) if '"collective":"reduce",' not in line]
    (tmp_path / "short.jsonl").write_text("".join(lines))
    words = (str(tmp_path / "short.jsonl"), "--model", "llama2-7b", "--strategy", "zero2", "--variant", "paper")
    assert "reduce was not measured" in error(capsys, *words, code=3)


def test_files_without_measurements_answer_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are not taken for no file at all."""
    lines = [line for line in Path(NVLINK).read_text().splitlines(True) if '"record":"measurement"' not in line]
    (tmp_path / "empty.jsonl").write_text("".join(lines))
    words = (str(tmp_path / "empty.jsonl"), "--model", "tiny", "--world-size", "2")
    assert "nothing can be priced" in error(capsys, *words, code=3)


def test_a_sweep_of_unknown_ranks_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = Path(NVLINK).read_text().replace('"world_size":2', '"world_size":null')
    (tmp_path / "unknown.jsonl").write_text(text)
    assert "among how many ranks" in error(capsys, str(tmp_path / "unknown.jsonl"), "--model", "tiny", code=3)


def test_one_rank_communicates_for_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    (found,) = predictions(capsys, NVLINK, "--model", "tiny", "--strategy", "dp", "--world-size", "1")
    assert (found["seconds"], found["latency_share"]) == (0.0, None)


def test_one_refusal_leaves_the_others_their_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [line for line in Path(NVLINK).read_text().splitlines(True) if '"collective":"reduce",' not in line]
    (tmp_path / "short.jsonl").write_text("".join(lines))
    words = (str(tmp_path / "short.jsonl"), "--model", "tiny", "--strategy", "zero2", "--variant", "paper,deepspeed")
    assert [each["seconds"] is None for each in predictions(capsys, *words, code=3)] == [True, False]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--model", "tiny"), "the number of ranks is not known"),
        ((NVLINK,), "a step needs one model"),
        ((NVLINK, "--model", "tiny", "--parameters", "7e9"), "a step needs one model"),
        ((NVLINK, "--model", "llama9-1b"), "an unknown model"),
        ((NVLINK, "--model", "tiny", "--strategy", "dp,frob"), "an unknown strategy"),
        ((NVLINK, "--model", "tiny", "--strategy", ","), "--strategy is empty"),
        ((NVLINK, "--model", "tiny", "--variant", "frob"), "an unknown variant"),
        ((NVLINK, "--model", "tiny", "--set", "frob=1"), "an unknown setting"),
        ((NVLINK, "--model", "tiny", "--set", "bucket_cap_mb"), "a setting cannot be read"),
        ((NVLINK, "--model", "tiny", "--set", "bucket_cap_mb=1", "--set", "bucket_cap_mb=2"), "was given twice"),
        ((NVLINK, "--model", "tiny", "--strategy", "dp", "--set", "bucket_cap_mb=nan"), "bucket_cap_mb"),
        ((NVLINK, "--model", "tiny", "--world-size", "0"), "the world size makes no sense"),
        ((NVLINK, "--model", "tiny", "--world-size", "99999999999"), "the world size makes no sense"),
        ((NVLINK, "--model", "tiny", "--ranks-per-host", "-1"), "--ranks-per-host makes no sense"),
        ((NVLINK, "--model", "tiny", "--step-compute", "0"), "the computation takes no time"),
        ((NVLINK, "--model", "tiny", "--step-compute", "1s", "--tokens", "1"), "the computation is given twice"),
        ((NVLINK, "--model", "tiny", "--tokens", "1"), "the computation is not fully known"),
        ((NVLINK, "--model", "tiny", "--tokens", "1", "--flops", "inf", "--mfu", "1"), "--flops cannot be used"),
        ((NVLINK, "--model", "tiny", "--tokens", "1", "--flops", "1", "--mfu", "40"), "--mfu cannot be used"),
        ((NVLINK, "--model", "tiny", "--gpu-memory", "lots"), "a size cannot be read"),
        (("missing.jsonl", "--model", "tiny"), "missing.jsonl"),
        ((str(EXAMPLES), "--model", "tiny"), "examples"),
    ],
)
def test_what_makes_no_sense_is_refused_in_four_parts(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    message = error(capsys, *words)
    assert said in message
    assert [part for part in ("expected:", "found:", "to do:") if part not in message] == []


def test_the_tables_name_strategies_and_assumptions(capsys: pytest.CaptureFixture[str]) -> None:
    main(["training", NVLINK, HOST, "--model", "llama2-7b", "--step-compute", "350ms", "--gpu-memory", "80GiB"])
    shown = capsys.readouterr().out
    for words in ("zero2", "nvlink", "where the time goes", "are extrapolated", "float32 for bfloat16", "Adam"):
        assert words in shown


def test_what_a_file_says_cannot_move_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = Path(NVLINK).read_text().replace('"label":"nvlink"', '"label":"a\\u001b[31mb"')
    (tmp_path / "a.jsonl").write_text(text)
    main(["training", str(tmp_path / "a.jsonl"), "--model", "tiny", "--strategy", "dp"])
    main(["training", str(tmp_path / "a.jsonl"), "--model", "tiny", "--strategy", "dp", "--world-size", "8"])
    shown = capsys.readouterr()
    assert "\x1b" not in shown.out + shown.err
