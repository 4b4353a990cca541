"""The device list of a run: its ranks, their groups and hosts."""

from collections import Counter
from collections.abc import Sequence

from commbench.importing.nccl_family.banner import Banner, Device


def distinct(banner: Banner) -> list[Device]:
    """The device list with each rank once (copies of a program print it again)."""
    return sorted({device.rank: device for device in banner.devices}.values())


def listed(banner: Banner, devices: list[Device]) -> int | None:
    """Ranks of one collective by the device list; None where the list is not whole."""
    if not devices or banner.cut or [device.rank for device in devices] != list(range(len(devices))):
        return None
    members = Counter(device.group for device in devices)
    return (
        len(devices) if len(members) == 1 else members.most_common(1)[0][1] if len(set(members.values())) == 1 else None
    )


def groups(devices: list[Device]) -> tuple[tuple[int, ...], ...] | None:
    """The ranks of each group; None where there is one group only."""
    numbers = sorted({device.group for device in devices})
    if len(numbers) < 2:
        return None
    return tuple(tuple(device.rank for device in devices if device.group == number) for number in numbers)


def ranks_per_host(devices: list[Device]) -> tuple[int, ...] | None:
    """How many ranks each host runs, in the order of the list; None where groups part them."""
    if groups(devices):
        return None
    return tuple(Counter(device.host for device in devices).values()) or None


def processes_with_rank_0(devices: list[Device]) -> int:
    """How many processes call themselves rank 0: more than one never met."""
    return len({(device.host, device.pid) for device in devices if device.rank == 0})


def model(devices: Sequence[Device]) -> str | None:
    """The one model of all devices."""
    names = {device.name for device in devices if device.name}
    return next(iter(names)) if len(names) == 1 else None
