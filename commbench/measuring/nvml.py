"""One NVIDIA device read through NVML (module pynvml, from nvidia-ml-py, loaded only when asked). Nothing is ever set.

Everything a device, a driver or an older pynvml does not have is None, never 0.
"""

import importlib
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

Ask = Callable[..., Any]

_REASONS = (  # by bit
    *("gpu_idle", "applications_clocks_setting", "sw_power_cap", "hw_slowdown", "sync_boost"),
    *("sw_thermal_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown", "display_clock_setting"),
)
# Counter: its constant in nvmlDeviceGetNvLinkErrorCounter, and the field that newer drivers and links have instead.
_NVLINK_COUNTERS: dict[str, tuple[str, str]] = {
    "replay": ("NVML_NVLINK_ERROR_DL_REPLAY", "NVML_FI_DEV_NVLINK_ERROR_DL_REPLAY"),
    "recovery": ("NVML_NVLINK_ERROR_DL_RECOVERY", "NVML_FI_DEV_NVLINK_ERROR_DL_RECOVERY"),
    "crc_flit": ("NVML_NVLINK_ERROR_DL_CRC_FLIT", "NVML_FI_DEV_NVLINK_ERROR_DL_CRC"),
    "crc_data": ("NVML_NVLINK_ERROR_DL_CRC_DATA", ""),
    "ecc_data": ("NVML_NVLINK_ERROR_DL_ECC_DATA", ""),
    "receive": ("", "NVML_FI_DEV_NVLINK_COUNT_RCV_ERRORS"),
    "effective": ("", "NVML_FI_DEV_NVLINK_COUNT_EFFECTIVE_ERRORS"),
    "link_recovery": ("", "NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS"),
}
# NVML's levels of a common ancestor, in the words of `nvidia-smi topo -m`.
_ANCESTORS = {0: "same board", 10: "PIX", 20: "PXB", 30: "PHB", 40: "NODE", 50: "SYS"}
_VALUES = ("dVal", "uiVal", "ulVal", "ullVal", "sllVal", "siVal", "usVal")  # by NVML_VALUE_TYPE_*


@contextmanager
def session() -> Iterator[tuple[Any, str]]:
    """NVML between initialisation and shutdown with an empty reason, or (None, the reason why not)."""
    try:
        nvml: Any = importlib.import_module("pynvml")
    except ImportError:
        yield None, "the Python package nvidia-ml-py is not installed (pip install 'commbench[gpu]')"
        return
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        yield None, f"NVML does not start: {error}"
        return
    try:
        yield nvml, ""
    finally:
        nvml.nvmlShutdown()


def device_count(nvml: Any) -> int:
    """How many devices NVML sees; none when it does not say."""
    try:
        return int(nvml.nvmlDeviceGetCount())
    except nvml.NVMLError:
        return 0


def asker(nvml: Any, index: int) -> Ask:
    """A question to one device: `ask("Name")` is nvmlDeviceGetName, None without an answer; "Handle" names it."""

    def call(name: str, *arguments: Any) -> Any:
        function = getattr(nvml, f"nvmlDeviceGet{name}", None)
        if function is None or any(argument is None for argument in arguments):
            return None
        try:
            return function(*arguments)
        except nvml.NVMLError:
            return None

    handle = call("HandleByIndex", index)
    return lambda name, *arguments: handle if name == "Handle" else call(name, handle, *arguments)


def identity(ask: Ask) -> tuple[str | None, str | None]:
    """A device's UUID and PCI address."""
    pci = ask("PciInfo")
    return _text(ask("UUID")), _text(None if pci is None else pci.busId)


def read(nvml: Any, index: int, own_pids: Collection[int]) -> dict[str, Any]:
    """A device's state; its fields are described by device_state.device_states."""
    ask = asker(nvml, index)
    has = vars(nvml).get

    def clocks(question: str) -> dict[str, int | None]:
        return {"sm_mhz": ask(question, has("NVML_CLOCK_SM")), "memory_mhz": ask(question, has("NVML_CLOCK_MEM"))}

    def ecc(kind: str) -> int | None:
        count: int | None = ask("TotalEccErrors", has(f"NVML_MEMORY_ERROR_TYPE_{kind}"), has("NVML_VOLATILE_ECC"))
        return count

    uuid, pci = identity(ask)
    milliwatts, memory, persistence = ask("PowerUsage"), ask("MemoryInfo"), ask("PersistenceMode")
    reasons = ask("CurrentClocksEventReasons")
    if reasons is None:  # its name before driver 535
        reasons = ask("CurrentClocksThrottleReasons")
    links = [link for link in range(has("NVML_NVLINK_MAX_LINKS", 18)) if ask("NvLinkState", link) is not None]
    return {
        "device": index,
        "uuid": uuid,
        "name": _text(ask("Name")),
        "pci": pci,
        "clocks": clocks("ClockInfo"),
        "max_clocks": clocks("MaxClockInfo"),
        "temperature_celsius": ask("Temperature", has("NVML_TEMPERATURE_GPU")),
        "slowdown_celsius": ask("TemperatureThreshold", has("NVML_TEMPERATURE_THRESHOLD_SLOWDOWN")),
        "power_watts": None if milliwatts is None else milliwatts / 1e3,
        "throttle_reasons": None if reasons is None else _reasons(reasons),
        "ecc_corrected": ecc("CORRECTED"),
        "ecc_uncorrected": ecc("UNCORRECTED"),
        "nvlink": _nvlink(has, ask, links) if links else None,
        "nvlink_errors": _nvlink_errors(has, ask, links) if links else None,
        "other_processes": _others(ask("ComputeRunningProcesses"), own_pids),
        "memory_used_bytes": None if memory is None else memory.used,
        "memory_total_bytes": None if memory is None else memory.total,
        "persistence": None if persistence is None else bool(persistence),
    }


def between(nvml: Any, first: int, second: int) -> dict[str, Any]:
    """How two devices are joined; its fields are described by device_state.topology."""
    ask, other = asker(nvml, first), asker(nvml, second)("Handle")
    has = vars(nvml).get
    level = ask("TopologyCommonAncestor", other)
    nvlink = ask("P2PStatus", other, has("NVML_P2P_CAPS_INDEX_NVLINK"))
    return {
        "a": first,
        "b": second,
        "path": None if level is None else _ANCESTORS.get(int(level)),
        "nvlink": None if nvlink is None else int(nvlink) == has("NVML_P2P_STATUS_OK", 0),
    }


def _reasons(bits: int) -> list[str]:
    names = [name for bit, name in enumerate(_REASONS) if bits >> bit & 1]
    unknown = bits >> len(_REASONS) << len(_REASONS)
    return names + ([f"unknown_{unknown:#x}"] if unknown else [])


def _nvlink(has: Ask, ask: Ask, links: list[int]) -> dict[str, Any]:
    active = [link for link in links if ask("NvLinkState", link)]
    # Megabytes a second of one direction of one link, coding overhead included: 26562 where 25 GB/s are usable.
    speeds = [_field(ask, has("NVML_FI_DEV_NVLINK_GET_SPEED"), link) for link in active]
    speeds += [_field(ask, has("NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON"), 0)] if active and None in speeds else []
    slowest = min((speed for speed in speeds if speed), default=None)
    rate = None if slowest is None else slowest * 1e6
    return {"links": len(links), "links_active": len(active), "link_bytes_per_second": rate}


def _nvlink_errors(has: Ask, ask: Ask, links: list[int]) -> dict[str, int] | None:
    """Each counter over all links; a counter that no link has is left out."""
    sums: dict[str, int] = {}
    for counter, (constant, field) in _NVLINK_COUNTERS.items():
        for link in links:
            count = ask("NvLinkErrorCounter", link, has(constant))
            count = _field(ask, has(field), link) if count is None else count
            if count is not None:
                sums[counter] = sums.get(counter, 0) + count
    return sums or None


def _field(ask: Ask, field: int | None, scope: int) -> int | None:
    values = None if field is None else ask("FieldValues", [(field, scope)])
    if not values or values[0].nvmlReturn != 0 or not 0 <= values[0].valueType < len(_VALUES):
        return None
    return int(getattr(values[0].value, _VALUES[values[0].valueType]))


def _others(processes: Any, own_pids: Collection[int]) -> int | None:
    """Compute processes that are not ours; None when they cannot be told apart.

    Inside a container NVML may give the process ids of the host: one that does not exist here shows it.
    """
    if processes is None:
        return None
    pids = {process.pid for process in processes}
    return len(pids - set(own_pids)) if all(_exists(pid) for pid in pids) else None


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)  # signal 0 is not sent: it asks, and sees processes that /proc may hide
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _text(value: Any) -> str | None:
    return value.decode(errors="replace") if isinstance(value, bytes) else None if value is None else str(value)
