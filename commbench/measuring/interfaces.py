"""Proof of the path where the library logs none (gloo): how many bytes crossed each network interface meanwhile.

The kernel counts them for every interface of the network that a process lives in, the loopback included. RDMA passes
these counters by, so they prove TCP and nothing else.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from commbench.collectives import COLLECTIVES
from commbench.sweepfile.records import Measurement, Record

Counters = Mapping[str, tuple[int, int]]
"""By interface: bytes received and sent since it was made."""

_NEARLY_ALL = 0.9  # of a host's bytes, for an interface to be the path: the launcher's own traffic may take another
# Of the message bytes of the samples, in each direction, over all hosts: an all_gather among two receives half of each
# message, and warm-up, checks and calibration come on top. Less than half of that was somewhere else.
_LEAST = 0.25


class HostTraffic(NamedTuple):
    """One host's counters before and after."""

    host: str
    before: Counters
    after: Counters


def counters(file: Path = Path("/proc/self/net/dev")) -> dict[str, tuple[int, int]]:
    """The counters now; empty where the kernel does not tell."""
    try:
        lines = file.read_text(errors="replace").splitlines()
    except OSError:
        return {}
    found = {}
    for line in lines:
        name, colon, rest = line.partition(":")
        words = rest.split()
        if colon and len(words) > 8 and words[0].isdecimal() and words[8].isdecimal():
            found[name.strip()] = int(words[0]), int(words[8])
    return found


def crossed(hosts: Sequence[HostTraffic]) -> tuple[dict[str, Any], ...]:
    """What crossed each interface: {"host", "interface", "received_bytes", "sent_bytes"}; silent ones are left out."""
    return tuple(
        {"host": host.host, "interface": name, "received_bytes": received, "sent_bytes": sent}
        for host in hosts
        for name, (received, sent) in _grown(host).items()
        if received or sent
    )


def proved_by(hosts: Sequence[HostTraffic], records: Sequence[Record]) -> tuple[str, ...] | None:
    """`tcp/eth0` of the interface that carried a host's messages, for all hosts; None where the counters do not say.

    Args:
        records: what was measured meanwhile; the interfaces must have carried its messages at least.
    """
    messages = sum(
        m.message_bytes * len(m.seconds) * (m.calls_per_sample or 1)
        for m in records
        if isinstance(m, Measurement) and m.collective in COLLECTIVES
    )
    names, received, sent = set(), 0, 0
    for host in hosts:
        grown = _grown(host)
        most = max(grown, key=lambda name: sum(grown[name]), default="")
        if not most or sum(grown[most]) < _NEARLY_ALL * sum(sum(both) for both in grown.values()):
            return None
        names.add(most)
        received, sent = received + grown[most][0], sent + grown[most][1]
    if not messages or min(received, sent) < _LEAST * messages:
        return None
    return tuple(sorted(f"tcp/{name}" for name in names))


def _grown(host: HostTraffic) -> dict[str, tuple[int, int]]:
    """Growth of each counter; an interface that was not there before, or was made anew, counts from 0."""
    zero = (0, 0)
    grown = {}
    for name, (received, sent) in host.after.items():
        old = host.before.get(name, zero)
        old = old if old[0] <= received and old[1] <= sent else zero
        grown[name] = received - old[0], sent - old[1]
    return grown
