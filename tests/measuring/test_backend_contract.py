"""The contract of backends, on the fake; and that the contract notices a backend that breaks it."""

from typing import Any

import pytest

from commbench.collectives import COLLECTIVES

from .backend_contract import check_backend
from .fakes import FakeBackend, FakeOperation, FakeWorld, Law, on_ranks


@pytest.mark.parametrize("ranks", [1, 2, 5])
def test_the_fake_keeps_the_contract(ranks: int) -> None:
    """So what is tested with the fake holds for every backend that keeps it."""
    ran = on_ranks(
        ranks, lambda world: check_backend(FakeBackend(world, Law(noise=0.1)), dtypes=("float32", "float16"))
    )
    assert set(COLLECTIVES) == {case.collective for case in ran[0]}


def test_refused_cases_are_not_run() -> None:
    """The caller sees which cases ran."""
    ran = on_ranks(2, lambda world: check_backend(FakeBackend(world, Law(refuses=("barrier",)))))
    assert "barrier" not in {case.collective for case in ran[1]}


class Late(FakeBackend):
    """Refuses on rank 0 only."""

    def refusal(self, case: Any) -> str | None:
        return "not today" if self.world.rank == 0 else None


class Standing(FakeOperation):
    """Reads a clock that stands still."""

    def time(self, calls: int) -> float:
        return 0.0


class Still(FakeBackend):
    """Prepares operations that take no time."""

    def prepare(self, case: Any) -> FakeOperation:
        return Standing(self, case)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (lambda world: Late(world, Law()), "ranks answer differently"),
        (lambda world: Still(world, Law()), r"0\.0 s"),
        (lambda world: FakeBackend(world, Law(wrong={1: 1})), "wrong elements"),
        (lambda world: FakeBackend(world, Law(most_calls=0)), "may not be called"),
        (lambda world: FakeBackend(world, Law(), groups=((0,), (0, 1))), "each rank once"),
    ],
)
def test_a_broken_backend_is_noticed(broken: Any, message: str) -> None:
    """Each part of the contract turns red for a backend that breaks it."""

    def run(world: FakeWorld) -> None:
        check_backend(broken(world))

    with pytest.raises(AssertionError, match=message):
        on_ranks(2, run)


def test_an_overflow_is_noticed() -> None:
    """Where a test can look into the buffers."""
    with pytest.raises(AssertionError, match="overflowed"):
        on_ranks(1, lambda world: check_backend(FakeBackend(world, Law()), finite=lambda operation: False))
