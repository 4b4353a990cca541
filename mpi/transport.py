"""Proof of the path: the matrix that Open MPI prints at its start, read.

    Host 0 [node0] ranks 0 - 3
    Host 1 [node1] ranks 4 - 7

     host | 0   1
    ======|=========
        0 : sm  tcp
        1 : tcp sm

    Connection summary: (btl)
      on-host:  all connections are sm
      off-host: all connections are tcp

From 13 hosts on a letter stands for each path, with a key below; from 37 hosts on there is only the summary. Paths are
those between two ranks of a host and between hosts; a host with one rank reaches itself by `self`.
"""

import re
from dataclasses import dataclass

from commbench.measuring.nccl_log import Link

_HOST = re.compile(r"^Host (\d+) \[[^\]]*\] ranks (\d[^\n]*)$", re.MULTILINE)
_ROW = re.compile(r"^ *(\d+) : (\S[^\n]*)$", re.MULTILINE)
_KEY = re.compile(r"^key: (\S) == (\S[^\n]*)$", re.MULTILINE)
_UCX = re.compile(r"ucx\[ *(\d+)\]")
_UCX_ENTRY = re.compile(r"^ucx\[ *(\d+)\]:\n((?:    \S[^\n]*\n)+)", re.MULTILINE)
_ALL = re.compile(r"^  (on|off)-host: +all connections are (\S+)(?: or self)?$", re.MULTILINE)
_BLOCK = re.compile(
    r"^Host 0 \[[^\]]*\] ranks .*?^  off-host: [^\n]*\n(?:Exceptions:\n(?:  host [^\n]*\n)*)?\n?",
    re.MULTILINE | re.DOTALL,
)
_UNKNOWN = ("n/a", "self")


@dataclass(frozen=True)
class _Host:
    """The first two ranks of a host; one twice where it has one."""

    first: int
    second: int


def without_matrix(text: str) -> str:
    """What else was printed."""
    return _BLOCK.sub("", text)


def links(text: str, ranks: int) -> tuple[Link, ...]:
    """One link for each pair of hosts, and for each host, that have ranks below `ranks`.

    Returns:
        Links between the hosts' first ranks, and on each host between its first two (a rank alone with itself); none
        where the text holds no matrix.
    """
    block = _BLOCK.search(text)
    if block is None:
        return ()
    hosts = [_host(words) for _, words in sorted((int(number), words) for number, words in _HOST.findall(block[0]))]
    found = []
    for (source, target), path in _paths(block[0], len(hosts)).items():
        if source == target:
            first, second = hosts[source].first, hosts[source].second
            if second >= ranks and path not in _UNKNOWN:
                continue  # the path between two ranks, of which only one takes part
        else:
            first, second = hosts[source].first, hosts[target].first
        if path != "n/a" and max(first, second) < ranks:
            found.append(Link(first, second, path))
    return tuple(sorted(found))


def _host(words: str) -> _Host:
    """`0 - 3`, `0, 2, 4 - 7`, `5`."""
    first = int(re.split(r"[ ,]", words)[0])
    rest = re.match(rf"{first}(?: - |, )(\d+)", words)
    if rest is None:
        return _Host(first, first)
    return _Host(first, first + 1 if words.startswith(f"{first} - ") else int(rest[1]))


def _paths(block: str, hosts: int) -> dict[tuple[int, int], str]:
    """The path of each pair of hosts, the smaller number first."""
    rows = {int(number): _UCX.sub(r"ucx[\1]", words).split() for number, words in _ROW.findall(block)}
    if not rows:
        return _summary(block, hosts)
    names = dict(_KEY.findall(block))
    names |= {f"ucx[{number}]": _ucx(entries) for number, entries in _UCX_ENTRY.findall(block)}
    return {(i, j): names.get(path, path) for i, row in rows.items() for j, path in enumerate(row) if i <= j}


def _summary(block: str, hosts: int) -> dict[tuple[int, int], str]:
    """Only what holds for all pairs: where the library says "most", no pair is known."""
    every = dict(_ALL.findall(block))
    return {
        (i, j): every[where]
        for i in range(hosts)
        for j in range(i, hosts)
        if (where := "on" if i == j else "off") in every
    }


def _ucx(entries: str) -> str:
    """Transports and devices that UCX uses: `ucx/rc_mlx5:mlx5_0:1,self:memory`."""
    return "ucx/" + ",".join(":".join(line.split()) for line in entries.splitlines())
