"""Checks over all ranks once they can talk."""

from dataclasses import replace

import pytest

from commbench.errors import LaunchError
from commbench.launching.worlds import Member, check_members, describe_world, hosts_in_order, ranks_per_host


def _world(*hosts: str, device: str | None = "GPU") -> list[Member]:
    return [
        Member(rank, host, 100 + rank, rank, f"{device}-{rank}" if device else None, "torchrun", len(hosts))
        for rank, host in enumerate(hosts)
    ]


def test_a_whole_world_passes() -> None:
    check_members(_world("a", "a", "b", "b"))
    check_members(_world("a", "a", device=None))
    check_members(reversed(_world("a", "b")))
    check_members([replace(_world("a")[0], promised_size=None)])


def test_a_shared_device_is_refused_with_ranks_host_and_device() -> None:
    members = _world("a", "a", "b", "b")
    members[3] = replace(members[3], device="GPU-2")
    with pytest.raises(LaunchError) as caught:
        check_members(members)
    assert caught.value.found == "ranks 2, 3 on host b (processes 102, 103) use device GPU-2"
    for word in ("CUDA_VISIBLE_DEVICES", "--nproc-per-node", "--shared-device"):
        assert word in caught.value.fix
    check_members(members, shared_device_allowed=True)


def test_a_promise_of_more_ranks_is_refused() -> None:
    alone = replace(_world("a")[0], promised_size=4, launcher="Open MPI")
    with pytest.raises(LaunchError, match="4 promised to ranks 0 \\(Open MPI\\)"):
        check_members([alone], shared_device_allowed=True)


def test_members_that_were_promised_different_worlds_are_refused() -> None:
    members = _world("a", "a", "b")
    members[2] = replace(members[2], promised_size=2)
    with pytest.raises(LaunchError, match="2 promised to ranks 2; 3 promised to ranks 0, 1"):
        check_members(members)


@pytest.mark.parametrize("rank", [0, 2])
def test_ranks_must_be_numbered_once_each(rank: int) -> None:
    members = _world("a", "a")
    members[1] = replace(members[1], rank=rank)
    with pytest.raises(LaunchError, match=f"ranks 0, {rank}"):
        check_members(members)


def test_hosts_come_in_the_order_of_their_first_ranks() -> None:
    members = _world("b", "a", "b", "b", "a", "c")
    assert hosts_in_order(reversed(members)) == ("b", "a", "c")
    assert ranks_per_host(reversed(members)) == (3, 2, 1)


def test_the_description_names_size_hosts_ranks_devices_and_launcher() -> None:
    lines = describe_world(_world("b", "a", "b", "b", "a"), "NVIDIA H200").splitlines()
    assert lines == [
        "world: 5 ranks on 2 hosts, 2 to 3 per host, 5 devices, NVIDIA H200, started by torchrun",
        "  b: ranks 0, 2, 3",
        "  a: ranks 1, 4",
    ]
    assert "1 rank on 1 host, 1 per host, no devices of their own" in describe_world(_world("a", device=None))


def test_a_large_world_is_described_in_few_lines() -> None:
    lines = describe_world(_world(*[f"n{host}" for host in range(100) for _ in range(8)])).splitlines()
    assert lines[0].startswith("world: 800 ranks on 100 hosts, 8 per host")
    assert lines[1] == "  n0: ranks 0-7"
    assert lines[-1] == "  and 84 more hosts"
    assert len(lines) == 18
