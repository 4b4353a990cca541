"""The launches of `commbench accept --launch` run as the user's own shell would run them."""

import sys
from pathlib import Path

import pytest

from commbench.accept import launch_lines, wanted
from commbench.errors import UsageError
from commbench.judging.limits import parse_limits
from commbench.launching.lines import parse_launch
from tests.judging.limits_files import TIME, limits_text

LIMITS = Path("examples/two-h200.limits.toml")


def test_a_launch_inherits_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without PATH the launcher is not even found; without NCCL_* another machine is measured."""
    monkeypatch.setenv("PATH", "/site/bin")
    monkeypatch.setenv("NCCL_SOCKET_IFNAME", "ib0")
    launcher = parse_launch("torchrun --standalone --nproc-per-node 2")
    limits = parse_limits(LIMITS.read_bytes())
    lines = [line for _, line in launch_lines(limits, launcher, "commbench.sweep", tmp_path, 1, sys.executable)]
    assert {(line.environment["PATH"], line.environment["NCCL_SOCKET_IFNAME"]) for line in lines} == {
        ("/site/bin", "ib0")
    }


RANGE = TIME.replace('size = "2M"', 'sizes = "1M..4M"')


@pytest.mark.parametrize(("size", "sweeps"), [("2M", 1), ("8M", 2), ("3M", 2)])
def test_a_size_inside_a_range_is_measured_once(size: str, sweeps: int) -> None:
    """Measured by two sweeps it would count as two launches, whose interval spans a factor of hundreds."""
    text = limits_text(limit=RANGE + TIME.replace("2M", size)).replace("{bound}", "3 ms")
    assert len(wanted(parse_limits(text.encode()))) == sweeps


def test_the_last_size_is_measured_although_the_factor_misses_it() -> None:
    """`-b 3M -e 16M -f 2` ends at 12 MiB."""
    text = limits_text().replace('size = "2M"', 'sizes = "3M..16M"')
    assert [one.sizes for one in wanted(parse_limits(text.encode()))] == [(3 << 20, 12 << 20), (16 << 20, 16 << 20)]


def test_a_factor_that_no_sweep_knows_is_refused() -> None:
    text = limits_text().replace('size = "2M"', 'sizes = "1M..16M"\nfactor = 1.5')
    with pytest.raises(UsageError, match="whole"):
        wanted(parse_limits(text.encode()))
