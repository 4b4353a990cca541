"""Open MPI's matrix of paths, as it prints it for few hosts, for many, and for very many."""

import pytest

from commbench.measuring.nccl_log import Link
from mpi.transport import links, without_matrix

ONE_HOST = """\
Host 0 [vm] ranks 0 - 1

 host | 0
======|====
    0 : sm

Connection summary: (pml)
  on-host:  all connections are sm
  off-host: all connections are n/a

"""
TWO_HOSTS = """\
Host 0 [node0] ranks 0 - 3
Host 1 [node1] ranks 4 - 7

 host | 0   1
======|=========
    0 : sm  tcp
    1 : tcp sm

Connection summary: (btl)
  on-host:  all connections are sm
  off-host: all connections are tcp

"""
SCATTERED = """\
Host 0 [node0] ranks 0, 2, 4 - 5
Host 1 [node1] ranks 1

 host | 0    1
======|===========
    0 : sm   tcp
    1 : tcp  self

Connection summary: (btl)
  on-host:  all connections are sm or self
  off-host: all connections are tcp

"""
LETTERS = """\
Host 0 [node0] ranks 0 - 1
Host 1 [node1] ranks 2 - 3

 host | 0 1
======|=====
    0 : A B
    1 : B A
key: A == sm
key: B == tcp

Connection summary: (btl)
  on-host:  all connections are sm
  off-host: all connections are tcp

"""
SUMMARY = """\
Host 0 [node0] ranks 0 - 1
Host 1 [node1] ranks 2 - 3

Connection summary: (btl)
  on-host:  most connections are sm
  off-host: all connections are tcp
Exceptions:
  host 1: [1x tcp] [1x ofi]

"""
UCX = """\
Host 0 [node0] ranks 0 - 1
Host 1 [node1] ranks 2 - 3

 host | 0        1
======|==================
    0 : ucx[  1] ucx[  2]
    1 : ucx[  2] ucx[  1]

UCX Transport/Device
ucx[  1]:
    sysv             memory
ucx[  2]:
    rc_mlx5          mlx5_0:1

Connection summary: (pml)
  on-host:  all connections are ucx
  off-host: all connections are ucx

"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ONE_HOST, [(0, 1, "sm")]),
        (TWO_HOSTS, [(0, 1, "sm"), (0, 4, "tcp"), (4, 5, "sm")]),
        (SCATTERED, [(0, 1, "tcp"), (0, 2, "sm"), (1, 1, "self")]),
        (LETTERS, [(0, 1, "sm"), (0, 2, "tcp"), (2, 3, "sm")]),
        (SUMMARY, [(0, 2, "tcp")]),
        (UCX, [(0, 1, "ucx/sysv:memory"), (0, 2, "ucx/rc_mlx5:mlx5_0:1"), (2, 3, "ucx/sysv:memory")]),
        ("MPICH says nothing of the kind", []),
        ("", []),
    ],
)
def test_a_link_for_each_pair_of_hosts(text: str, expected: list[tuple[int, int, str]]) -> None:
    """Between first ranks, and within each host; where the library says "most", nothing is known of a pair."""
    assert links(text, 8) == tuple(Link(*link) for link in expected)


def test_a_part_proves_what_it_uses() -> None:
    """Ranks that do not take part prove nothing."""
    assert links(TWO_HOSTS, 4) == (Link(0, 1, "sm"),)
    assert links(TWO_HOSTS, 1) == ()


@pytest.mark.parametrize("matrix", [ONE_HOST, TWO_HOSTS, LETTERS, SUMMARY, UCX])
def test_the_rest_is_given_back(matrix: str) -> None:
    """What else was printed stays as it was."""
    assert without_matrix(f"before\n{matrix}after\n") == "before\nafter\n"
    assert without_matrix("nothing here\n") == "nothing here\n"
