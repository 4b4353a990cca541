"""What the link under a curve can carry, where the path that proves it is known."""

from typing import NamedTuple

from commbench.modelling.links import host_peak, link_peak
from plots.choosing import Line


class Ceiling(NamedTuple):
    """A limit of the bus bandwidth (bytes per second), and its name."""

    bytes_per_second: float
    name: str


def ceilings(line: Line) -> tuple[Ceiling, ...]:
    """The link's limits; none where device, path or link are not known, or the path leaves the host."""
    key = line.sweep_set.key
    paths = {path.partition("/")[0] for sweep in line.sweeps for path in sweep.proved or ()}
    inside = key.ranks_per_host is None or len(key.ranks_per_host) == 1
    if not line.proved or key.device is None or not inside or paths - {"P2P", "SHM", "NVLS"}:
        return ()
    if "SHM" in paths:
        peak = host_peak(key.device)
        return () if peak is None else (Ceiling(peak.bytes_per_second, f"{peak.name} to the host"),)
    peak = link_peak(key.device)
    if peak is None:
        return ()
    found = [Ceiling(peak.bytes_per_second, peak.name)]
    if peak.ring_bytes_per_second:
        found.append(Ceiling(peak.ring_bytes_per_second, "end of NCCL's rings"))
    return tuple(found)
