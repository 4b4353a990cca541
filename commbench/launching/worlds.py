"""The world once its ranks can talk: who shares a device, who was promised another world, and what it looks like."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from commbench.errors import LaunchError

_HOSTS_SHOWN = 16


@dataclass(frozen=True)
class Member:
    """One rank of a world, as it describes itself.

    Attributes:
        device: unique over all hosts (a GPU's uuid, or host and index); None where the rank has no device of its own.
        launcher: the launcher's name, for people.
        promised_size: ranks that this rank's launcher promised, None where nothing was promised.
    """

    rank: int
    host: str
    pid: int
    local_rank: int | None
    device: str | None
    launcher: str
    promised_size: int | None


def check_members(members: Iterable[Member], shared_device_allowed: bool = False) -> None:
    """Check that the ranks which found each other are the world that was launched.

    Raises:
        LaunchError: when ranks and promised sizes do not fit, or when two ranks have one device by accident.
    """
    ordered = sorted(members, key=lambda member: member.rank)
    _check_size(ordered)
    if not shared_device_allowed:
        _check_devices(ordered)


def _check_size(ordered: Sequence[Member]) -> None:
    ranks = [member.rank for member in ordered]
    if ranks != list(range(len(ranks))):
        raise LaunchError(
            "the ranks of this world are not numbered 0, 1, 2 …",
            expected=f"{len(ranks)} ranks, each number from 0 to {len(ranks) - 1} once",
            found=f"ranks {', '.join(map(str, ranks))}",
            fix="let one launcher number all ranks, and start each of them once",
        )
    promised: dict[int, list[int]] = defaultdict(list)
    for member in ordered:
        if member.promised_size is not None:
            promised[member.promised_size].append(member.rank)
    if all(size == len(ordered) for size in promised):
        return
    launchers = ", ".join(sorted({member.launcher for member in ordered}))
    raise LaunchError(
        "ranks were promised another world than the one they are in",
        expected=f"every rank promised {len(ordered)} rank{'s' * (len(ordered) != 1)}, as many as found each other",
        found="; ".join(f"{size} promised to ranks {_spans(ranks)}" for size, ranks in sorted(promised.items()))
        + f" ({launchers})",
        fix=(
            "start all ranks with one launch line on every host; under mpirun a world of 1 in each process means that"
            " mpirun and mpi4py belong to different MPI libraries, so install both from the same one"
        ),
    )


def _check_devices(ordered: Sequence[Member]) -> None:
    users: dict[str, list[Member]] = defaultdict(list)
    for member in ordered:
        if member.device is not None:
            users[member.device].append(member)
    shared = {device: those for device, those in users.items() if len(those) > 1}
    if not shared:
        return
    raise LaunchError(
        "two ranks share one device",
        expected="one process per GPU",
        found="; ".join(
            f"ranks {_spans([member.rank for member in those])} on host {those[0].host}"
            f" (processes {', '.join(str(member.pid) for member in those)}) use device {device}"
            for device, those in shared.items()
        ),
        fix=(
            "start as many ranks on a host as it has GPUs (--nproc-per-node), and look at CUDA_VISIBLE_DEVICES:"
            " each local rank needs a GPU of its own; to share one for a test on purpose, say --shared-device"
        ),
    )


def hosts_in_order(members: Iterable[Member]) -> tuple[str, ...]:
    """The hosts, in the order of their first ranks."""
    return tuple(dict.fromkeys(member.host for member in sorted(members, key=lambda member: member.rank)))


def ranks_per_host(members: Iterable[Member]) -> tuple[int, ...]:
    """How many ranks each host has, in the order of `hosts_in_order`."""
    return tuple(len(ranks) for ranks in _ranks_by_host(members).values())


def describe_world(members: Iterable[Member], device_name: str | None = None) -> str:
    """The lines shown before anything is measured: world size, hosts, ranks per host, devices and launcher.

    Args:
        device_name: what the devices are ("NVIDIA H200", "cpu"), where it is known.
    """
    known = tuple(members)
    by_host = _ranks_by_host(known)
    counts = sorted({len(ranks) for ranks in by_host.values()})
    each = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    devices = len({member.device for member in known} - {None})
    facts = [
        f"{len(known)} rank{'s' * (len(known) != 1)} on {len(by_host)} host{'s' * (len(by_host) != 1)}",
        f"{each} per host",
        f"{devices} device{'s' * (devices != 1)}" if devices else "no devices of their own",
        *([device_name] if device_name else []),
        f"started by {', '.join(sorted({member.launcher for member in known}))}",
    ]
    lines = ["world: " + ", ".join(facts)]
    shown = list(by_host.items())[:_HOSTS_SHOWN]
    lines += [f"  {host}: rank{'s' * (len(ranks) != 1)} {_spans(ranks)}" for host, ranks in shown]
    if len(by_host) > len(shown):
        lines.append(f"  and {len(by_host) - len(shown)} more hosts")
    return "\n".join(lines)


def _ranks_by_host(members: Iterable[Member]) -> dict[str, list[int]]:
    by_host: dict[str, list[int]] = {}
    for member in sorted(members, key=lambda member: member.rank):
        by_host.setdefault(member.host, []).append(member.rank)
    return by_host


def _spans(numbers: Sequence[int]) -> str:
    """Sorted numbers in short: 0, 1, 2, 5 are "0-2, 5", and two in a row "0, 1"."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(
        str(low) if low == high else f"{low}, {high}" if high == low + 1 else f"{low}-{high}" for low, high in spans
    )
