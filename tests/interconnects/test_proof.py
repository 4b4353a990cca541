"""Whether a setting took, judged from what a sweep file holds."""

from typing import Any

import pytest

from commbench.interconnects.proof import doubts
from commbench.launching.settings import SETTINGS, Setting, parse_settings
from commbench.sweepfile.reader import Sweep
from commbench.sweepfile.records import MachineState, Transport
from tests.sweepfile.building import header, measurement

H200 = {"name": "NVIDIA H200", "nvlink": {"links": 18, "links_active": 18}}
PCIE = {"name": "NVIDIA L40S", "nvlink": None}


def sweep(
    setting: Setting,
    *paths: str,
    devices: tuple[dict[str, Any], ...] = (H200, H200),
    variables: dict[str, str] | None = None,
    hosts: tuple[int, ...] = (2,),
    interfaces: tuple[dict[str, Any], ...] = (),
    **environment: Any,
) -> Sweep:
    """A sweep whose ranks have the setting's variables, and talk over `paths`."""
    pairs = tuple({"from": i, "to": i + 1, "path": path} for i, path in enumerate(paths))
    proved = sorted({path.partition("/")[0] if not interfaces else path for path in paths})
    head = header(
        ranks_per_host=hosts,
        backend="gloo" if interfaces else "nccl",
        environment={"variables": dict(setting.variables if variables is None else variables), **environment},
        transport={"setting": setting.name, "proved": proved or None, "pairs": pairs},
    )
    state = MachineState(sweep=head.sweep, moment="before", devices=devices)
    transport = Transport(sweep=head.sweep, interfaces=interfaces)
    return Sweep(head, (measurement(),), transports=(transport,), states=(state,) if devices else ())


@pytest.mark.parametrize(
    ("name", "path", "devices"),
    [
        ("nvlink", "P2P/direct", (H200,)),
        ("host", "SHM/direct/direct", (H200,)),
        ("network", "NET/Socket/0", (H200,)),
        ("pcie-p2p", "P2P/IPC", (PCIE,)),
        ("sm", "sm", ()),
        ("tcp", "tcp", ()),
    ],
)
def test_what_took_leaves_no_doubt(name: str, path: str, devices: tuple[dict[str, Any], ...]) -> None:
    assert doubts(SETTINGS[name], sweep(SETTINGS[name], path, devices=devices)) == ()


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("nvlink", "SHM/direct/direct"),
        ("host", "P2P/direct"),
        ("host", "NET/IB/0"),
        ("network", "SHM/direct/direct"),
        ("sm", "tcp"),
        ("tcp", "sm"),
    ],
)
def test_another_path_is_named(name: str, path: str) -> None:
    (doubt,) = doubts(SETTINGS[name], sweep(SETTINGS[name], path))
    assert f"{name} did not take: 0 -> 1 via {path}" in doubt.reason


def test_one_pair_on_another_path_is_enough() -> None:
    (doubt,) = doubts(SETTINGS["host"], sweep(SETTINGS["host"], "SHM/direct", "SHM/direct", "P2P/direct"))
    assert doubt.found == "2 -> 3 via P2P/direct"


def test_between_hosts_there_is_only_the_network() -> None:
    assert doubts(SETTINGS["host"], sweep(SETTINGS["host"], "SHM/direct", "NET/IB/0", hosts=(2, 2))) == ()


def test_no_log_proves_nothing() -> None:
    (doubt,) = doubts(SETTINGS["host"], sweep(SETTINGS["host"]))
    assert "not proved" in doubt.reason


@pytest.mark.parametrize(("name", "devices"), [("nvlink", (PCIE,)), ("pcie-p2p", (H200,))])
def test_peer_access_over_the_wrong_link_is_no_proof(name: str, devices: tuple[dict[str, Any], ...]) -> None:
    (doubt,) = doubts(SETTINGS[name], sweep(SETTINGS[name], "P2P/direct", devices=devices))
    assert "did not take" in doubt.reason


def test_peer_access_over_an_unknown_link_is_no_proof() -> None:
    (doubt,) = doubts(SETTINGS["nvlink"], sweep(SETTINGS["nvlink"], "P2P/direct", devices=()))
    assert "nothing says over what" in doubt.reason


def test_multicast_must_show_in_the_log() -> None:
    (doubt,) = doubts(SETTINGS["nvls"], sweep(SETTINGS["nvls"], "P2P/direct"))
    assert "the log shows no NVLS" in doubt.reason


def test_multicast_in_the_log_is_proof() -> None:
    assert doubts(SETTINGS["nvls"], sweep(SETTINGS["nvls"], "P2P/direct", "NVLS")) == ()


@pytest.mark.parametrize(("name", "path"), [("nvlink", "P2P/direct"), ("host", "SHM/direct")])
def test_multicast_beside_another_path_is_no_such_setting(name: str, path: str) -> None:
    (doubt,) = doubts(SETTINGS[name], sweep(SETTINGS[name], path, "NVLS"))
    assert "multicast is set up" in doubt.reason


def test_a_variable_that_did_not_reach_the_ranks_is_named() -> None:
    own, _ = parse_settings(["mine:NCCL_ALGO=Tree,host"])
    (doubt,) = doubts(own, sweep(own, "P2P/direct", variables={"NCCL_ALGO": "Ring"}))
    assert (doubt.expected, doubt.found) == ("NCCL_ALGO=Tree on every rank", "NCCL_ALGO=Ring")


def test_a_variable_that_reached_some_ranks_is_named() -> None:
    own, _ = parse_settings(["mine:NCCL_ALGO=Tree,host"])
    apart = {"NCCL_ALGO": [{"value": "Tree", "ranks": [0]}, {"value": None, "ranks": [1]}]}
    (doubt,) = doubts(own, sweep(own, "P2P/direct", variables_differ=apart))
    assert doubt.found == "Tree on rank 0; not set on rank 1"


def test_a_variable_that_files_never_hold_cannot_be_missed() -> None:
    own, _ = parse_settings(["mine:MY_OWN=1,host"])
    assert doubts(own, sweep(own, "P2P/direct", variables={})) == ()


SLOW = parse_settings(["slow:GLOO_SOCKET_IFNAME=lan1,host"])[0]
COUNT = ({"host": "a", "interface": "lan1", "received_bytes": 5, "sent_bytes": 5},)


def test_bytes_on_the_named_interface_are_proof() -> None:
    assert doubts(SLOW, sweep(SLOW, "tcp/lan1", interfaces=COUNT)) == ()


def test_bytes_on_another_interface_are_not() -> None:
    (doubt,) = doubts(SLOW, sweep(SLOW, "tcp/lan0", interfaces=COUNT))
    assert "the bytes crossed tcp/lan0" in doubt.reason


def test_nothing_measured_proves_nothing() -> None:
    empty = sweep(SETTINGS["sm"], "sm")
    (doubt,) = doubts(SETTINGS["sm"], Sweep(empty.header))
    assert "nothing was measured" in doubt.reason
