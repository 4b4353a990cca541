"""The rendezvous endpoint: real sockets on loopback, and a stand-in for names and for remote hosts."""

import errno
import os
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from commbench.launching import rendezvous
from commbench.launching.findings import Finding
from commbench.launching.rendezvous import check_own_name, check_rendezvous

Names = Callable[[dict[str, str]], None]


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    """Make the name service know these names and no others; this machine is called "here"."""

    def know(table: dict[str, str]) -> None:
        def lookup(host: str, *_: Any, **__: Any) -> list[Any]:
            if host not in table:
                raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (table[host], 0))]

        monkeypatch.setattr(socket, "getaddrinfo", lookup)
        monkeypatch.setattr(socket, "gethostname", lambda: "here")
        monkeypatch.setattr(socket, "getfqdn", lambda: "here.example.org")

    return know


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


@pytest.fixture
def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _one(findings: list[Finding], check: str) -> Finding:
    (found,) = [finding for finding in findings if finding.check == check]
    return found


@pytest.mark.parametrize(
    "endpoint",
    ["", "node0", "node0:", ":29500", "node0:x", "node0:65536", "node0:-1", "a b:1", "::1:29500", "http://a:1"],
)
def test_an_endpoint_that_is_not_host_and_port(endpoint: str) -> None:
    finding = _one(check_rendezvous(endpoint, 1), "rendezvous endpoint")
    assert finding.level == "problem"
    assert repr(endpoint) in finding.found
    assert finding.fix


def test_a_free_port_of_this_machine(free_port: int) -> None:
    findings = check_rendezvous(f"127.0.0.1:{free_port}", 1)
    assert [finding.check for finding in findings] == ["rendezvous host", "rendezvous port", "own host name"]
    assert [finding.level for finding in findings[:2]] == ["ok", "ok"]


def test_a_port_left_in_time_wait_is_free(free_port: int) -> None:
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", free_port))
        listener.listen()
        client = socket.create_connection(("127.0.0.1", free_port))
        served, _ = listener.accept()
        served.close()  # closing first leaves this side in TIME_WAIT
        client.close()
    assert _one(check_rendezvous(f"127.0.0.1:{free_port}", 1), "rendezvous port").level == "ok"


def test_a_taken_port_of_this_machine(taken_port: int) -> None:
    finding = _one(check_rendezvous(f"127.0.0.1:{taken_port}", 1), "rendezvous port")
    assert finding.level == "problem"
    assert f"port {taken_port}" in finding.found
    assert "taken" in finding.found


def test_a_name_that_does_not_resolve(names: Names) -> None:
    names({"here": "127.0.0.1"})
    finding = _one(check_rendezvous("nowhere:29500", 2), "rendezvous host")
    assert finding.level == "problem"
    assert "nowhere does not resolve" in finding.found


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.1.1"])
def test_loopback_is_a_problem_only_for_several_nodes(names: Names, free_port: int, address: str) -> None:
    names({"here": address})
    assert all(finding.level == "ok" for finding in check_rendezvous(f"here:{free_port}", 1))
    findings = check_rendezvous(f"here:{free_port}", 2)
    assert _one(findings, "rendezvous host").level == "problem"
    assert address in _one(findings, "rendezvous host").found
    assert _one(findings, "own host name").level == "problem"


def test_gloos_interface_makes_the_own_name_unimportant(names: Names) -> None:
    names({"here": "127.0.1.1"})
    assert check_own_name(2, {}).level == "problem"
    assert check_own_name(2, {"GLOO_SOCKET_IFNAME": "eth0"}).level == "ok"


def test_an_own_name_that_does_not_resolve(names: Names) -> None:
    names({})
    assert check_own_name(1, {}).level == "warning"
    assert check_own_name(2, {}).level == "problem"
    assert "here does not resolve" in check_own_name(2, {}).found


def test_port_0_is_only_for_one_node(names: Names) -> None:
    names({"here": "127.0.0.1"})
    assert _one(check_rendezvous("here:0", 2), "rendezvous endpoint").level == "problem"
    assert _one(check_rendezvous("here:0", 1), "rendezvous port").level == "ok"


def test_an_address_of_this_machine_that_torchrun_does_not_know(
    names: Names, free_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    names({"here": "10.0.0.1", "alias": "10.0.0.1", "fast": "10.1.0.1", "10.1.0.1": "10.1.0.1"})
    monkeypatch.setattr(rendezvous, "_is_ours", lambda address: True)
    for endpoint in (f"fast:{free_port}", f"10.1.0.1:{free_port}"):
        problems = [finding for finding in check_rendezvous(endpoint, 2) if finding.level == "problem"]
        assert ["would not host the store" in finding.found for finding in problems] == [True]
    for endpoint in (f"here:{free_port}", f"alias:{free_port}"):
        assert all(finding.level == "ok" for finding in check_rendezvous(endpoint, 2))


@pytest.mark.parametrize(
    ("answer", "level", "words"),
    [
        (None, "ok", "something listens"),
        (ConnectionRefusedError(), "ok", "nothing listens on port 29500 of 10.0.0.9 yet"),
        (TimeoutError(), "problem", "no answer from port 29500 of 10.0.0.9 within 3.00 s"),
        (OSError(errno.EHOSTUNREACH, "No route to host"), "problem", "No route to host"),
    ],
)
def test_a_remote_endpoint(
    names: Names, monkeypatch: pytest.MonkeyPatch, answer: Exception | None, level: str, words: str
) -> None:
    names({"here": "10.0.0.1", "node0": "10.0.0.9"})
    monkeypatch.setattr(rendezvous, "_is_ours", lambda address: False)
    asked: list[tuple[Any, float]] = []

    def connect(address: Any, timeout: float) -> socket.socket:
        asked.append((address, timeout))
        if answer is not None:
            raise answer
        return socket.socket()

    monkeypatch.setattr(socket, "create_connection", connect)
    finding = _one(check_rendezvous("node0:29500", 2), "rendezvous port")
    assert finding.level == level
    assert words in finding.found
    assert asked == [(("10.0.0.9", 29500), 3.0)]


def test_a_reserved_port(names: Names, monkeypatch: pytest.MonkeyPatch) -> None:
    names({"here": "127.0.0.1", "node0": "10.0.0.9"})

    def refuse(*_: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(rendezvous, "_is_ours", lambda address: address.startswith("127."))
    assert _one(check_rendezvous("node0:80", 2), "rendezvous port").level == "warning"
    monkeypatch.setattr(rendezvous, "_listen", refuse)
    finding = _one(check_rendezvous("here:80", 1), "rendezvous port")
    assert finding.level == "problem"
    assert "user 1000" in finding.found


def test_addresses_of_this_machine_are_known() -> None:
    assert rendezvous._is_ours("127.0.0.1")
    assert not rendezvous._is_ours("192.0.2.1")  # TEST-NET-1 belongs to nobody
