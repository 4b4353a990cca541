"""The parts of a run: sub-worlds, groups, what each plans, and what --plan says."""

import pytest

from commbench.errors import UsageError
from commbench.measuring.groups import groups_of
from commbench.measuring.options import parse
from commbench.measuring.parts import describe_plan, parts, plan_document
from commbench.measuring.plan import Memory

from .fakes import PLACEMENTS

PLENTY = Memory(1 << 40, 0, rotate=False)


@pytest.mark.parametrize(
    ("groups", "text"),
    [
        (((0, 1, 2, 3, 4, 5, 6, 7),), None),
        (((0, 1, 2, 3), (4, 5, 6, 7)), "2"),
        (((0, 1), (2, 3), (4, 5), (6, 7)), "DIV 2"),
        (((0, 2, 4, 6), (1, 3, 5, 7)), "MOD 2"),
        (((0, 4), (1, 5), (2, 6), (3, 7)), " mod 4 "),
        (((0, 1, 2, 3), (4, 5, 6, 7)), "div4"),
        (((0,), (1,), (2,), (3,), (4,), (5,), (6,), (7,)), "8"),
        (((0, 1, 2, 3, 4, 5, 6, 7),), "1"),
    ],
)
def test_eight_ranks_are_cut_as_nccl_tests_cuts_them(groups: tuple[tuple[int, ...], ...], text: str | None) -> None:
    """N groups of neighbours, DIV n: groups of n neighbours, MOD n: n groups of every n-th rank."""
    assert groups == groups_of(text, 8)


@pytest.mark.parametrize("text", ["3", "0", "DIV 3", "MOD 0", "16", "", "AND 3", "-2", "2.0", "1 2"])
def test_groups_that_are_not_equal_are_refused(text: str) -> None:
    """With a message that names the ranks there are."""
    with pytest.raises(UsageError, match="cannot be cut") as caught:
        groups_of(text, 8)
    assert "8 ranks" in caught.value.expected


def test_each_world_size_is_a_part() -> None:
    """Its messages are rounded for its own number of ranks."""
    options = parse(["all_gather", "--world-sizes", "2,3,4", "-b", "4", "-e", "4", "--placement", "out"])
    found = [(part.size, part.plan[0].case.elements) for part in parts(options, PLACEMENTS, 4, PLENTY)]
    assert found == [(2, 2), (3, 3), (4, 4)]


def test_all_ranks_are_the_only_part_by_default() -> None:
    """One sweep."""
    assert [part.size for part in parts(parse([]), PLACEMENTS, 4, PLENTY)] == [4]


def test_a_world_size_above_the_world_is_refused() -> None:
    """Before anything is allocated."""
    with pytest.raises(UsageError, match="larger than the world"):
        parts(parse(["--world-sizes", "2,5"]), PLACEMENTS, 4, PLENTY)


@pytest.mark.parametrize("words", [["-r", "4"], ["-r", "2", "--groups", "2"], ["-r", "2", "--world-sizes", "4,2"]])
def test_a_root_outside_its_collective_is_refused(words: list[str]) -> None:
    """In groups the root is a rank of each group."""
    with pytest.raises(UsageError, match="root"):
        parts(parse(["broadcast", *words]), PLACEMENTS, 4, PLENTY)


def test_ranks_of_a_collective_are_those_of_a_group() -> None:
    """8 ranks in 4 groups: collectives of 2."""
    (part,) = parts(parse(["--groups", "4"]), PLACEMENTS, 8, PLENTY)
    assert part.ranks == 2


def test_points_that_do_not_fit_are_refused_and_need_no_memory() -> None:
    """With 1 MiB free a rank: sizes from 1 MiB on are left out, and the slabs are those of the others."""
    options = parse(["all_reduce", "-b", "256K", "-e", "4M"])
    (part,) = parts(options, PLACEMENTS, 2, Memory(1 << 20, 0, rotate=False))
    refused = sorted(point.case.message_bytes for point in part.refused)
    assert (refused, part.buffers.send_bytes) == ([1 << 20, 1 << 21, 1 << 22], 1 << 19)


def test_a_plan_shows_points_memory_time_and_what_is_left_out() -> None:
    """Everything that --plan promises."""
    options = parse(["all_reduce", "-b", "256K", "-e", "4M", "--groups", "2", "-n", "10"])
    planned = parts(options, PLACEMENTS, 4, Memory(1 << 20, 0, rotate=False))
    lines = describe_plan(plan_document(planned, options)).splitlines()
    assert lines[0] == "4 ranks in 2 groups of 2: 2 points"
    assert lines[1] == "  buffers per rank: 512 KiB to send, 0 B to receive"
    assert lines[2] == "  expected time: about 116 ms, if a call takes 200 us and 1 s per GiB; starting up comes on top"
    assert lines[3] == "  all_reduce (float32, sum, in, isolated): 2 sizes, 262144 … 524288 bytes"
    reason = "buffers up to this size need 1 MiB a rank, and may take 90 % of the 1 MiB a rank that are free"
    assert lines[4] == f"  left out: all_reduce 1048576 bytes: {reason}"
