"""Counters of network interfaces as proof of a path."""

from pathlib import Path

from commbench.measuring.interfaces import HostTraffic, counters, crossed, proved_by
from tests.sweepfile.building import measurement

MESSAGES = [measurement(message_bytes=1 << 20, seconds=(1e-3,) * 10, fastest_seconds=None)]  # 10 MiB


def host(name: str, **grown: int) -> HostTraffic:
    """A host on whose interfaces so many bytes went both ways."""
    return HostTraffic(name, dict.fromkeys(grown, (100, 100)), {i: (100 + n, 100 + n) for i, n in grown.items()})


def test_the_kernels_table_is_read(tmp_path: Path) -> None:
    file = tmp_path / "dev"
    file.write_text(
        "Inter-|   Receive                                                |  Transmit\n"
        " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs\n"
        "    lo: 1000       2    0    0    0     0          0         0     3000       4    0\n"
        "  eth0:55 2 0 0 0 0 0 0 66 1 0\n"
    )
    assert counters(file) == {"lo": (1000, 3000), "eth0": (55, 66)}


def test_this_machine_has_a_loopback() -> None:
    assert "lo" in counters()


def test_without_a_table_there_are_no_counters(tmp_path: Path) -> None:
    assert counters(tmp_path / "none") == {}


def test_the_interface_that_carried_the_messages_is_the_path() -> None:
    hosts = [host("a", lan0=12 << 20, lan1=5000), host("b", lan0=12 << 20, lan1=5000)]
    assert proved_by(hosts, MESSAGES) == ("tcp/lan0",)


def test_too_few_bytes_prove_nothing() -> None:
    """10 MiB of messages and 100 kB on the wire: they went another way."""
    assert proved_by([host("a", lan0=100_000), host("b", lan0=100_000)], MESSAGES) is None


def test_two_busy_interfaces_prove_nothing() -> None:
    assert proved_by([host("a", lan0=12 << 20, lan1=12 << 20)], MESSAGES) is None


def test_nothing_measured_proves_nothing() -> None:
    assert proved_by([host("a", lan0=12 << 20)], []) is None


def test_a_silent_interface_is_left_out() -> None:
    assert crossed([host("a", lan0=7, lan1=0)]) == (
        {"host": "a", "interface": "lan0", "received_bytes": 7, "sent_bytes": 7},
    )


def test_an_interface_made_anew_counts_from_zero() -> None:
    (found,) = crossed([HostTraffic("a", {"lan0": (900, 900)}, {"lan0": (50, 60)})])
    assert (found["received_bytes"], found["sent_bytes"]) == (50, 60)
