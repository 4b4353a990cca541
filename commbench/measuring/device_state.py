"""The state of NVIDIA devices, as a sweep writes it down before and after; `commbench.showing.machine` judges it.

Without nvidia-ml-py or a driver there is a reason and no state; nothing raises and nothing is ever set.
NVML numbers the physical devices and CUDA_VISIBLE_DEVICES renumbers them for CUDA: go through `index_of`.
"""

from collections.abc import Collection, Sequence
from itertools import combinations
from typing import Any

from commbench.measuring import nvml

State = dict[str, Any]


def device_state_unavailable() -> str | None:
    """Why this machine tells no device state, or None when it does."""
    with nvml.session() as (_, reason):
        return reason or None


def device_states(indices: Sequence[int] | None = None, own_pids: Collection[int] = ()) -> tuple[State, ...]:
    """The state of each device now; `()` where `device_state_unavailable()` has a reason.

    Args:
        indices: NVML's indices, None for all devices.
        own_pids: the processes of the sweep; `other_processes` counts compute processes that are none of these.

    Returns:
        A plain object a device, every value None where the device does not tell it:
        device (NVML's index), uuid, name, pci, clocks and max_clocks {sm_mhz, memory_mhz}, temperature_celsius,
        slowdown_celsius (where clocks begin to slow down), power_watts, throttle_reasons (names; "gpu_idle" is one),
        ecc_corrected and ecc_uncorrected (since the driver was loaded), nvlink {links, links_active,
        link_bytes_per_second: of one link and direction, with coding overhead}, nvlink_errors {counter: sum over
        links}, other_processes, memory_used_bytes, memory_total_bytes, persistence.
    """
    with nvml.session() as (library, reason):
        if reason:
            return ()
        chosen = range(nvml.device_count(library)) if indices is None else indices
        return tuple(nvml.read(library, index, own_pids) for index in chosen)


def topology() -> tuple[State, ...]:
    """How each two devices of this machine are joined; `()` where `device_state_unavailable()` has a reason.

    Returns:
        A plain object a pair: a and b (NVML's indices), path (PIX, PXB, PHB, NODE or SYS as `nvidia-smi topo -m` words
        the way over PCIe) and nvlink (whether they reach each other over NVLink); None where the driver does not tell.
    """
    with nvml.session() as (library, reason):
        count = 0 if reason else nvml.device_count(library)
        return tuple(nvml.between(library, a, b) for a, b in combinations(range(count), 2))


def index_of(identity: str) -> int | None:
    """NVML's index of the device with a UUID (torch leaves "GPU-" out; a unique beginning is enough) or PCI address.

    None when no device answers to it, or more than one. A MIG slice has no state of its own and no index.
    """
    with nvml.session() as (library, reason):
        devices = () if reason else range(nvml.device_count(library))
        names = [(index, nvml.identity(nvml.asker(library, index))) for index in devices]
    wanted = identity.strip().lower().removeprefix("gpu-")
    found = {index for index, (uuid, _) in names if wanted and uuid and _bare(uuid).startswith(wanted)}
    found |= {index for index, (_, pci) in names if pci and _address(pci) == _address(identity)}
    return found.pop() if len(found) == 1 else None


def _bare(uuid: str) -> str:
    return uuid.lower().removeprefix("gpu-")


def _address(pci: str) -> str:
    """A PCI address without the zeros that NVML, CUDA and lspci pad its domain with, differently each."""
    address = pci.strip().lower()
    return (address if address.count(":") > 1 else f":{address}").lstrip("0")
