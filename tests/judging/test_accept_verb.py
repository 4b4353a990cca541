"""`commbench accept`: exit codes, and each form in which the verdict comes out."""

import json
import os
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import msgspec
import pytest

from commbench.__main__ import main
from commbench.accept import wanted
from commbench.judging.limits import parse_limits
from commbench.judging.starting_points import example
from commbench.sweepfile.reader import Sweep

from .limits_files import limits_text
from .synthetic import law, sweep

EXAMPLES = Path(__file__).parents[2] / "examples"
TWO_H200 = str(EXAMPLES / "two-h200.limits.toml")
NVLINK, HOST = (str(EXAMPLES / f"h200x2-{name}.jsonl") for name in ("nvlink", "host"))


def written(path: Path, one: Sweep) -> str:
    records = (one.header, *one.measurements, one.end)
    path.write_bytes(b"".join(msgspec.json.encode(record) + b"\n" for record in records if record is not None))
    return str(path)


@pytest.fixture
def across(tmp_path: Path) -> list[str]:
    """Limits and a sweep that lies across them."""
    limits = tmp_path / "site.limits.toml"
    limits.write_text(limits_text(f"{law(2 << 20) * 1e6 * 1.001:.2f} us"))
    return [str(limits), written(tmp_path / "a.jsonl", sweep("a"))]


def document(words: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    main(["accept", *words, "--json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out, parse_constant=lambda word: pytest.fail(word))
    return found


def test_two_h200_on_nvlink_pass() -> None:
    assert main(["accept", TWO_H200, NVLINK]) == 0


def test_two_h200_through_host_memory_fail_for_their_path_and_rate(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["accept", TWO_H200, HOST]) == 1
    found = capsys.readouterr().out
    assert "path: SHM/direct/direct was taken (proved)" in found
    assert "misses at least 261 GB/s by 90 %" in found


def test_both_together_fail() -> None:
    assert main(["accept", TWO_H200, NVLINK, HOST]) == 1


def test_another_machine_is_code_3(across: list[str]) -> None:
    assert main(["accept", TWO_H200, across[1]]) == 3


def test_inconclusive_is_code_3(across: list[str]) -> None:
    assert main(["accept", *across]) == 3


@pytest.mark.parametrize(
    "words",
    [
        [],
        [TWO_H200],
        [TWO_H200, "none.jsonl"],
        ["none.toml", NVLINK],
        [NVLINK, TWO_H200],
        [TWO_H200, TWO_H200],
        [TWO_H200, NVLINK, "--keep"],
        [TWO_H200, NVLINK, "--json", "--markdown"],
        [TWO_H200, NVLINK, "--junit", "/none/x.xml"],
        [TWO_H200, NVLINK, "--history", TWO_H200],
        [TWO_H200, NVLINK, "--launch", "torchrun"],
        [TWO_H200, "--launch", "banana"],
        ["--reference", "banana"],
        ["--make-baseline", NVLINK],
        ["--make-baseline", NVLINK, "--output", TWO_H200],
        ["--make-baseline", NVLINK, "--output", "/none/x.toml"],
        ["--make-baseline", NVLINK, "--output", "/none/x.toml", "--detect", "banana"],
    ],
)
def test_a_mistake_is_code_2_in_four_parts(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["accept", *words]) == 2
    assert "\n  to do: " in capsys.readouterr().err


def test_json_has_the_fields_of_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    found = document([TWO_H200, HOST], capsys)
    assert found["verdict"] == "fail"
    assert {"limit", "measured", "interval", "outcome", "reason"} <= found["checks"][0].keys()


def test_junit_knows_failures_and_errors_and_never_skips(tmp_path: Path, across: list[str]) -> None:
    main(["accept", *across, "--junit", str(tmp_path / "a.xml")])
    suite = ET.parse(tmp_path / "a.xml").getroot()[0]
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "5",
        "failures": "0",
        "errors": "1",
        "skipped": "0",
    }


def test_junit_counts_what_failed(tmp_path: Path) -> None:
    main(["accept", TWO_H200, HOST, "--junit", str(tmp_path / "a.xml")])
    suite = ET.parse(tmp_path / "a.xml").getroot()[0]
    assert suite.get("failures") == str(len(suite.findall("testcase/failure"))) == "17"


def test_markdown_is_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    main(["accept", TWO_H200, HOST, "--markdown"])
    assert capsys.readouterr().out.startswith("## FAIL: 17 failed, 5 passed\n")


@pytest.mark.parametrize(("sweeps", "code", "word"), [(NVLINK, 0, "OK"), (HOST, 2, "CRITICAL")])
def test_nagios_is_one_line_with_nagios_codes(
    sweeps: str, code: int, word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["accept", TWO_H200, sweeps, "--nagios"]) == code
    found = capsys.readouterr().out
    assert found.startswith(f"COMMBENCH {word} - ")
    assert (found.count("\n"), found.count("|")) == (1, 1)


def test_prometheus_has_the_verdict_and_the_values(tmp_path: Path) -> None:
    main(["accept", TWO_H200, HOST, "--prometheus", str(tmp_path / "a.prom")])
    found = (tmp_path / "a.prom").read_text()
    assert 'commbench_accept_verdict{limits="two H200 on NVLink",verdict="fail"} 1\n' in found
    assert 'commbench_accept_checks{limits="two H200 on NVLink",outcome="fail"} 17\n' in found
    assert list(tmp_path.iterdir()) == [tmp_path / "a.prom"]


def test_the_example_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["accept", "--example"]) == 0
    assert capsys.readouterr().out == example()


def test_a_baseline_is_made_and_never_overwritten(tmp_path: Path) -> None:
    files = [written(tmp_path / f"{seed}.jsonl", sweep("a", seed=seed, noise=0.005, samples=40)) for seed in range(5)]
    line = ["accept", "--make-baseline", *files, "--output", str(tmp_path / "site.limits.toml")]
    assert (main(line), main(line)) == (0, 2)
    assert main(["accept", str(tmp_path / "site.limits.toml"), files[0]]) == 0


@pytest.mark.parametrize(("share", "code"), [("10", 0), ("10%", 0), ("10 %", 0), ("95", 2), ("nan", 2), ("-5", 2)])
def test_a_share_is_typed_with_or_without_its_sign(share: str, code: int, tmp_path: Path) -> None:
    files = [written(tmp_path / f"{seed}.jsonl", sweep("a", seed=seed, noise=0.005, samples=40)) for seed in range(5)]
    line = ["accept", "--make-baseline", *files, "--output", str(tmp_path / "a.limits.toml"), "--detect", share]
    assert main(line) == code


def test_accepted_nights_are_kept_and_others_are_not(tmp_path: Path) -> None:
    for file in (NVLINK, HOST):
        main(["accept", TWO_H200, file, "--history", str(tmp_path / "nights"), "--keep"])
    assert len(list((tmp_path / "nights").glob("*.jsonl"))) == 4  # one file for each of nvlink's sweeps


def test_a_launch_measures_what_the_limits_need() -> None:
    """One sweep for limits that share sizes and mode."""
    found = [one.arguments for one in wanted(parse_limits(Path(TWO_H200).read_bytes()))]
    assert found == [
        ("all_reduce", "reduce", "reduce_scatter", "all_gather", "-b", "268435456", "-e", "536870912", "-f", "2",
         "--mode", "pipelined"),
        ("all_reduce", "-b", "1024", "-e", "1024", "-f", "2", "--mode", "pipelined"),
    ]  # fmt: skip


def test_the_plan_of_a_launch_starts_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["accept", TWO_H200, "--launch", "torchrun --standalone --nproc-per-node 2", "--plan"]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert "--nproc-per-node 2 -m commbench.sweep all_reduce reduce" in first


@pytest.mark.gloo
def test_a_launch_is_measured_and_judged(tmp_path: Path) -> None:
    """Two gloo ranks of this machine reach what any machine reaches."""
    limits = tmp_path / "any.limits.toml"
    limits.write_text(limits_text("10 s", path='"any"').replace("2M", "64K"))
    line = ["accept", str(limits), "--launch", "torchrun --standalone --nproc-per-node 2", "-J", str(tmp_path / "out")]
    assert main(line) == 0
    assert main(["accept", str(limits), str(tmp_path / "out")]) == 0
    assert main(line) == 2  # never over the files of an earlier run


def test_a_verdict_is_printed_although_a_file_cannot_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["accept", TWO_H200, NVLINK, "--junit", "/none/x.xml"]) == 2
    assert capsys.readouterr().out.startswith("verdict  pass")


def test_nagios_hears_that_nothing_could_be_judged(capsys: pytest.CaptureFixture[str]) -> None:
    """A missing file is unknown (3), and never critical (2)."""
    assert main(["accept", TWO_H200, "none.jsonl", "--nagios"]) == 3
    found = capsys.readouterr().out
    assert (found.startswith("COMMBENCH UNKNOWN - "), found.count("\n")) == (True, 1)


def test_values_for_nagios_have_no_exponent(capsys: pytest.CaptureFixture[str]) -> None:
    main(["accept", TWO_H200, HOST, "--nagios"])
    values = capsys.readouterr().out.partition("|")[2]
    assert re.findall(r"'=([^ \n]+)", values) == re.findall(r"'=(-?[0-9]+(?:\.[0-9]+)?s?)(?= |\n)", values)


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_folder_that_cannot_be_made_is_a_mistake(place: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    line = ["accept", TWO_H200, "--launch", "torchrun --standalone --nproc-per-node 2", "-J", str(tmp_path / place)]
    assert main(line) == 2


def test_a_history_whose_name_is_no_text_fits_in_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / os.fsdecode(b"\xff")
    folder.mkdir()
    (folder / "host.jsonl").write_bytes(Path(HOST).read_bytes())
    assert "not used" in document([TWO_H200, NVLINK, "--history", str(folder)], capsys)["notes"][0]


def test_a_baseline_without_a_name_of_its_own_can_be_read(tmp_path: Path) -> None:
    files = [written(tmp_path / f"{seed}.jsonl", sweep("a", seed=seed, noise=0.005, samples=40)) for seed in range(5)]
    main(["accept", "--make-baseline", *files, "--output", str(tmp_path / ".limits.toml")])
    assert main(["accept", str(tmp_path / ".limits.toml"), files[0]]) == 0
