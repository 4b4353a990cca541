"""Device state through a fake NVML; one test asks a real device where there is one."""

import json
import os
import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from commbench.measuring.device_state import device_state_unavailable, device_states, index_of, topology

UUIDS = ("GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", "GPU-8932ffff-0000-4106-c12f-20bd9faed9f6")


class RefusedError(Exception):
    """Stands for pynvml.NVMLError."""


class FakeNvml(ModuleType):
    """Two devices of 18 NVLinks, the last of the second one down. `answers` holds what a test changes."""

    NVMLError = RefusedError

    def __init__(self) -> None:
        super().__init__("pynvml")
        self.__dict__.update(NVML_CLOCK_SM=1, NVML_CLOCK_MEM=2, NVML_TEMPERATURE_GPU=0, NVML_VOLATILE_ECC=0)
        self.__dict__.update(NVML_MEMORY_ERROR_TYPE_CORRECTED=0, NVML_MEMORY_ERROR_TYPE_UNCORRECTED=1)
        self.__dict__.update(NVML_TEMPERATURE_THRESHOLD_SLOWDOWN=1, NVML_NVLINK_MAX_LINKS=36)
        self.__dict__.update(NVML_NVLINK_ERROR_DL_REPLAY=0, NVML_NVLINK_ERROR_DL_CRC_FLIT=2)
        self.__dict__.update(NVML_FI_DEV_NVLINK_ERROR_DL_RECOVERY=162, NVML_FI_DEV_NVLINK_GET_SPEED=164)
        self.__dict__.update(NVML_P2P_CAPS_INDEX_NVLINK=2, NVML_P2P_STATUS_OK=0)
        self.open = 0
        self.answers: dict[str, Callable[..., Any]] = {
            "HandleByIndex": lambda index: index if index in (0, 1) else refuse(),
            "UUID": lambda device: UUIDS[device],
            "Name": lambda device: b"NVIDIA H200",
            "PciInfo": lambda device: SimpleNamespace(busId=f"00000000:{0x19 + device:02X}:00.0"),
            "ClockInfo": lambda device, kind: {1: 1980, 2: 3201}[kind],
            "MaxClockInfo": lambda device, kind: {1: 1980, 2: 3201}[kind],
            "Temperature": lambda device, sensor: 40,
            "TemperatureThreshold": lambda device, kind: 90,
            "PowerUsage": lambda device: 120500,
            "CurrentClocksEventReasons": lambda device: 0b1,
            "TotalEccErrors": lambda device, kind, counter: 3 if kind == 0 else 0,
            "NvLinkState": lambda device, link: int((device, link) != (1, 17)) if link < 18 else refuse(),
            "NvLinkErrorCounter": lambda device, link, counter: 2 if counter == 0 else refuse(),
            "FieldValues": lambda device, fields: [field_value(*field) for field in fields],
            "ComputeRunningProcesses": lambda device: [SimpleNamespace(pid=os.getpid()), SimpleNamespace(pid=1)],
            "MemoryInfo": lambda device: SimpleNamespace(used=5 << 30, total=141 << 30),
            "PersistenceMode": lambda device: 1,
            "TopologyCommonAncestor": lambda device, other: 40,
            "P2PStatus": lambda device, other, index: 0,
        }

    def __getattr__(self, name: str) -> Any:
        if name.startswith("nvmlDeviceGet") and (answer := self.answers.get(name.removeprefix("nvmlDeviceGet"))):
            return answer
        raise AttributeError(name)  # also everything that would set something

    def nvmlInit(self) -> None:  # noqa: N802
        self.open += 1

    def nvmlShutdown(self) -> None:  # noqa: N802
        self.open -= 1

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        return 2


def refuse(*_: Any) -> Any:
    raise RefusedError("Not Supported")


def field_value(field: int, scope: int) -> SimpleNamespace:
    known = {162: (1, SimpleNamespace(uiVal=scope % 2)), 164: (3, SimpleNamespace(ullVal=26562))}
    kind, value = known.get(field, (0, None))
    return SimpleNamespace(nvmlReturn=0 if field in known else 3, valueType=kind, value=value)


@pytest.fixture
def nvml(monkeypatch: pytest.MonkeyPatch) -> FakeNvml:
    fake = FakeNvml()
    monkeypatch.setitem(sys.modules, "pynvml", fake)
    return fake


def test_a_device_tells_everything(nvml: FakeNvml) -> None:
    assert device_state_unavailable() is None
    states = device_states(own_pids=[os.getpid()])
    assert states[0] == {
        "device": 0,
        "uuid": UUIDS[0],
        "name": "NVIDIA H200",
        "pci": "00000000:19:00.0",
        "clocks": {"sm_mhz": 1980, "memory_mhz": 3201},
        "max_clocks": {"sm_mhz": 1980, "memory_mhz": 3201},
        "temperature_celsius": 40,
        "slowdown_celsius": 90,
        "power_watts": 120.5,
        "throttle_reasons": ["gpu_idle"],
        "ecc_corrected": 3,
        "ecc_uncorrected": 0,
        "nvlink": {"links": 18, "links_active": 18, "link_bytes_per_second": 26.562e9},
        "nvlink_errors": {"replay": 36, "recovery": 9},
        "other_processes": 1,
        "memory_used_bytes": 5 << 30,
        "memory_total_bytes": 141 << 30,
        "persistence": True,
    }
    assert states[1]["nvlink"]["links_active"] == 17
    assert json.loads(json.dumps(states, allow_nan=False)) == list(states)
    assert nvml.open == 0


def test_only_the_devices_asked_for(nvml: FakeNvml) -> None:
    assert [state["device"] for state in device_states([1])] == [1]


def test_what_is_not_supported_is_none(nvml: FakeNvml) -> None:
    whole = device_states([0])[0]
    for name in list(nvml.answers):
        if name != "HandleByIndex":
            nvml.answers[name] = refuse
    assert device_states([0])[0] == dict.fromkeys(whole) | {
        "device": 0,
        "clocks": {"sm_mhz": None, "memory_mhz": None},
        "max_clocks": {"sm_mhz": None, "memory_mhz": None},
    }


def test_an_older_pynvml_without_functions_and_constants(nvml: FakeNvml) -> None:
    nvml.answers = {name: nvml.answers[name] for name in ("HandleByIndex", "UUID")}
    nvml.answers["CurrentClocksThrottleReasons"] = lambda device: 0b1100 | 1 << 40
    del nvml.__dict__["NVML_CLOCK_SM"]
    state = device_states([0])[0]
    assert state["throttle_reasons"] == ["sw_power_cap", "hw_slowdown", "unknown_0x10000000000"]
    assert state["uuid"] == UUIDS[0]


def test_a_lost_device_does_not_end_the_sweep(nvml: FakeNvml) -> None:
    nvml.answers["HandleByIndex"] = refuse
    assert device_states([0])[0]["uuid"] is None


def test_process_ids_of_another_namespace_cannot_be_counted(nvml: FakeNvml) -> None:
    nvml.answers["ComputeRunningProcesses"] = lambda device: [SimpleNamespace(pid=(1 << 22) + 7)]  # above pid_max
    assert device_states([0])[0]["other_processes"] is None
    nvml.answers["ComputeRunningProcesses"] = lambda device: []
    assert device_states([0])[0]["other_processes"] == 0


@pytest.mark.parametrize(
    ("identity", "index"),
    [
        (UUIDS[1], 1),
        (UUIDS[1].removeprefix("GPU-").upper(), 1),
        ("GPU-8932f9", 0),
        ("GPU-8932f", None),
        ("GPU-1", None),
        ("", None),
        ("GPU-", None),
        ("MIG-8932f937-d72c-4106-c12f-20bd9faed9f6", None),
        ("0000:1a:00.0", 1),
        ("00000000:19:00.0", 0),
        ("19:00.0", 0),
        ("0001:19:00.0", None),
    ],
)
def test_devices_are_found_by_uuid_and_pci_address(nvml: FakeNvml, identity: str, index: int | None) -> None:
    assert index_of(identity) == index


def test_without_the_package_there_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert "commbench[gpu]" in str(device_state_unavailable())
    assert device_states() == ()
    assert index_of(UUIDS[0]) is None


def test_without_a_driver_there_is_a_reason(nvml: FakeNvml, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvml, "nvmlInit", refuse)
    assert device_state_unavailable() == "NVML does not start: Not Supported"
    assert device_states([0, 1]) == ()


def test_the_names_exist_in_the_real_module() -> None:
    pynvml = pytest.importorskip("pynvml")
    fake = FakeNvml()
    constants = [name for name in vars(fake) if name.startswith("NVML_")]
    functions = [f"nvmlDeviceGet{name}" for name in fake.answers]
    assert [name for name in (*constants, *functions) if not hasattr(pynvml, name)] == []
    assert all(getattr(pynvml, name) == value for name, value in vars(fake).items() if name.startswith("NVML_"))


@pytest.mark.gpu
def test_a_real_device_tells_its_state() -> None:
    if reason := device_state_unavailable():
        pytest.skip(reason)
    states = device_states(own_pids=[os.getpid()])
    if not states:
        pytest.skip("NVML sees no device")
    for state in states:
        assert state["name"]
        assert state["memory_total_bytes"] > 1 << 30
        assert 0 <= state["memory_used_bytes"] <= state["memory_total_bytes"]
        assert index_of(state["uuid"]) == index_of(state["pci"]) == state["device"]
        assert state["temperature_celsius"] is None or 0 < state["temperature_celsius"] < 120
        assert state["nvlink"] is None or 0 <= state["nvlink"]["links_active"] <= state["nvlink"]["links"]
    json.dumps(states, allow_nan=False)


def test_topology_says_how_each_two_devices_are_joined(nvml: FakeNvml) -> None:
    assert topology() == ({"a": 0, "b": 1, "path": "NODE", "nvlink": True},)


def test_topology_that_the_driver_does_not_tell_is_none(nvml: FakeNvml) -> None:
    nvml.answers.update(TopologyCommonAncestor=refuse, P2PStatus=refuse)
    assert topology() == ({"a": 0, "b": 1, "path": None, "nvlink": None},)
