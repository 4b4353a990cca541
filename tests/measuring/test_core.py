"""The measuring core on ranks that are threads: what it takes, and that all ranks take the same."""

import threading
from time import perf_counter

import numpy as np
import pytest

from commbench.measuring import core
from commbench.measuring.core import Measured, measure
from commbench.measuring.seam import Case
from commbench.measuring.stopping import Rule
from commbench.measuring.watch import Watch
from commbench.sweepfile.records import Mode

from .fakes import FakeBackend, FakeOperation, FakeWorld, Law, on_ranks


def case(mode: Mode = "isolated", calls_in_graph: int = 1) -> Case:
    """An all-reduce of 1 MiB."""
    return Case("all_reduce", 1 << 18, "float32", "sum", None, "in", mode, calls_in_graph)


def measured(ranks: int, law: Law, rule: Rule, what: Case | None = None) -> list[tuple[Measured, FakeOperation]]:
    """What each rank got, and the operation that it called."""

    def run(world: FakeWorld) -> tuple[Measured, FakeOperation]:
        backend = FakeBackend(world, law)
        return measure(backend, what or case(), rule, Watch(world.rank, world.size)), backend.operations[0]

    return on_ranks(ranks, run)


def test_a_sample_is_the_time_that_the_slowest_rank_takes_for_one_call() -> None:
    """20 us + 1 MiB at 10 GB/s, and 5 us more on rank 2."""
    got, _ = measured(4, Law(slow=2, delay=5e-6), Rule(samples=3))[0]
    one = 20e-6 + 2**20 / 10e9
    assert got.seconds == pytest.approx((one + 5e-6,) * 3)
    assert got.fastest_seconds == pytest.approx((one,) * 3)


def test_time_is_per_call_whatever_a_sample_holds() -> None:
    """Pipelined: 50 calls in a sample, the time of one in the result."""
    got, operation = measured(2, Law(), Rule(samples=6, calls=50), case("pipelined"))[0]
    assert (got.calls, set(operation.samples[-6:])) == (50, {50})
    assert got.seconds == pytest.approx((20e-6 + 2**20 / 10e9,) * 6)


def test_a_slow_rank_is_named_slowest() -> None:
    """In all samples; the other three share being fastest."""
    got, _ = measured(4, Law(slow=2, noise=1e-3), Rule(samples=40))[0]
    assert (got.slowest_rank, got.fastest_rank) == (2, None)


def test_a_late_rank_is_named_fastest() -> None:
    """The others wait for it inside the collective; it finds everybody there."""
    got, _ = measured(4, Law(late=1, noise=1e-3), Rule(samples=40))[0]
    assert (got.slowest_rank, got.fastest_rank) == (None, 1)


def test_a_single_rank_is_neither_slowest_nor_fastest() -> None:
    """There is nobody to be slower than."""
    got, _ = measured(1, Law(), Rule(samples=6))[0]
    assert (got.slowest_rank, got.fastest_rank) == (None, None)


def test_one_rank_s_times_are_slowest_and_fastest_at_once() -> None:
    """Both lists are the same."""
    got, _ = measured(1, Law(noise=0.1), Rule(samples=6))[0]
    assert got.seconds == got.fastest_seconds


def test_wrong_elements_are_counted_over_ranks_before_and_after() -> None:
    """3 on rank 0 and 4 on rank 2, checked twice."""
    assert {2 * (3 + 4)} == {got.wrong for got, _ in measured(3, Law(wrong={0: 3, 2: 4}), Rule(samples=6))}


def test_unchecked_is_not_right() -> None:
    """-c 0 gives None, not 0."""
    assert measured(2, Law(wrong={0: 3}), Rule(samples=6, check=False))[0][0].wrong is None


@pytest.mark.parametrize("samples", [1, 5, 6, 300])
def test_n_samples_are_exactly_n(samples: int) -> None:
    """On noise that would take more or fewer."""
    assert len(measured(2, Law(noise=0.3), Rule(samples=samples))[0][0].seconds) == samples


def test_steady_samples_end_at_6() -> None:
    """The fewest that have an interval."""
    assert len(measured(2, Law(), Rule())[0][0].seconds) == 6


def test_a_limit_that_has_passed_ends_at_6() -> None:
    """--limit 0 leaves a usable point."""
    assert len(measured(2, Law(noise=0.5), Rule(limit=0.0))[0][0].seconds) == 6


def test_graph_samples_are_whole_replays() -> None:
    """20 calls a graph and 3 replays: warm-up replays once, samples three times."""
    _, operation = measured(2, Law(), Rule(samples=6, replays=3), case("graph", 20))[0]
    assert operation.samples == [20] * 5 + [60] * 6


def test_calls_stay_below_what_the_operation_allows() -> None:
    """-m 100 on buffers that overflow after 7."""
    assert measured(2, Law(most_calls=7), Rule(samples=6, calls=100), case("pipelined"))[0][0].calls == 7


def test_the_operation_is_closed_also_after_an_error() -> None:
    """A rank that fails while it times gives its buffers back."""
    world = on_ranks(1, lambda world: world)[0]
    backend = FakeBackend(world, Law())

    class Failing(FakeOperation):
        def time(self, calls: int) -> float:
            raise RuntimeError("connection closed")

    backend.prepare = lambda case: backend.operations.append(Failing(backend, case)) or backend.operations[0]  # type: ignore
    with pytest.raises(RuntimeError, match="connection closed"):
        measure(backend, case(), Rule(), Watch(0, 1))
    assert backend.operations[0].closed


@pytest.mark.parametrize("mode", ["isolated", "pipelined"])
@pytest.mark.parametrize("seed", range(5))
def test_all_ranks_decide_alike_with_clocks_that_differ(seed: int, mode: Mode, monkeypatch: pytest.MonkeyPatch) -> None:
    """Local clocks run at 1, 50, 2500 … times the speed, calls at different times: all make the same calls."""
    speed = threading.local()
    monkeypatch.setattr(core, "perf_counter", lambda: perf_counter() * speed.factor)

    def run(world: FakeWorld) -> tuple[list[int], Measured]:
        speed.factor = 50.0**world.rank
        backend = FakeBackend(world, Law(noise=0.2, latency=10.0 ** -(3 + world.rank)))
        backend.random = np.random.default_rng([seed, world.rank])
        got = measure(backend, case(mode), Rule(), Watch(world.rank, world.size))
        return backend.operations[0].samples, got

    results = on_ranks(4, run)
    assert all(samples == results[0][0] for samples, _ in results)
    assert all((got.times == results[0][1].times).all() for _, got in results)
    assert len(results[0][1].seconds) >= 6
