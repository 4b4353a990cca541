"""The state of NVIDIA devices around a sweep, and what of it changed in a way that may have moved the numbers.

Without nvidia-ml-py or a driver there is a reason and no state; nothing raises and nothing is ever set.
NVML numbers the physical devices and CUDA_VISIBLE_DEVICES renumbers them for CUDA: go through `index_of`.
"""

from collections.abc import Collection, Sequence
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


def changes(before: Sequence[State], after: Sequence[State]) -> list[str]:
    """What happened to the devices between two moments that may have moved the numbers: sentences, devices named."""
    later = {_key(state): state for state in after}
    found: list[str] = []
    for old in before:
        name, new = f"device {old['device']}", later.get(_key(old))
        if new is None:
            found.append(f"{name}: no longer answers")
            continue
        # An idle device is not throttled: that reason comes and goes with the work.
        appeared = set(new["throttle_reasons"] or ()) - set(old["throttle_reasons"] or ()) - {"gpu_idle"}
        found += [f"{name}: throttle reason {reason} appeared" for reason in sorted(appeared)]
        degrees, limit = new["temperature_celsius"], new["slowdown_celsius"]
        if degrees is not None and limit is not None and degrees >= limit:
            found.append(f"{name}: at {degrees} C it has reached the temperature that slows clocks down ({limit} C)")
        found += [f"{name}: {what} grew from {a} to {b}" for what, a, b in _counters(old, new) if b > a]
        active = [(state["nvlink"] or {}).get("links_active") for state in (old, new)]
        if None not in active and active[0] != active[1]:
            found.append(f"{name}: active NVLinks went from {active[0]} to {active[1]}")
    return found


def _counters(old: State, new: State) -> list[tuple[str, int, int]]:
    """What only grows when something went wrong, where both moments tell it."""
    pairs = [
        ("corrected ECC errors", old["ecc_corrected"], new["ecc_corrected"]),
        ("uncorrected ECC errors", old["ecc_uncorrected"], new["ecc_uncorrected"]),
        ("the number of other processes", old["other_processes"], new["other_processes"]),
    ]
    earlier = old["nvlink_errors"] or {}
    pairs += [
        (f"NVLink {kind} errors", earlier.get(kind), count) for kind, count in (new["nvlink_errors"] or {}).items()
    ]
    return [(what, a, b) for what, a, b in pairs if a is not None and b is not None]


def _key(state: State) -> Any:
    return state["uuid"] or state["device"]


def _bare(uuid: str) -> str:
    return uuid.lower().removeprefix("gpu-")


def _address(pci: str) -> str:
    """A PCI address without the zeros that NVML, CUDA and lspci pad its domain with, differently each."""
    address = pci.strip().lower()
    return (address if address.count(":") > 1 else f":{address}").lstrip("0")
