"""Did a setting take? Only the library's log, the interfaces' counters and the ranks' own variables can say so."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from commbench.launching.settings import Setting
from commbench.measuring.facts import allowed_variables
from commbench.sweepfile.reader import Sweep

_MEANS_NOTHING = ("self",)  # a rank's path to itself
_SHOWN = 3


@dataclass(frozen=True)
class Doubt:
    """Why a sweep is not what its setting says."""

    reason: str
    expected: str
    found: str


def doubts(setting: Setting, sweep: Sweep, nvlinks_here: int | None = None) -> tuple[Doubt, ...]:
    """Everything in a sweep that contradicts its setting, or leaves it unproved; empty where it took.

    Args:
        nvlinks_here: active NVLinks of a GPU of this host, for a sweep whose file does not tell.
    """
    return tuple(
        [*_variables(setting, sweep), *_paths(setting, sweep), *_nvlink(setting, sweep, nvlinks_here)]
        if sweep.measurements
        else [Doubt(f"{setting.name}: nothing was measured", "measurements", "none")]
    )


def _variables(setting: Setting, sweep: Sweep) -> Iterator[Doubt]:
    environment = sweep.header.environment
    known = environment.get("variables")
    if not isinstance(known, Mapping) or sweep.header.source.tool != "commbench":
        return
    apart = environment.get("variables_differ")
    for name, wanted in setting.variables.items():
        if isinstance(apart, Mapping) and name in apart:
            yield Doubt(
                f"{setting.name} did not take: {name}={wanted} did not reach every rank",
                f"{name}={wanted} on every rank",
                _by_rank(apart[name]),
            )
        elif known.get(name) != wanted and allowed_variables({name: wanted}):  # files hold variables by an allow-list
            yield Doubt(
                f"{setting.name} did not take: {name}={wanted} did not reach the ranks",
                f"{name}={wanted} on every rank",
                f"{name}={known[name]}" if name in known else f"{name} is not set there",
            )


def _paths(setting: Setting, sweep: Sweep) -> Iterator[Doubt]:
    if not setting.paths:
        yield from _interface(setting, sweep)
        return
    wanted = " or ".join(sorted(setting.paths))
    links = [link for link in _links(sweep) if link[2] not in _MEANS_NOTHING]
    others = [link for link in links if link[2].partition("/")[0] not in setting.paths and link[2] != "NVLS"]
    if (sweep.header.ranks_per_host or ()) and len(sweep.header.ranks_per_host or ()) > 1:
        # Between hosts there is only the network, whatever the setting.
        others = [link for link in others if link[2].partition("/")[0] not in ("NET", "tcp", "ucx")]
    proved = {path.partition("/")[0] for path in sweep.proved or ()}
    if others:
        yield Doubt(f"{setting.name} did not take: {_some(others)}", f"{wanted} between all ranks", _some(others))
    elif not setting.paths & proved:
        found = f"proved: {', '.join(sorted(proved))}" if proved else "the library logged no path"
        yield Doubt(f"{setting.name} is not proved: {found}", f"{wanted} between all ranks", found)
    if setting.library == "nccl" and "NVLS" in proved - setting.also:
        yield Doubt(f"{setting.name} did not take: multicast is set up", "no multicast (NVLS)", "NVLS in the log")
    for missing in sorted(setting.also - proved):
        yield Doubt(f"{setting.name} did not take: the log shows no {missing}", missing, ", ".join(sorted(proved)))


def _interface(setting: Setting, sweep: Sweep) -> Iterator[Doubt]:
    """Gloo logs no path, but what it was told to use can be held against the bytes that were counted."""
    named = setting.variables.get("GLOO_SOCKET_IFNAME")
    if named is None or sweep.header.backend != "gloo":
        return
    wanted = f"tcp/{named}"
    if sweep.proved is None:
        found = "the counters of the interfaces do not say which one carried the messages"
        yield Doubt(f"{setting.name} is not proved: {found}", f"most bytes on {named}", _counted(sweep))
    elif set(sweep.proved) != {wanted}:
        found = ", ".join(sweep.proved)
        yield Doubt(
            f"{setting.name} did not take: the bytes crossed {found}", f"most bytes on {named}", _counted(sweep)
        )


def _counted(sweep: Sweep) -> str:
    counts = [
        f"{count.get('host')} {count.get('interface')}: {count.get('received_bytes')} B in, "
        f"{count.get('sent_bytes')} B out"
        for transport in sweep.transports
        for count in transport.interfaces
    ]
    return ", ".join(counts) or "nothing was counted"


def _nvlink(setting: Setting, sweep: Sweep, here: int | None) -> Iterator[Doubt]:
    if setting.nvlink is None:
        return
    links = active_nvlinks(sweep)
    links = here if links is None else links
    if links is None:
        yield Doubt(
            f"{setting.name} is not proved: GPUs read each other's memory, but nothing says over what",
            "what the driver reports about NVLinks (nvidia-smi topo -m, or pip install 'commbench[gpu]')",
            "no state of any device",
        )
    elif setting.nvlink and not links:
        yield Doubt(f"{setting.name} did not take: no GPU has an active NVLink", "active NVLinks", "none")
    elif setting.nvlink is False and links:
        yield Doubt(
            f"{setting.name} did not take: with NVLink present CUDA uses it, and there is no PCIe path beside it",
            "no active NVLink",
            f"{links} links a GPU",
        )


def active_nvlinks(sweep: Sweep) -> int | None:
    """Active NVLinks of the GPU that has fewest; None where no device tells its name."""
    devices = [device for state in sweep.states for device in state.devices if device.get("name")]
    counts = [nvlink.get("links_active") or 0 if isinstance(nvlink := device.get("nvlink"), dict) else 0
              for device in devices]  # fmt: skip
    return min(counts) if counts else None


def _links(sweep: Sweep) -> list[tuple[Any, Any, str]]:
    pairs = sweep.header.transport.get("pairs")
    listed = [*(pairs if isinstance(pairs, list | tuple) else ()), *(p for t in sweep.transports for p in t.pairs)]
    return [
        (pair.get("from"), pair.get("to"), str(pair["path"]))
        for pair in listed
        if isinstance(pair, dict) and "path" in pair
    ]


def _some(links: list[tuple[Any, Any, str]]) -> str:
    shown = ", ".join(f"{source} -> {target} via {path}" for source, target, path in links[:_SHOWN])
    return shown + (f" and {len(links) - _SHOWN} more" if len(links) > _SHOWN else "")


def _by_rank(values: Any) -> str:
    if not isinstance(values, list):
        return "not alike on all ranks"
    parts = [
        f"{'not set' if v.get('value') is None else v['value']} on rank{'s'[: len(v['ranks']) > 1]} "
        + ", ".join(map(str, v["ranks"][:_SHOWN]))
        + (" ..." if len(v["ranks"]) > _SHOWN else "")
        for v in values
        if isinstance(v, dict) and isinstance(v.get("ranks"), list)
    ]
    return "; ".join(parts)
