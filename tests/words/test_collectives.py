"""Collectives: bus factors, sizes and expected results; see test_names.py for their names."""

import pytest

from commbench.collectives import COLLECTIVES, Collective

EVERY = list(COLLECTIVES.values())
MOVING = [collective for collective in EVERY if collective.moves]


@pytest.mark.parametrize("n", range(2, 9))
@pytest.mark.parametrize(
    ("name", "numerator", "shards"),
    [
        ("all_reduce", 2, True),
        ("reduce_scatter", 1, True),
        ("all_gather", 1, True),
        ("all_to_all", 1, True),
        ("gather", 1, True),
        ("scatter", 1, True),
        ("reduce", 1, False),
        ("broadcast", 1, False),
        ("send_recv", 1, False),
    ],
)
def test_bus_factors_are_those_of_nccl_tests(name: str, numerator: int, shards: bool, n: int) -> None:
    """2(n-1)/n for all_reduce, (n-1)/n for what moves shards, 1 for reduce, broadcast and send_recv."""
    assert COLLECTIVES[name].bus_factor(n) == pytest.approx(numerator * (n - 1) / n if shards else 1.0)


@pytest.mark.parametrize("collective", EVERY, ids=lambda c: c.name)
def test_one_rank_uses_no_bus(collective: Collective) -> None:
    """With one rank nothing crosses a bus: factor 0."""
    assert collective.bus_factor(1) == 0.0


def test_a_barrier_has_no_bandwidth() -> None:
    """Bus factor 0 and no elements, whatever was asked for."""
    barrier = COLLECTIVES["barrier"]
    assert (barrier.bus_factor(8), barrier.elements(1 << 20, 4, 8)) == (0.0, 0)


@pytest.mark.parametrize("n", range(1, 9))
@pytest.mark.parametrize("collective", EVERY, ids=lambda c: c.name)
def test_expected_pieces_fill_the_receive_buffer_exactly(collective: Collective, n: int) -> None:
    """On every rank and for every root: no element missing, none twice (nothing at all where the root alone gets)."""
    elements = collective.elements(1000, 4, n)
    only_the_root = collective.name in {"reduce", "gather"}
    for root in range(n):
        for rank in range(n):
            length = sum(piece.length for piece in collective.expected(rank, n, root, elements))
            full = collective.buffer_elements("receive", elements, n)
            assert length == (0 if only_the_root and rank != root else full), (rank, root)


@pytest.mark.parametrize("n", range(1, 9))
@pytest.mark.parametrize("collective", MOVING, ids=lambda c: c.name)
def test_expected_pieces_lie_inside_the_input_they_come_from(collective: Collective, n: int) -> None:
    """A piece never reaches past the send buffer of the rank whose payload it is."""
    elements = collective.elements(1000, 4, n)
    held = collective.buffer_elements("send", elements, n)
    for rank in range(n):
        for piece in collective.expected(rank, n, 0, elements):
            assert 0 <= piece.start <= piece.start + piece.length <= held
            assert piece.rank is None or 0 <= piece.rank < n


@pytest.mark.parametrize(
    ("name", "sources"),
    [
        ("all_gather", [(0, 0), (1, 0), (2, 0)]),
        ("all_to_all", [(0, 2), (1, 2), (2, 2)]),
        ("reduce_scatter", [(None, 2)]),
        ("scatter", [(2, 2)]),
        ("broadcast", [(2, 0)]),
        ("send_recv", [(0, 0)]),
        ("gather", []),
        ("reduce", []),
        ("all_reduce", [(None, 0)]),
    ],
)
def test_rank_1_of_3_receives_what_mpi_says(name: str, sources: list[tuple[int | None, int]]) -> None:
    """(whose payload, from which element) for shards of 2 elements, root 2; send_recv passes to the next rank."""
    pieces = COLLECTIVES[name].expected(1, 3, 2, 6)
    assert [(piece.rank, piece.start) for piece in pieces] == sources


@pytest.mark.parametrize(
    ("elements", "name", "message_bytes"),
    [
        (1, "all_reduce", 0),
        (2, "all_reduce", 5),
        (3, "all_reduce", 12),
        (3, "all_gather", 1),
        (3, "reduce_scatter", 12),
        (6, "all_to_all", 16),
        (4, "broadcast", 16),
    ],
)
def test_sizes_are_rounded_up_to_equal_shards_and_never_to_0(elements: int, name: str, message_bytes: int) -> None:
    """Elements of 4 bytes on 3 ranks: sharded collectives get a multiple of 3, the others whole elements."""
    assert COLLECTIVES[name].elements(message_bytes, 4, 3) == elements


@pytest.mark.parametrize("n", range(1, 9))
@pytest.mark.parametrize("collective", MOVING, ids=lambda c: c.name)
def test_rounding_adds_less_than_one_element_a_rank(collective: Collective, n: int) -> None:
    """The rounded message holds what was asked for, and less than one element a shard more."""
    step = 4 * n if collective.sharded else 4
    for asked in range(1, 200):
        rounded = collective.elements(asked, 4, n) * 4
        assert asked <= rounded < asked + step
        assert rounded % step == 0


@pytest.mark.parametrize(
    ("name", "send", "receive"),
    [
        ("all_gather", 2, 6),
        ("reduce_scatter", 6, 2),
        ("gather", 2, 6),
        ("scatter", 6, 2),
        ("all_to_all", 6, 6),
        ("barrier", 0, 0),
    ],
)
def test_buffers_hold_the_message_or_a_shard(name: str, send: int, receive: int) -> None:
    """For 6 elements on 3 ranks."""
    collective = COLLECTIVES[name]
    assert (collective.buffer_elements("send", 6, 3), collective.buffer_elements("receive", 6, 3)) == (send, receive)
