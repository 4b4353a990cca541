"""What the link under a model can carry, and the share of it that the fitted bandwidth reaches."""

from typing import NamedTuple

from commbench.modelling.links import LinkPeak, host_peak, link_peak
from commbench.modelling.model import Model
from commbench.units import format_rate

ABOVE_RING = 1.05  # 372 GB/s were seen on rings that NCCL's model ends at 371
_INSIDE = {"P2P", "SHM", "NVLS"}  # paths that stay in a host
HELPED = ("all_reduce",)  # collectives of which a switch that adds numbers up moves each byte once, not 2(n-1)/n times


class Reference(NamedTuple):
    """A limit for the bus bandwidth.

    Attributes:
        link: its name.
        bytes_per_second: what it carries in one direction.
        share: fitted bus bandwidth over that, 1 = 100 %; None where there is no bus bandwidth.
        note: what to know when reading the share, empty where there is nothing.
    """

    link: str
    bytes_per_second: float
    share: float | None
    note: str


def reference(model: Model) -> Reference | None:
    """The limit of the link that the set's path goes over, None where device, path or link are not known.

    A network's rate stands in no sweep file, so models over several hosts, or over a network within one, have none.
    """
    one_host = model.key.ranks_per_host is None or len(model.key.ranks_per_host) == 1
    paths = {path.partition("/")[0] for path in model.proved or ()}
    if model.device is None or not one_host or paths - _INSIDE or (model.key.world_size or 0) < 2:
        return None
    through_host = "SHM" in paths
    peak = host_peak(model.device) if through_host else link_peak(model.device)
    if peak is None:
        return None
    bus = model.bus_bytes_per_second
    share = None if bus is None else bus / peak.bytes_per_second
    return Reference(peak.name, peak.bytes_per_second, share, _note(model, peak, bus or 0.0))


def _note(model: Model, peak: LinkPeak, bus: float) -> str:
    carries = max(peak.bytes_per_second, peak.bridge_bytes_per_second or 0.0)
    ring = peak.ring_bytes_per_second or carries
    sent = min(bus, model.bytes_per_second or bus) if model.key.collective in HELPED else bus
    if sent > ABOVE_RING * carries:
        return "more than the link carries: wrong device, wrong number of ranks, or data that stayed in a cache"
    if bus > ABOVE_RING * ring:
        return (
            f"above the {format_rate(ring)} where NCCL's rings end: no error, the switch did part of the work "
            "(in-network reduction: NVLS, SHARP) or copy engines moved the data"
        )
    return "" if model.proved else "the path is not proved: the share means something only if it is this link"
