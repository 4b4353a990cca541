"""Is a bus bandwidth above what the links carry, and why can that be?

Bus bandwidth assumes that every rank sends what a ring would make it send. Where the switch does the sums (NVLS,
SHARP) an all-reduce sends each byte once instead of 2(n-1)/n times: bus bandwidth may then pass the link's peak, and
only an algorithm bandwidth above the peak is impossible. No other collective sends less than its bus factor says.
"""

from collections.abc import Iterator, Sequence

from commbench.modelling.links import LinkPeak, link_peak
from commbench.showing.rows import Row
from commbench.showing.warning import ResultWarning, of
from commbench.sweepfile.reader import Sweep
from commbench.units import format_rate

_ABOVE_RING = 1.05  # 372 GB/s were seen on rings that NCCL's model ends at 371
_ABOVE_PEAK = 1.01  # a clock's error


def above_peak(sweep: Sweep, rows: Sequence[Row]) -> Iterator[ResultWarning]:
    """Warnings about rates above the link of the header's device; none for an unknown device or shared ones."""
    device = device_name(sweep)
    peak = link_peak(device) if device else None
    if peak is None or sweep.header.settings.get("shared_device") is True or (sweep.header.world_size or 0) < 2:
        return
    carries = max(peak.bytes_per_second, peak.bridge_bytes_per_second or 0.0)
    limit = _ABOVE_PEAK * carries
    impossible = [row for row in rows if _sent_rate(row) > limit]
    if impossible:
        yield _impossible(peak, carries, impossible, len(rows))
    ring = peak.ring_bytes_per_second
    helped = [row for row in rows if ring and (row.busbw or 0.0) > _ABOVE_RING * ring and _sent_rate(row) <= limit]
    if ring and helped:
        yield _helped(sweep, peak, ring, helped, len(rows))


def device_name(sweep: Sweep) -> str | None:
    """The name of the sweep's GPUs, None when the header says nothing or names several."""
    device = sweep.header.environment.get("device")
    first, *others = device if isinstance(device, list | tuple) and device else [device]
    return first if isinstance(first, str) and all(other == first for other in others) else None


def _sent_rate(row: Row) -> float:
    """The least rate at which a rank must have sent or received (bytes per second), whoever does the sums."""
    rates = (row.algbw, row.busbw) if row.collective == "all_reduce" else (row.busbw,)
    return min((rate or 0.0 for rate in rates), default=0.0)


def _impossible(peak: LinkPeak, carries: float, above: Sequence[Row], total: int) -> ResultWarning:
    worst = max(above, key=_sent_rate)
    bridged = " with an NVLink bridge" if peak.bridge_bytes_per_second else ""
    return ResultWarning(
        "above-peak",
        f"busbw is above the link's peak of {format_rate(carries)} ({peak.name}{bridged}) in {of(above, total)} "
        f"(worst: {worst.words}, {format_rate(worst.busbw or 0.0)})",
        "not all of it crossed the link: data that stayed in a cache or on the device, a call that did less than it "
        "should, a clock read before the end, or a wrong number of ranks in the bus factor",
        "check the results (-c 1), rotate the buffers (--buffers rotate), and look at the proved path",
    )


def _helped(sweep: Sweep, peak: LinkPeak, ring: float, above: Sequence[Row], total: int) -> ResultWarning:
    worst = max(above, key=lambda row: row.busbw or 0.0)
    variables = sweep.header.environment.get("variables")
    off = isinstance(variables, dict) and str(variables.get("NCCL_NVLS_ENABLE", "")) == "0"
    reason = (
        "NVLS is off here (NCCL_NVLS_ENABLE=0), so copy engines or another algorithm than the ring did it"
        if off
        else "the switch did part of the work (in-network reduction: NVLS, SHARP), or copy engines moved the data"
    )
    return ResultWarning(
        "above-ring",
        f"busbw is above the {format_rate(ring)} where NCCL's rings end on {peak.name} "
        f"({format_rate(peak.bytes_per_second)} a direction) in {of(above, total)} "
        f"(highest: {worst.words}, {format_rate(worst.busbw or 0.0)})",
        f"no error: {reason}. busbw counts what a ring would send, so it is then not what crossed the link",
        "compare it with runs of the same algorithm only; NCCL_DEBUG=INFO names the algorithm",
    )
