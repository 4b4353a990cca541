"""Link peaks are found by the names that nvidia-smi prints."""

import pytest

from commbench.modelling.links import PCIE_X16, LinkPeak, link_peak


@pytest.mark.parametrize(
    ("gigabytes_per_second", "ring", "device"),
    [
        (450.0, 370.8, "NVIDIA H200"),
        (450.0, 370.8, "NVIDIA H100 80GB HBM3"),
        (450.0, 370.8, "NVIDIA H20"),
        (450.0, 370.8, "NVIDIA GH200 480GB"),
        (300.0, 240.0, "NVIDIA A100-SXM4-80GB"),
        (200.0, 160.0, "NVIDIA A800-SXM4-80GB"),
        (200.0, 164.8, "NVIDIA H800"),
        (900.0, 721.8, "NVIDIA B200"),
        (900.0, 721.8, "NVIDIA GB200"),
        (150.0, 120.0, "Tesla V100-SXM2-32GB"),
    ],
)
def test_a_module_has_the_peak_of_its_nvlinks(gigabytes_per_second: float, ring: float, device: str) -> None:
    peak = _known(device)
    assert (gigabytes_per_second * 1e9, ring * 1e9) == (peak.bytes_per_second, peak.ring_bytes_per_second)


@pytest.mark.parametrize(
    ("generation", "device"),
    [
        (5, "NVIDIA H100 PCIe"),
        (5, "NVIDIA H100 NVL"),
        (5, "NVIDIA H200 NVL"),
        (4, "NVIDIA A100-PCIE-40GB"),
        (4, "NVIDIA A100 80GB PCIe"),
        (3, "Tesla V100-PCIE-32GB"),
        (3, "Tesla T4"),
        (4, "NVIDIA L40S"),
        (4, "NVIDIA RTX 6000 Ada Generation"),
        (5, "NVIDIA RTX PRO 6000 Blackwell Server Edition"),
        (4, "NVIDIA GeForce RTX 4090"),
        (5, "NVIDIA GeForce RTX 5090"),
        (4, "NVIDIA GeForce RTX 3090"),
    ],
)
def test_a_card_has_the_peak_of_its_slot(generation: int, device: str) -> None:
    assert PCIE_X16[generation] == _known(device).bytes_per_second


def test_the_bridge_of_an_rtx_3090_is_four_links_of_14_gigabytes_per_second() -> None:
    assert _known("NVIDIA GeForce RTX 3090").bridge_bytes_per_second == 56.25e9


def test_an_rtx_4090_takes_no_bridge() -> None:
    assert _known("NVIDIA GeForce RTX 4090").bridge_bytes_per_second is None


@pytest.mark.parametrize("device", ["", "Some CPU", "NVIDIA H100 80GB HBM3 MIG 1g.10gb", "NVIDIA X1000"])
def test_nothing_is_said_of_a_device_without_known_links(device: str) -> None:
    assert link_peak(device) is None


def test_every_peak_names_its_source() -> None:
    assert "H200" in _known("NVIDIA H200").source


def _known(device: str) -> LinkPeak:
    peak = link_peak(device)
    assert peak is not None
    return peak
