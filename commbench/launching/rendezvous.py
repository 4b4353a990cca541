"""What fails inside torchrun before we start: the rendezvous endpoint, looked at from this machine.

Each check mirrors torchrun (torch 2.13): the endpoint's syntax, TCPStore's listening socket, and the rule by which an
agent decides that it hosts the store (`_matches_machine_hostname`), without importing torch.
"""

import errno
import ipaddress
import os
import re
import socket
from collections.abc import Mapping, Sequence

from commbench.launching.findings import Finding
from commbench.units import format_seconds

__all__ = ["Finding", "check_own_name", "check_rendezvous"]

CONNECT_SECONDS = 3.0
_LOOPBACK_FIX = (
    "name an address that other nodes reach: put this host's real address into /etc/hosts instead of 127.0.1.1,"
    " or give the IP address of node 0 in HOST:PORT"
)


def check_rendezvous(
    endpoint: str,
    nodes: int,
    *,
    environ: Mapping[str, str] | None = None,
    connect_seconds: float = CONNECT_SECONDS,
) -> list[Finding]:
    """Check an endpoint that goes to `torchrun --rdzv-backend c10d --rdzv-endpoint`.

    Args:
        endpoint: HOST:PORT, an IPv6 address in brackets.
        nodes: how many nodes take part.
        environ: the environment; GLOO_SOCKET_IFNAME makes this host's own name unimportant.
        connect_seconds: how long to wait for a remote endpoint.
    """
    own_name = check_own_name(nodes, environ or {})
    parsed = _parse(endpoint)
    if parsed is None:
        fix = "write it as node0:29500, 10.0.0.1:29500 or [fe80::1]:29500"
        return [Finding("problem", "rendezvous endpoint", f"{endpoint!r} is not HOST:PORT", fix), own_name]
    host, port = parsed
    if port == 0 and nodes > 1:
        found = f"port 0 of {endpoint} is a different free port on each of {nodes} nodes"
        return [Finding("problem", "rendezvous endpoint", found, "name one port, such as 29500"), own_name]
    try:
        addresses = _addresses(host)
    except OSError as problem:
        found = f"{host} does not resolve on this machine ({problem.strerror or problem})"
        fix = "use a name that every node resolves, or the IP address of node 0"
        return [Finding("problem", "rendezvous host", found, fix), own_name]
    findings = [_check_host(host, addresses, nodes)]
    if any(_is_ours(address) for address in addresses):
        findings += [*_check_recognised(host, addresses, nodes), _check_listening(port)]
    else:
        findings.append(_check_reach(addresses[0], port, connect_seconds))
    return [*findings, own_name]


def check_own_name(nodes: int, environ: Mapping[str, str]) -> Finding:
    """Check that this machine's own name leads other nodes here: gloo and torchrun give it to them."""
    name = socket.gethostname()
    try:
        addresses = _addresses(name)
    except OSError as problem:
        found = f"{name} does not resolve on this machine itself ({problem.strerror or problem})"
        return Finding(
            "problem" if nodes > 1 else "warning", "own host name", found, f"add {name} to /etc/hosts or DNS"
        )
    found = f"{name} is {', '.join(addresses)}"
    loopback = [address for address in addresses if _is_loopback(address)]
    if nodes < 2 or not loopback:
        return Finding("ok", "own host name", found)
    if "GLOO_SOCKET_IFNAME" in environ:
        return Finding("ok", "own host name", f"{found}; gloo uses GLOO_SOCKET_IFNAME={environ['GLOO_SOCKET_IFNAME']}")
    found += f", so that {nodes} nodes would be told to find this one at {loopback[0]}, themselves"
    fix = f"put the real address of {name} into /etc/hosts, or set GLOO_SOCKET_IFNAME to its network interface"
    return Finding("problem", "own host name", found, fix)


def _parse(endpoint: str) -> tuple[str, int] | None:
    # torchrun also takes a bare HOST and then a port of its own choice, which differs between its versions.
    match = re.fullmatch(r"(?:\[([0-9A-Fa-f:.%\w]+)\]|([\w.-]+)):([0-9]{1,5})", endpoint.strip(), re.ASCII)
    if match is None or int(match[3]) >= 1 << 16:
        return None
    return match[1] or match[2], int(match[3])


def _addresses(host: str) -> tuple[str, ...]:
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


def _is_loopback(address: str) -> bool:
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


def _is_ours(address: str) -> bool:
    """Whether an address belongs to this machine: only then can a socket be bound to it."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.bind((address, 0))
    except OSError:
        return False
    return True


def _check_host(host: str, addresses: Sequence[str], nodes: int) -> Finding:
    found = f"{host} is {', '.join(addresses)}" if list(addresses) != [host] else host
    loopback = [address for address in addresses if _is_loopback(address)]
    if nodes < 2 or not loopback:
        return Finding("ok", "rendezvous host", found)
    found += f": each of {nodes} nodes would meet itself at {loopback[0]} and wait for the others"
    return Finding("problem", "rendezvous host", found, _LOOPBACK_FIX)


def _check_recognised(host: str, addresses: Sequence[str], nodes: int) -> list[Finding]:
    """torchrun hosts the store only where it recognises the endpoint as its own name or address."""
    own = socket.gethostname()
    try:
        known = set(_addresses(own)) | {own, socket.getfqdn(), "localhost"}
    except OSError:
        known = {own, "localhost"}
    literal_loopback = host in addresses and _is_loopback(host)
    if nodes < 2 or literal_loopback or host in known or known & set(addresses):
        return []
    found = f"{host} is an address of this machine, but not of its name {own}: torchrun's c10d would not host the store"
    fix = f"use {own} in HOST:PORT if other nodes resolve it, or add --rdzv-conf is_host=1 here and is_host=0 elsewhere"
    return [Finding("problem", "rendezvous host", found, fix)]


def _check_listening(port: int) -> Finding:
    """Listen as TCPStore does: all addresses, both IP versions, SO_REUSEADDR."""
    where = f"port {port} of this machine"
    try:
        _listen(port)
    except OSError as problem:
        if problem.errno == errno.EACCES:
            found = f"{where} is reserved, user {os.geteuid()} may not listen on it"
            return Finding("problem", "rendezvous port", found, "choose a port of 1024 or more, such as 29500")
        if problem.errno == errno.EADDRINUSE:
            found = f"{where} is taken: another process listens on it, so a new rendezvous cannot start here"
            fix = f"choose another port, or end the old run (`ss -ltnp 'sport = :{port}'` shows whose it is)"
            return Finding("problem", "rendezvous port", found, fix)
        return Finding("problem", "rendezvous port", f"{where}: {problem.strerror}", "choose another port")
    return Finding("ok", "rendezvous port", f"{where} is free")


def _listen(port: int) -> None:
    # Only a kernel without IPv6 makes TCPStore fall back to IPv4.
    for family, everywhere in ((socket.AF_INET6, "::"), (socket.AF_INET, "0.0.0.0")):
        try:
            with socket.socket(family, socket.SOCK_STREAM) as listener:
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
                listener.bind((everywhere, port))
                listener.listen()
        except OSError as problem:
            if family == socket.AF_INET or problem.errno in (errno.EADDRINUSE, errno.EACCES):
                raise
        else:
            return


def _check_reach(address: str, port: int, seconds: float) -> Finding:
    check, where = "rendezvous port", f"port {port} of {address}"
    if 0 < port < 1024 and os.geteuid() != 0:
        return Finding("warning", check, f"{where} is reserved, only root may listen on it", "choose 1024 or more")
    try:
        with socket.create_connection((address, port), timeout=seconds):
            return Finding("ok", check, f"something listens on {where}")
    except ConnectionRefusedError:
        return Finding("ok", check, f"nothing listens on {where} yet (normal until node 0 has started)")
    except TimeoutError:
        found = f"no answer from {where} within {format_seconds(seconds)}: filtered or unreachable"
    except OSError as problem:
        found = f"{where} is filtered or unreachable ({problem.strerror})"
    return Finding("problem", check, found, "open the port in the firewall between the nodes, or check the address")
