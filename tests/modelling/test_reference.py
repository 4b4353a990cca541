"""What a link can carry, beside what a fit found."""

from typing import Any

import pytest

from commbench.modelling.links import host_peak
from commbench.modelling.model import Model
from commbench.modelling.reference import reference
from tests.modelling.building import SIZES, about, model

H200 = {"device": "NVIDIA H200"}


def fitted(rate: float, **header: Any) -> Model:
    """8 H200, bus factor 7/4."""
    return model(lambda size: 1e-5 + size / rate, SIZES, environment=H200, **header)


def test_nvlink_is_the_reference_of_a_peer_path() -> None:
    """450 GB/s of an H200; 315 of them are 70 %."""
    found = reference(fitted(180e9, transport={"proved": ["P2P"]}))
    assert found is not None
    assert (found.bytes_per_second, found.share, found.note) == (450e9, about(0.7), "")


def test_pcie_is_the_reference_of_a_path_through_host_memory() -> None:
    found = reference(fitted(18e9, transport={"proved": ["SHM"]}))
    assert found is not None
    assert (found.link, found.share) == ("PCIe gen5 x16", about(31.5 / 63))


def test_above_the_ring_is_explained_and_no_error() -> None:
    """480 GB/s of bus bandwidth is what NVLS gives 8 H200."""
    found = reference(fitted(480e9 * 4 / 7, transport={"proved": ["P2P"]}))
    assert found is not None
    assert "no error" in found.note
    assert "NVLS" in found.note


def test_more_than_the_link_carries_is_told() -> None:
    found = reference(fitted(2000e9, transport={"proved": ["P2P"]}))
    assert found is not None
    assert "more than the link carries" in found.note


@pytest.mark.parametrize(
    "header",
    [{"transport": {"proved": ["NET/Socket"]}}, {"transport": {"proved": ["NET"]}}, {"ranks_per_host": (4, 4)}],
)
def test_a_network_has_no_reference(header: dict[str, Any]) -> None:
    """Its rate stands in no sweep file."""
    assert reference(fitted(10e9, **header)) is None


def test_an_unproved_path_is_told() -> None:
    found = reference(fitted(180e9))
    assert found is not None
    assert "not proved" in found.note


@pytest.mark.parametrize(
    ("device", "link"),
    [("NVIDIA A100-SXM4-80GB", "PCIe gen4 x16"), ("NVIDIA H100 80GB HBM3", "PCIe gen5 x16"),
     ("NVIDIA GH200 480GB", None), ("NVIDIA GeForce RTX 4090", "PCIe gen4 x16"), ("CPU", None)],
)  # fmt: skip
def test_the_link_to_the_host(device: str, link: str | None) -> None:
    peak = host_peak(device)
    assert (peak.name if peak else None) == link
