"""Which points a sweep has, in which order, and what memory they need."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commbench.collectives import COLLECTIVES
from commbench.errors import UsageError
from commbench.measuring.plan import Choices, Memory, Point, buffer_bytes, expected_seconds, points, sizes_between
from commbench.measuring.seam import Case

from .fakes import PLACEMENTS

MIB = 1 << 20


def choices(*collectives: str, sizes: tuple[int, ...] = (1024,), **changes: object) -> Choices:
    """What a short command line asks for."""
    known = {"dtypes": ("float32",), "operators": ("sum",), "root": 0, "placements": None, "modes": ("isolated",)}
    return Choices(collectives, sizes, **(known | changes))  # type: ignore[arg-type]


def plan(wanted: Choices, ranks: int = 4) -> list[Point]:
    """Its points on the fake's placements."""
    return points(wanted, ranks, PLACEMENTS)


def case(elements: int, collective: str = "all_gather", placement: str | None = "out") -> Case:
    """A float32 case."""
    return Case(collective, elements, "float32", None, None, placement, "isolated")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sizes", "first", "last", "factor", "step"),
    [
        ((8, 16, 32), 8, 32, None, None),
        ((8, 16, 32), 8, 63, 2, None),
        ((8, 80, 800), 8, 800, 10, None),
        ((8, 18, 28), 8, 28, None, 10),
        ((8, 16), 8, 16, 2, 1),
        ((64,), 64, 64, None, None),
        ((0, 2, 4), 0, 4, None, None),
        ((0,), 0, 0, None, None),
    ],
)
def test_sizes_go_from_first_to_last(
    sizes: tuple[int, ...], first: int, last: int, factor: int | None, step: int | None
) -> None:
    """By a factor (2 by default), or by -i bytes where -f is not said; never above -e."""
    assert sizes == sizes_between(first, last, factor=factor, step=step)


@pytest.mark.parametrize(("first", "last", "factor", "step"), [(16, 8, None, None), (8, 16, 1, None), (8, 16, None, 0)])
def test_ranges_that_are_none_are_refused(first: int, last: int, factor: int | None, step: int | None) -> None:
    """An empty range, a factor that does not grow, a step of 0 (which would never end)."""
    with pytest.raises(UsageError):
        sizes_between(first, last, factor=factor, step=step)


@given(st.sampled_from(sorted(set(COLLECTIVES) - {"barrier"})), st.integers(0, 1 << 40), st.integers(1, 600))
def test_a_size_is_rounded_up_to_equal_shards(name: str, size: int, ranks: int) -> None:
    """Never down, never to 0, and by less than an element a rank."""
    (point,) = points(choices(name, sizes=(size,), placements=("out",)), ranks, {name: ("out",)})
    shards = ranks if COLLECTIVES[name].sharded else 1
    assert point.case.elements % shards == 0
    assert 0 <= point.case.message_bytes - size <= 4 * shards
    assert point.case.elements > 0


def test_equal_effective_sizes_are_one_point() -> None:
    """On 4 ranks 0, 1, 8 and 16 bytes of float32 are all one element a rank."""
    assert [p.case.message_bytes for p in plan(choices("all_to_all", sizes=(0, 1, 8, 16, 17, 32),
                                                                   placements=("out",)))] == [16, 32]  # fmt: skip


def test_a_barrier_is_one_point_whatever_the_sizes() -> None:
    """It has no message, no dtype, no operator and no placement."""
    (point,) = plan(choices("barrier", sizes=(8, 16, 32), dtypes=("float32", "int8"), placements=("in",)))
    assert Case("barrier", 0, None, None, None, None, "isolated") == point.case


def test_every_combination_is_a_point() -> None:
    """2 sizes, 2 dtypes, 3 operators, 2 placements, 2 modes; a broadcast has no operator."""
    wanted = choices("reduce_scatter", "broadcast", sizes=(1024, 4096), dtypes=("float32", "int8"),
                     operators=("sum", "min", "prod"), modes=("isolated", "pipelined"))  # fmt: skip
    counts = [sum(p.case.collective == name for p in plan(wanted)) for name in wanted.collectives]
    assert counts == [2 * 2 * 3 * 2 * 2, 2 * 2 * 2 * 2]


def test_only_rooted_collectives_have_a_root() -> None:
    """-r 2 means nothing to an all-gather."""
    roots = {p.case.collective: p.case.root for p in plan(choices("broadcast", "all_gather", root=2))}
    assert roots == {"broadcast": 2, "all_gather": None}


def test_only_graphs_hold_several_calls() -> None:
    """calls_in_graph is of graph mode."""
    wanted = choices("all_reduce", modes=("pipelined", "graph"), calls_in_graph=20)
    assert [(p.case.mode, p.case.calls_in_graph) for p in plan(wanted)] == [("pipelined", 1), ("graph", 20)]


def test_placements_that_a_backend_lacks_are_points_only_if_asked_for() -> None:
    """The fake has no out-of-place all-reduce: silent by default, left out with a reason when it was wanted."""
    assert [p.case.placement for p in plan(choices("all_reduce"))] == ["in"]
    assert [p.case.placement for p in plan(choices("all_reduce", placements=("out",)))] == ["out"]


def test_large_sizes_are_repeated_beside_compute() -> None:
    """With --with-compute each size from 1 MiB is a second point, which says so."""
    wanted = choices("all_reduce", sizes=(MIB // 2, MIB, 2 * MIB), with_compute=True)
    found = [(point.case.message_bytes, point.case.beside) for point in plan(wanted)]
    assert found == [(MIB // 2, None), (MIB, None), (2 * MIB, None), (MIB, "compute"), (2 * MIB, "compute")]


def test_graphs_are_not_repeated_beside_compute() -> None:
    wanted = choices("all_reduce", sizes=(MIB,), modes=("graph",), with_compute=True)
    assert [point.case.beside for point in plan(wanted)] == [None]


def test_a_cycle_is_the_whole_plan() -> None:
    """-N 3: three times the same points, in order, numbered."""
    once, thrice = plan(choices("all_reduce", sizes=(8, 16))), plan(choices("all_reduce", sizes=(8, 16), cycles=3))
    assert [Point(p.case, cycle) for cycle in range(3) for p in once] == thrice


@given(st.integers(0, 2**40))
def test_shuffling_is_a_permutation(seed: int) -> None:
    """Every point of every cycle once, cycles one after the other."""
    sizes = tuple(1 << power for power in range(3, 13))
    ordered, shuffled = (
        plan(choices("all_reduce", "reduce", sizes=sizes, cycles=2, shuffle=shuffle)) for shuffle in (None, seed)
    )
    half = len(ordered) // 2
    assert set(ordered[:half]) == set(shuffled[:half])
    assert set(ordered[half:]) == set(shuffled[half:])
    assert len(ordered) == len(shuffled)


def test_shuffled_cycles_differ() -> None:
    """Or the same neighbour would disturb the same point every time."""
    sizes = tuple(1 << power for power in range(3, 20))
    shuffled = plan(choices("all_reduce", sizes=sizes, cycles=2, shuffle=1))
    first, second = ([p.case for p in shuffled if p.cycle == cycle] for cycle in (0, 1))
    assert first != second


def test_a_seed_gives_the_same_order_on_every_rank() -> None:
    """Each rank shuffles for itself."""
    wanted = choices("all_reduce", "reduce", sizes=(8, 16, 32, 64), shuffle=7)
    assert plan(wanted) == plan(wanted)


@pytest.mark.parametrize(
    ("send", "receive", "collective", "placement"),
    [
        (MIB // 4, MIB, "all_gather", "out"),
        (MIB, 0, "all_gather", "in"),
        (MIB, MIB // 4, "reduce_scatter", "out"),
        (MIB, 0, "reduce_scatter", "in"),
        (MIB, MIB, "all_to_all", "out"),
        (MIB, 0, "all_reduce", "in"),
        (MIB // 4, MIB, "gather", "out"),
        (MIB, MIB // 4, "scatter", "out"),
    ],
)
def test_buffers_hold_whole_messages_or_shards(send: int, receive: int, collective: str, placement: str) -> None:
    """4 ranks, 1 MiB; gather and scatter need the root's buffers everywhere, since any rank may be the root."""
    assert (send, receive) == buffer_bytes(case(MIB // 4, collective, placement), 4)


def test_slabs_hold_the_largest_of_each_side() -> None:
    """Not one case's both sides."""
    cases = [case(1 << 20, "all_gather"), case(1 << 20, "reduce_scatter")]
    assert Memory(1 << 40, 0, rotate=False).slabs(cases, 4) == (4 * MIB, 4 * MIB)


def test_rotation_needs_twice_the_cache() -> None:
    """Small messages too; a side that nothing needs stays empty."""
    assert Memory(1 << 40, 32 * MIB, rotate=True).slabs([case(8, "all_reduce", "in")], 4) == (64 * MIB, 0)


def test_what_does_not_fit_is_refused_with_numbers() -> None:
    """4 MiB and a shard of 1 MiB need more than 90 % of 5 MiB."""
    large = case(MIB)
    assert Memory(5 * MIB, 0, rotate=False).refusals([large], 4) == {
        large: "buffers up to this size need 5 MiB a rank, and may take 90 % of the 5 MiB a rank that are free"
    }


def test_what_fits_is_not_refused() -> None:
    """90 % of 6 MiB hold them."""
    assert Memory(6 * MIB, 0, rotate=False).refusals([case(MIB)], 4) == {}


def test_cases_that_fit_alone_but_not_together_are_refused_from_the_largest() -> None:
    """4 MiB in place and 4 MiB of all_gather's output: two slabs of 4 MiB do not fit into 90 % of 8 MiB."""
    gather, reduce = case(MIB, "all_gather"), case(MIB, "all_reduce", "in")
    assert set(Memory(8 * MIB, 0, rotate=False).refusals([gather, reduce, case(8, "all_gather")], 4)) == {gather}


def test_what_the_library_copies_counts() -> None:
    """Slabs of 5 MiB fit into 90 % of 6 MiB; the message of 4 MiB once more does not."""
    copied = Memory(6 * MIB, 0, rotate=False, copied=frozenset({"reduce_scatter"}))
    scattered = case(MIB, "reduce_scatter")
    assert copied.refusals([case(MIB, "all_reduce", "in")], 4) == {}
    assert list(copied.refusals([scattered, case(MIB, "all_reduce", "in")], 4)) == [scattered]


def test_rotation_that_takes_the_memory_is_named() -> None:
    """Two slabs of twice a cache of 1 MiB do not fit into 4 MiB, whatever the message."""
    small = case(8)
    assert "--buffers same" in Memory(4 * MIB, MIB, rotate=True).refusals([small], 4)[small]


def test_the_expected_time_of_n_samples_is_that_of_its_calls() -> None:
    """-n 100 of 1 GiB at 1 GiB/s and 200 us, and 4 to warm up; without -n at least the limit; 50 ms around either."""
    whole = case(1 << 28)
    assert expected_seconds(whole, 0.25, 100) == pytest.approx(104 * 1.0002 + 0.05)
    assert expected_seconds(case(2), 0.25, None) == pytest.approx(0.25 + 4 * 200e-6 + 0.05, abs=1e-6)
