"""Which device a header names; files of others hold anything there."""

from typing import Any

import pytest

from commbench.showing.peak import device_name

from .sweeps import point, sweep


@pytest.mark.parametrize(
    ("name", "device"),
    [
        ("NVIDIA H200", "NVIDIA H200"),
        ("NVIDIA H200", ["NVIDIA H200"] * 8),
        (None, ["NVIDIA H200", "NVIDIA A100"]),
        (None, []),
        (None, None),
        (None, 7),
        (None, {"name": "NVIDIA H200"}),
        (None, [["NVIDIA H200"]]),
        (None, [{"name": "NVIDIA H200"}, {"name": "NVIDIA H200"}]),
    ],
)
def test_a_device_is_known_where_the_header_names_one(name: str | None, device: Any) -> None:
    """One name, or the same name for every rank; whatever else a file holds there names none and raises nothing."""
    assert name == device_name(sweep(point(), environment={"device": device}))
