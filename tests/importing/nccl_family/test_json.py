"""The JSON of nccl-tests: every schema, its misspelt keys, nan, cut files, several GPUs a process, and no secret."""

import json
from typing import Any

import pytest

from commbench.importing.foreign import Reading, Run
from commbench.importing.nccl_family import json_schemas as nccl_json
from tests.importing.logs import reading

ENV = [
    "NCCL_DEBUG=INFO", "CUDA_VISIBLE_DEVICES=0,1", "HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz012345", "SLURM_JOB_ID=17",
    "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "HOME=/home/me",
    "NCCL_SECRET_THING=x", "no equals",
]  # fmt: skip


def side(size: int, us: float, factor: float, **more: object) -> dict[str, object]:
    """One placement of a result."""
    algbw = size / us / 1e3
    return {"time": us, "alg_bw": round(algbw, 6), "bus_bw": round(algbw * factor, 6), "nwrong": 0.0, **more}


def document(**changes: Any) -> dict[str, Any]:
    """A file of schema 3: an all-reduce over two processes with two GPUs each."""
    devices = [
        {"rank": 2 * process, "group": 0, "pid": 10 + process, "hostname": f"host{process}", "device": 0,
         "device_hex": "0000:18:00", "device_info": "NVIDIA H100"} for process in range(2)
    ]  # fmt: skip
    config = {"nthreads": 1, "ngpus": 2, "minimum_bytes": 1024, "maximum_bytes": 4096, "step_factor": 2,
              "warmup_iters": 5, "iterations": 20, "aggregated_iterations": 1, "validation": 1, "graph": 0,
              "blocking_collectives": "false", "per_iter_timing": "false", "parallel_init": "false",
              "devices": devices}  # fmt: skip
    results: list[dict[str, Any]] = [
        {"size": size, "count": size // 4, "type": "float", "redop": "sum", "root": "    -1",
         "out_of_place": side(size, 20.5, 1.5), "in_place": side(size, 21.25, 1.5), "actual_iterations": 20,
         "experiment_name": ""} for size in (1024, 2048, 4096)
    ]  # fmt: skip
    mean = sum(result[name]["bus_bw"] for result in results for name in ("out_of_place", "in_place")) / 6
    whole = {"version": 3, "start_time": "2026-07-10 09:00:01", "args": ["./build/all_reduce_perf", "-b", "1K"],
             "env": ENV, "nccl_version": 22904, "config": config, "results": results,
             "out_of_bounds": {"count": 0, "okay": "true"},
             "average_bus_bandwidth": {"bandwidth": mean, "okay": "unchecked"}, "errors": [""],
             "end_time": "2026-07-10 09:00:03"}  # fmt: skip
    return {**whole, **changes}


def read(value: Any) -> Reading:
    """What the reader makes of a document or a text."""
    return nccl_json.read_document(value if isinstance(value, str) else json.dumps(value))


def run_of(value: Any) -> Run:
    """The only run."""
    (run,) = read(value).runs
    return run


def test_a_whole_file_is_read_whole() -> None:
    """Ranks of every GPU of each process, the collective from the command line, versions and times of day."""
    found = reading(nccl_json, json.dumps(document(), indent=1))
    assert not found.rejects
    (run,) = found.runs
    assert (run.collective, run.world_size, run.ranks_per_host) == ("all_reduce", 4, (2, 2))
    assert [(row.message_bytes, row.seconds, row.placement) for row in run.rows[:2]] == [
        (1024, 2.05e-05, "out"), (1024, 2.125e-05, "in")
    ]  # fmt: skip
    assert run.complete
    assert run.variant == "nccl-tests JSON 3"
    assert run.environment["libraries"] == {"library": "2.29.4"}
    assert (run.started_at, run.finished_at) == ("2026-07-10 09:00:01", "2026-07-10 09:00:03")
    assert run.settings["arguments"] == ["all_reduce_perf", "-b", "1K"]


def test_of_the_environment_only_the_allowed_remain() -> None:
    """A token, a key, a home, and a secret that hides behind an allowed prefix are gone."""
    variables = run_of(document()).environment["variables"]
    assert variables == {"CUDA_VISIBLE_DEVICES": "0,1", "NCCL_DEBUG": "INFO", "SLURM_JOB_ID": "17"}


def test_of_the_command_line_only_options_and_numbers_remain() -> None:
    """A path or a word that is no option of the tool may be anything."""
    arguments = [
        "/home/me/secret/all_reduce_perf",
        "-b",
        "8",
        "-J",
        "/home/me/token.json",
        "--password",
        "hunter22",
        "-d",
        "half",
    ]
    assert run_of(document(args=arguments)).settings["arguments"] == [
        "all_reduce_perf", "-b", "8", "-J", "--password", "-d", "half"
    ]  # fmt: skip


@pytest.mark.parametrize("version", [1, 2, 3, 99, None, "3", True])
def test_every_schema_is_read(version: object) -> None:
    """What is missing in older ones is not needed."""
    assert len(run_of(document(version=version)).rows) == 6


def test_the_misspelt_keys_of_2025_are_known() -> None:
    """`bandwidith`, in both keys."""
    whole = document()
    mean = whole.pop("average_bus_bandwidth")["bandwidth"]
    run = run_of({**whole, "average_bus_bandwidith": {"bandwidith": mean, "okay": "true"}})
    assert run.footer["average_is_of_these_rows"]


def test_unchecked_is_null_and_not_correct() -> None:
    """`okay` is "true" all the same."""
    whole = document()
    for result in whole["results"]:
        result["out_of_place"]["nwrong"] = result["in_place"]["nwrong"] = None
    assert {row.correct for row in run_of(whole).rows} == {None}


def test_a_missing_placement_is_none() -> None:
    """`out_of_place: null` where the tool printed blanks."""
    whole = document()
    whole["results"][1]["out_of_place"] = None
    run = run_of(whole)
    assert [(row.message_bytes, row.placement) for row in run.rows if row.message_bytes == 2048] == [(2048, "in")]


@pytest.mark.parametrize(
    "value", ['"nan"', "nan", "-nan", "inf", "NaN", "-Infinity", "null", "true", '"20.5"', "[]", "1e999"]
)
def test_a_time_that_is_no_number_is_left_out(value: str) -> None:
    """As a string or bare, which is no JSON."""
    text = json.dumps(document()).replace('"time": 20.5', f'"time": {value}', 1)
    found = read(text)
    assert len(found.runs[0].rows) == 5
    assert [skipped.message_bytes for skipped in found.runs[0].left_out] == [1024]


def test_a_file_cut_anywhere_gives_whole_results_only() -> None:
    """The run is then not complete, and it says after which result the file is cut."""
    whole = run_of(document())
    times = {(row.message_bytes, row.placement, row.seconds) for row in whole.rows}
    text = json.dumps(document())
    for end in range(0, len(text) - 1, 7):
        found = read(text[:end])
        assert not found.runs or found.runs[0].complete is False
        assert {(r.message_bytes, r.placement, r.seconds) for run in found.runs for r in run.rows} <= times
        assert any(reject.matters for reject in found.rejects)
    half = read(text[: text.index('"size": 4096')])
    assert len(half.runs[0].rows) == 4
    assert half.runs[0].world_size == 4
    assert "after 2 whole results" in half.rejects[0].reason


def test_a_file_without_its_end_is_not_complete() -> None:
    """A crash that closed the brackets leaves no end_time."""
    whole = document()
    del whole["end_time"], whole["average_bus_bandwidth"]
    assert run_of(whole).complete is False


def test_an_error_of_the_library_is_a_reject() -> None:
    """The list holds one empty string when all went well."""
    found = read(document(errors=["unhandled cuda error"]))
    assert found.runs[0].complete is False
    assert "unhandled cuda error" in found.rejects[0].reason


def test_several_documents_are_several_runs() -> None:
    """Files put together, one behind the other or in a list."""
    text = json.dumps(document())
    for both in (text + "\n" + text, f"[{text},{text}]"):
        assert len(read(both).runs) == 2


def test_groups_have_the_ranks_of_one() -> None:
    """NCCL_TESTS_SPLIT: the factor is that of a group."""
    whole = document()
    whole["config"]["devices"][1]["group"] = 1
    for result in whole["results"]:
        for name in ("out_of_place", "in_place"):
            result[name]["bus_bw"] = result[name]["alg_bw"]
    run = run_of(whole)
    assert run.world_size == 2
    assert run.groups == ((0, 1), (2, 3))


def test_samples_of_each_iteration_are_kept() -> None:
    """-I writes them beside the mean, which is of another clock."""
    whole = document()
    whole["results"][0]["in_place_per_iter"] = {"skipped_iterations": 1, "p99_us": 30.5, "times_us": [20.0, 30.5]}
    row = run_of(whole).rows[1]
    assert row.reported["times_us"] == [20.0, 30.5]
    assert row.reported["p99_us"] == 30.5
    assert row.seconds == 2.125e-05


def test_the_averaging_of_the_command_line_is_the_statistic() -> None:
    """-a 3 prints the slowest rank; only the command line says so."""
    assert {row.statistic for row in run_of(document(args=["all_reduce_perf", "-a", "3"])).rows} == {
        "maximum over ranks"
    }


def test_rccl_is_recognised_by_its_event_time() -> None:
    """Its JSON is that of nccl-tests with one key more."""
    whole = document()
    for result in whole["results"]:
        result["out_of_place"]["hip_event_time"] = 19.5
    run = run_of(whole)
    assert run.tool == "rccl-tests"
    assert run.rows[0].reported["hip_event_time"] == 19.5


def test_a_file_that_lists_every_gpu_counts_none_twice() -> None:
    """The tool names the first GPU of each process; where an entry stands for each, they are all there are."""
    whole = document()
    whole["config"]["devices"] = [{"rank": rank, "group": 0, "pid": 10, "hostname": "host0"} for rank in range(4)]
    run = run_of(whole)
    assert (run.world_size, run.notes) == (4, ())


def test_cpu_times_contradict_no_bandwidth() -> None:
    """-C: the bandwidths are those of the wall time, and still prove the ranks."""
    whole = document()
    for result in whole["results"]:
        for name in ("out_of_place", "in_place"):
            result[name] = {"cpu_time": 3.5, **{key: v for key, v in result[name].items() if key != "time"}}
    run = run_of(whole)
    assert [note for note in run.notes if "fit" in note or "busbw" in note] == []
    assert not any(row.notes for row in run.rows)


def test_an_error_of_the_tool_stands_in_no_line() -> None:
    """A reject has the line where it stands, or none."""
    assert [reject.line for reject in read(document(errors=["unhandled system error"])).rejects][:1] == [None]


@pytest.mark.parametrize(
    "changes",
    [
        {"results": None}, {"results": [1, "x", None, []]}, {"config": []}, {"args": "x"}, {"env": {"A": "b"}},
        {"results": [{"size": -1}]}, {"results": [{"size": 1 << 70, "count": 1}]}, {"results": [{"size": True}]},
        {"config": {"devices": [{"rank": -1}], "ngpus": 1 << 40}}, {"nccl_version": 1 << 80}, {"out_of_bounds": 3},
        {"average_bus_bandwidth": {"bandwidth": "nan"}}, {"errors": [None, 3]}, {"start_time": "x" * 999},
    ],
)  # fmt: skip
def test_fields_of_other_types_raise_nothing(changes: dict[str, Any]) -> None:
    """Whatever a file holds, a reading comes back."""
    found = read(document(**changes))
    assert found.runs or found.rejects
