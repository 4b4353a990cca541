"""What links can carry, in bytes per second per direction per GPU (or port): limits, never results.

`bytes_per_second` is the data sheet's figure (which states both directions together, so half of it).
`ring_bytes_per_second` is where NCCL's own topology model sees the end of a ring: links times the per-link rate of
its `src/graph/topo.h` (Volta and Ampere 20, Hopper 20.6, Blackwell 40.1, GA102 12 GB/s).

Sources, all public:
    NVIDIA data sheets: Tesla P100, V100, T4, A10, A30, A40, A100, A800, L4, L40S, H20, H100, H200 (SXM, PCIe and NVL),
        GH200, B200, B300; NVIDIA GA102, Ada and Blackwell RTX whitepapers
        (an RTX 3090's bridge is 4 links of 14.0625 GB/s; pages that claim 600 GB/s for it are wrong).
    NCCL 2.30, src/graph/topo.h.
    Seen on one node: A100 234.9, H200 367.6 (ring) and 482.3 (NVLS), B200 682 and 838 GB/s all-reduce bus bandwidth
        (stas00/ml-engineering, network/README); H100 ~370 and ~480 (NVIDIA/nccl-tests issue 212).
    PCI-SIG: lane rates 8, 16, 32 GT/s with 128b/130b coding, 64 GT/s with FLITs. IBTA: 4x ports.
"""

import re
from dataclasses import dataclass

_GB = 1e9

PCIE_X16 = {3: 15.75 * _GB, 4: 31.5 * _GB, 5: 63.0 * _GB, 6: 121.0 * _GB}
"""Bytes per second per direction of 16 lanes, by PCIe generation, after line coding and before packet headers."""

NETWORK_PORT = {"EDR": 12.5 * _GB, "HDR": 25.0 * _GB, "NDR": 50.0 * _GB, "XDR": 100.0 * _GB}
"""Bytes per second per direction of one 4x InfiniBand port; 100, 200, 400 and 800 Gbit/s Ethernet alike."""


@dataclass(frozen=True)
class LinkPeak:
    """The most that the links of one GPU carry in one direction.

    Attributes:
        name: the link, in words for a table or a caption.
        bytes_per_second: the data sheet's rate per direction.
        ring_bytes_per_second: where NCCL's rings end, None where its model names no figure.
        source: where the figures stand.
        bridge_bytes_per_second: for a PCIe card that may carry an NVLink bridge (its name does not tell), that
            bridge's rate; None where there is no such bridge.
    """

    name: str
    bytes_per_second: float
    ring_bytes_per_second: float | None
    source: str
    bridge_bytes_per_second: float | None = None


def _nvlink(name: str, peak: float, ring: float | None, sheet: str) -> LinkPeak:
    source = f"NVIDIA {sheet} data sheet" + ("; NCCL src/graph/topo.h" if ring else "")
    return LinkPeak(name, peak * _GB, ring * _GB if ring else None, source)


def _pcie(generation: int, sheet: str, bridge: float | None = None) -> LinkPeak:
    name = f"PCIe gen{generation} x16"
    return LinkPeak(
        name, PCIE_X16[generation], None, f"PCI-SIG; NVIDIA {sheet}", bridge_bytes_per_second=bridge and bridge * _GB
    )


# Tried from the top, so a PCIe card of a family stands before the SXM module that has the shorter name.
_PCIE_FORM = r"(?=.*(PCIE|HBM2E))"
_PEAKS: tuple[tuple[str, LinkPeak], ...] = (
    (r"\bP100-SXM2\b", _nvlink("NVLink 1, 4 links", 80, None, "Tesla P100")),
    (r"\bP100\b", _pcie(3, "Tesla P100 data sheet")),
    (r"(?=.*PCIE)\bV100", _pcie(3, "V100 data sheet")),
    (r"\bV100S?\b", _nvlink("NVLink 2, 6 links", 150, 120, "V100")),
    (r"(?=.*PCIE)\bA100\b", _pcie(4, "A100 data sheet", 300)),
    (r"\bA100\b", _nvlink("NVLink 3, 12 links", 300, 240, "A100")),
    (r"(?=.*PCIE)\bA800\b", _pcie(4, "A800 data sheet", 200)),
    (r"\bA800\b", _nvlink("NVLink 3, 8 links", 200, 160, "A800")),
    (rf"{_PCIE_FORM}\bH100\b", _pcie(5, "H100 data sheet", 300)),
    (r"\bH100 NVL\b", _pcie(5, "H100 NVL data sheet", 300)),
    (r"\bG?H100\b", _nvlink("NVLink 4, 18 links", 450, 370.8, "H100")),
    (r"(?=.*PCIE)\bH800\b", _pcie(5, "H800 data sheet", 200)),
    (r"\bH800\b", _nvlink("NVLink 4, 8 links", 200, 164.8, "H800")),
    (r"\bH200 NVL\b", _pcie(5, "H200 NVL data sheet", 450)),
    (r"\bG?H200\b", _nvlink("NVLink 4, 18 links", 450, 370.8, "H200")),
    (r"\bH20\b", _nvlink("NVLink 4, 18 links", 450, 370.8, "H20")),
    (r"\bG?B[23]00\b", _nvlink("NVLink 5, 18 links", 900, 721.8, "Blackwell")),
    (r"\bT4\b", _pcie(3, "T4 data sheet")),
    (r"\b(L4|L40S?|A10|A16)\b", _pcie(4, "data sheet of the card")),
    (r"\bA30\b", _pcie(4, "A30 data sheet", 100)),
    (r"\b(A40|RTX A[56]000)\b", _pcie(4, "data sheet of the card", 56.25)),
    (r"\bRTX [456]000 ADA\b", _pcie(4, "Ada whitepaper")),
    (r"\bRTX PRO [456]000\b", _pcie(5, "RTX Blackwell whitepaper")),
    (r"\bGEFORCE RTX 50\d\d\b", _pcie(5, "RTX Blackwell whitepaper")),
    (r"\bGEFORCE RTX 40\d\d\b", _pcie(4, "Ada whitepaper")),
    (r"\bRTX 3090\b", _pcie(4, "GA102 whitepaper", 56.25)),
    (r"\bRTX 30\d\d\b", _pcie(4, "GA102 whitepaper")),
)


# Which PCIe generation joins a module to its host; a PCIe card's own row says it.
_HOST_GENERATION = (
    (r"\b(P100|V100S?)\b", 3),
    (r"\b(A100|A800)\b", 4),
    (r"\b(H100|H800|H200|H20|B200)\b", 5),
)


def host_peak(device_name: str) -> LinkPeak | None:
    """The PCIe link between the GPU with this name and its host, over which data goes that no GPU reads directly.

    None for a device that is not in the table. A Grace superchip (GH200) has NVLink-C2C there instead.
    """
    peak, name = link_peak(device_name), device_name.upper()
    if peak is None or re.search(r"\bG(H|B)\d00\b", name):
        return None
    if peak.name.startswith("PCIe"):
        return peak
    generation = next((generation for pattern, generation in _HOST_GENERATION if re.search(pattern, name)), None)
    return _pcie(generation, "data sheet of the module") if generation else None


def link_peak(device_name: str) -> LinkPeak | None:
    """The peak of the links of the GPU with this name, as nvidia-smi prints it (`NVIDIA A100-SXM4-80GB`).

    None for a device that is not in the table, and for a MIG slice, which has no links of its own.
    """
    name = device_name.upper()
    if re.search(r"\bMIG\b", name):
        return None
    return next((peak for pattern, peak in _PEAKS if re.search(pattern, name)), None)
