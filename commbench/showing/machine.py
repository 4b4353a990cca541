"""Did the machine change while it was measured? Compares the machine states before and after a sweep.

Every field of a device is optional: what a machine does not tell is not judged.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from commbench.showing.warning import ResultWarning
from commbench.sweepfile.reader import Sweep

HOT = 85.0  # degrees Celsius where the device does not name its limit; data centre GPUs slow down a few above
_COUNTERS = {
    "ecc_uncorrected": "uncorrected ECC errors",
    "ecc_corrected": "corrected ECC errors",
    "nvlink_errors": "NVLink errors",
}
# Lane counters that forward error correction repairs without a retry: they grow on healthy NVLink 4 links all the time
# (thousands a minute on two H200 whose replay, recovery and flit counters stayed at 0).
_REPAIRED = ("crc_data", "ecc_data")
_HARMLESS = ("idle", "none", "applicationsclockssetting")  # an idle device is not throttled, nor one set to a clock

_Device = Mapping[str, Any]


def machine(sweep: Sweep) -> Iterator[ResultWarning]:
    """The warnings about the devices' state."""
    before = _devices(sweep, "before", last=False)
    after = _devices(sweep, "after", last=True)
    throttled, grown, hot = [], [], []
    lost = [f"{_word(device)}: no longer answers" for key, device in before.items() if after and key not in after]
    for key, late in after.items():
        early, word = before.get(key), _word(late)
        if new := sorted(_reasons(late) - _reasons(early or {})):
            throttled.append(f"{word}: {', '.join(new)}")
        if early is not None:
            grown += [f"{word}: {more} {words}" for more, words in _grown(early, late)]
            active, left = _active_links(early), _active_links(late)
            if active is not None and left is not None and left < active:
                lost.append(f"{word}: {left} of {active} active NVLinks left")
        temperature, limit = late.get("temperature_celsius"), late.get("slowdown_celsius")
        limit = limit if isinstance(limit, int | float) else HOT
        if isinstance(temperature, int | float) and temperature >= limit:
            hot.append(f"{word}: {temperature:.0f} °C of {limit:.0f} °C")
    strangers = []
    for key, device in (before | after).items():
        if count := max(_others(before.get(key, {})), _others(after.get(key, {}))):
            strangers.append(f"{_word(device)}: {count} process{'es' if count > 1 else ''}")
    yield from _warnings(throttled, grown, lost, hot, strangers)


def _warnings(
    throttled: list[str], grown: list[str], lost: list[str], hot: list[str], strangers: list[str]
) -> Iterator[ResultWarning]:
    if throttled:
        yield ResultWarning(
            "throttled",
            f"a device began to throttle during the sweep ({_listed(throttled)})",
            "later points ran at lower clocks than earlier ones",
            "cool it, raise the power limit or fix the clocks, then measure again",
        )
    if grown:
        yield ResultWarning(
            "errors-grew",
            f"error counters grew during the sweep ({_listed(grown)})",
            "retries cost time, and uncorrected errors cost data",
            "look at nvidia-smi -q and dmesg (Xid); have the device or the link checked",
        )
    if lost:
        yield ResultWarning(
            "lost",
            f"a device or a link went down during the sweep ({_listed(lost)})",
            "points before and after it were measured on two different machines",
            "look at nvidia-smi nvlink --status and dmesg (Xid), then measure again",
        )
    if hot:
        yield ResultWarning(
            "hot",
            f"a device was too hot after the sweep ({_listed(hot)})",
            "from there on a device slows down, and long jobs heat it more than this sweep",
            "check the cooling",
        )
    if strangers:
        yield ResultWarning(
            "other-processes",
            f"other processes were on a device ({_listed(strangers)})",
            "they take the device's time and its links' bandwidth",
            "measure again when the devices are free",
        )


def _devices(sweep: Sweep, moment: str, *, last: bool) -> dict[str, _Device]:
    """Each device by its identity; after a resume the first state before and the last one after count."""
    found: dict[str, _Device] = {}
    for state in sweep.states:
        for position, device in enumerate(state.devices if state.moment == moment else ()):
            key = str(device.get("uuid") or (device.get("host"), device.get("device", position)))
            if last or key not in found:
                found[key] = device
    return found


def _word(device: _Device) -> str:
    return " ".join(str(part) for part in (device.get("host"), "device", device.get("device", "?")) if part is not None)


def _grown(early: _Device, late: _Device) -> Iterator[tuple[int, str]]:
    for field, words in _COUNTERS.items():
        if early.get(field) is not None and (more := _total(late.get(field)) - _total(early[field])) > 0:
            yield more, words


def _active_links(device: _Device) -> int | None:
    links = device.get("nvlink")
    active = links.get("links_active") if isinstance(links, Mapping) else None
    return active if isinstance(active, int) else None


def _reasons(device: _Device) -> set[str]:
    value = device.get("throttle_reasons") or ()
    words = [value] if isinstance(value, str) else list(value) if isinstance(value, list | tuple) else []
    return {str(word) for word in words if not _harmless(str(word))}


def _harmless(word: str) -> bool:
    plain = "".join(character for character in word.lower() if character.isalpha())
    return plain.removeprefix("gpu") in _HARMLESS


def _total(value: object) -> int:
    if isinstance(value, Mapping):
        return sum(_total(part) for name, part in value.items() if name not in _REPAIRED)
    if isinstance(value, list | tuple):
        return sum(_total(part) for part in value)
    return int(value) if isinstance(value, int | float) else 0


def _others(device: _Device) -> int:
    value = device.get("other_processes")
    return len(value) if isinstance(value, list | tuple | dict) else _total(value)


def _listed(parts: list[str]) -> str:
    return "; ".join(parts[:4]) + (f"; and {len(parts) - 4} more" if len(parts) > 4 else "")
