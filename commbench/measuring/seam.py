"""The seam: what the measuring core asks of a communication library. One page; torch, MPI and a fake implement it.

A `World` is who takes part and how ranks agree on numbers. A `Backend` prepares operations on a world. An
`Operation` is one collective with its buffers; it moves bytes and reads one clock, and decides nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from commbench.collectives import COLLECTIVES, Collective
from commbench.dtypes import ELEMENT_BYTES
from commbench.sweepfile.records import Beside, Clock, Mode, Placement


@dataclass(frozen=True)
class Case:
    """One point to measure. `elements` is the whole message after rounding to equal shards.

    `beside`: "compute" when a matrix product keeps every device busy meanwhile.
    """

    collective: str
    elements: int
    dtype: str | None
    op: str | None
    root: int | None
    placement: Placement | None
    mode: Mode
    calls_in_graph: int = 1
    beside: Beside | None = None

    @property
    def definition(self) -> Collective:
        return COLLECTIVES[self.collective]

    @property
    def message_bytes(self) -> int:
        return self.elements * ELEMENT_BYTES[self.dtype] if self.dtype else 0


class World(Protocol):
    """The ranks that take part, and a control plane beside the measured one.

    Both calls are collective: every rank of the world makes them in the same order.
    """

    rank: int
    size: int

    def gather(self, values: Sequence[float]) -> npt.NDArray[np.float64]:
        """Every rank's values, shape (size, len(values)), the same array on all ranks."""

    def exchange(self, item: Any) -> list[Any]:
        """Every rank's (picklable) item, by rank."""


class Operation(Protocol):
    """One collective with its buffers, ready to be called.

    `most_calls`: calls that one sample may make before in-place results could overflow (inf if never).
    """

    most_calls: float

    def time(self, calls: int) -> float:
        """Align all ranks, make `calls` calls, return the seconds for all of them on this rank's clock.

        Anything that is not a call (choosing buffers, refilling ones that in-place sums made grow) happens before
        the aligned start. In graph mode a call is one collective inside a replayed graph.
        """

    def wrong(self) -> int:
        """Fill the input with the payload and the output with poison, call once, count this rank's wrong elements."""

    def close(self) -> None:
        """Leave the buffers as the next operation expects them."""


class Backend(Protocol):
    """A communication library on a world.

    `groups` are the ranks of each collective: one group of all ranks, or disjoint groups that run it at once.
    """

    name: str
    clock: Clock
    groups: tuple[tuple[int, ...], ...]

    @property
    def world(self) -> World:
        """Who takes part."""

    def refusal(self, case: Case) -> str | None:
        """Why this backend cannot run the case (the same answer on every rank), or None."""

    def notes(self, case: Case) -> tuple[str, ...]:
        """What a reader must know about how this backend runs the case ("gloo runs it as an all_reduce")."""

    def prepare(self, case: Case) -> Operation:
        """The operation, with buffers; collective."""

    def time_in_order(self, operations: Sequence[Operation]) -> list[float]:
        """Align all ranks, call each operation once, back to back in this order: this rank's seconds of each.

        For replaying a training step. Collective.
        """

    def resolution(self) -> float:
        """Seconds between two readings of the clock that can be told apart."""
