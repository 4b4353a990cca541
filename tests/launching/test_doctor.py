"""The doctor: its report, its JSON, its exit code, and what it must not import."""

import json
import shutil
import socket
import subprocess
import sys
from collections import namedtuple
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from commbench import doctor
from commbench.errors import UsageError
from commbench.launching import surroundings
from commbench.launching.findings import Finding
from commbench.units import GIB, KIB, MIB

Usage = namedtuple("Usage", "total used free")
LAUNCHER_PREFIXES = ("OMPI_", "PMI", "MPI_", "MV2_", "SLURM_", "NCCL_")


@pytest.fixture(autouse=True)
def by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """No launcher, no NCCL variable, no GPU, and a launcher that could be used."""
    import os

    for name in list(os.environ):
        if name.startswith(LAUNCHER_PREFIXES) or name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "TORCHELASTIC_RUN_ID"):
            monkeypatch.delenv(name)
    monkeypatch.setattr(doctor, "check_starters", lambda *_, **__: [Finding("ok", "torchrun", "stands in")])
    _devices(monkeypatch, (), "nvidia-ml-py is not installed")


def _devices(monkeypatch: pytest.MonkeyPatch, states: tuple[dict[str, Any], ...], reason: str | None) -> None:
    module = ModuleType("commbench.measuring.device_state")
    module.__dict__.update(device_states=lambda: states, device_state_unavailable=lambda: reason)
    monkeypatch.setitem(sys.modules, module.__name__, module)


def test_the_report_of_a_sound_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor.main([]) == 0
    report = capsys.readouterr().out
    for word in (
        "python",
        "numpy version",
        "by no launcher",
        "/dev/shm",
        "nvidia-ml-py is not installed",
        "0 problems",
    ):
        assert word in report


def test_json_is_one_strict_document(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    _devices(monkeypatch, ({"name": "NVIDIA H200", "clocks": {"sm_mhz": 1980}, "ecc": None},), None)
    assert doctor.main(["--json"]) == 0
    printed = capsys.readouterr()
    document = json.loads(printed.out, parse_constant=pytest.fail)
    assert printed.err == ""
    assert document["verdict"] == "ok"
    assert document["devices"] == [{"name": "NVIDIA H200", "clocks": {"sm_mhz": 1980}, "ecc": None}]
    assert {"level": "ok", "check": "GPU 0", "found": "name NVIDIA H200, clocks sm mhz 1980", "fix": None} in document[
        "findings"
    ]


STATE: dict[str, Any] = {
    "device": 3,
    "throttle_reasons": ["gpu_idle"],
    "ecc_uncorrected": 0,
    "nvlink": {"links": 18, "links_active": 18},
    "other_processes": 0,
}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, None),
        (dict.fromkeys(STATE), None),
        ({"throttle_reasons": ["gpu_idle", "hw_slowdown"]}, "held down: hw_slowdown"),
        ({"ecc_uncorrected": 2}, "2 uncorrected ECC errors"),
        ({"nvlink": {"links": 18, "links_active": 17}}, "17 of 18 NVLinks are active"),
        ({"other_processes": 1}, "1 processes compute on it"),
    ],
)
def test_a_device_in_a_doubtful_state_is_warned_about(change: dict[str, Any], words: str | None) -> None:
    findings = doctor._device_findings([{**STATE, **change, "device": 3}], None)
    assert {finding.check for finding in findings} == {"GPU 3"}
    assert [finding.level for finding in findings] == (["ok"] if words is None else ["ok", "warning"])
    assert words is None or words in findings[1].found


def test_a_taken_rendezvous_port_is_a_problem(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        endpoint = f"127.0.0.1:{listener.getsockname()[1]}"
        assert doctor.main(["--rendezvous", endpoint]) == 2
        assert "is taken" in capsys.readouterr().out
        assert doctor.main(["--rendezvous", endpoint, "--json"]) == 2
        assert json.loads(capsys.readouterr().out)["verdict"] == "problem"


def test_disagreeing_launchers_are_a_problem(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"RANK": "0", "WORLD_SIZE": "1", "PMI_RANK": "1", "PMI_SIZE": "2"}.items():
        monkeypatch.setenv(name, value)
    assert doctor.main([]) == 2
    report = capsys.readouterr().out
    assert "PMI_SIZE=2" in report
    assert "to do:" in report


@pytest.mark.parametrize(
    "argv", [["--rend", "a:1"], ["--nodes", "0"], ["--ranks", "two"], ["--launcher", "qsub"], ["x"]]
)
def test_usage_errors(argv: list[str]) -> None:
    with pytest.raises(UsageError, match="the options of commbench doctor cannot be read"):
        doctor.main(argv)


def test_nccl_variables_that_change_the_measurement_are_named(tmp_path: Path) -> None:
    file = tmp_path / "nccl.conf"
    file.write_text("# site\nNCCL_PROTO = Simple\n\n")
    environ = {"NCCL_P2P_DISABLE": "1", "NCCL_DEBUG": "WARN", "NCCL_DEBUG_FILE": "x", "PATH": "/bin"}
    found = [finding.found for finding in surroundings.check_nccl_variables(environ, [file, tmp_path / "none"])]
    assert len(found) == 2
    assert found[0].startswith("NCCL_P2P_DISABLE=1: no GPU reads")
    assert found[1] == f"NCCL_PROTO=Simple in {file}: fixes the protocol"
    (nothing,) = surroundings.check_nccl_variables({"NCCL_DEBUG": "warn"}, [])
    assert nothing.level == "ok"


@pytest.mark.parametrize(
    ("total", "free", "level"),
    [(64 * MIB, 64 * MIB, "warning"), (64 * MIB + 4 * KIB, 60 * MIB, "ok"), (GIB, 8 * MIB, "warning")],
)
def test_small_shared_memory_is_warned_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, total: int, free: int, level: str
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(total, total - free, free))
    assert surroundings.check_shared_memory(tmp_path).level == level
    assert surroundings.check_shared_memory(tmp_path / "none").level == "warning"


def test_little_memory_and_disk_are_warned_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert surroundings.check_memory(None).level == "ok"
    assert surroundings.check_memory(GIB).level == "ok"
    assert surroundings.check_memory(GIB - 1).level == "warning"
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(GIB, GIB, MIB))
    assert surroundings.check_disk(tmp_path).level == "warning"


def test_launching_and_the_doctor_import_nothing_heavy() -> None:
    code = (
        "import sys, commbench.doctor, commbench.launching.lines, commbench.launching.worlds\n"
        "heavy = {'torch', 'mpi4py', 'scipy', 'matplotlib', 'numpy', 'rich', 'msgspec'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
