"""The Backend on MPI: mpi4py's calls on buffers in the host's or a GPU's memory, timed on the host's clock."""

import mmap
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from time import perf_counter
from typing import cast

from commbench.measuring.seam import Case, Operation
from commbench.measuring.session import Buffers
from commbench.sweepfile.records import Clock
from mpi.calls import KINDS, LARGEST_INT, OPERATORS, PLACEMENTS, Seat, count, in_blocks
from mpi.implementation import MPI
from mpi.memory import Memory
from mpi.operation import MpiOperation, time_in_order
from mpi.world import MpiWorld


class MpiBackend:
    """MPI on the ranks of a world.

    Args:
        world: all ranks that take part and agree.
        memory: where the buffers are.
        buffers: sizes of the two slabs, which must hold every buffer that will be asked for.
        groups: ranks (of the world) of each collective, as they were formed with the world; one of all if empty.
        persistent: measure persistent collectives (MPI-4).
    """

    name = "mpi"
    clock: Clock = "host"

    def __init__(
        self,
        world: MpiWorld,
        memory: Memory,
        *,
        buffers: Buffers,
        groups: Sequence[Sequence[int]] = (),
        persistent: bool = False,
    ) -> None:
        self.world, self._memory = world, memory
        self.groups = tuple(tuple(group) for group in groups) or (tuple(range(world.size)),)
        assert world.collective, "a backend measures in the groups of a part"
        assert world.together, "whose ranks start together"
        self._seat = Seat(world.collective, world.together)
        self._slabs = memory.slabs(buffers)
        self._persistent = persistent

    def refusal(self, case: Case) -> str | None:
        """Why MPI cannot run the case."""
        if case.placement not in PLACEMENTS[case.collective]:
            return f"MPI has no {case.collective} with placement {case.placement!r}"
        if case.beside:
            return "beside a matrix product only on a GPU: on CPUs both would share the cores"
        if case.mode == "graph":
            return "graph mode replays CUDA graphs, which cannot hold MPI's calls"
        if case.collective == "send_recv" and self._seat.size < 2:
            return "send_recv needs two ranks"
        if case.collective == "send_recv" and self._persistent:
            return "MPI has no persistent send_recv: it would be a send and a receive, started apart"
        if case.op and case.op not in OPERATORS:
            return f"MPI has no operator {case.op}: it has {', '.join(OPERATORS)}"
        if case.op and case.dtype and not KINDS[case.dtype].reducible:
            return f"MPI has no type for {case.dtype}: it is moved, not reduced"
        number = count(case, self._seat.size)
        if number > LARGEST_INT and not self._takes_large_counts:
            return (
                f"a count of {number} elements does not fit the int of MPI-{'.'.join(map(str, MPI.Get_version()))}: "
                f"this library takes up to {LARGEST_INT}, larger ones need MPI-4"
            )
        return None

    @cached_property
    def _takes_large_counts(self) -> bool:
        """Whether a call with a count above an int works, tried on memory that nobody touches. Collective."""
        size = LARGEST_INT + 1
        try:
            memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            MPI.COMM_SELF.Bcast([memory, size, MPI.BYTE], 0)
        except (MPI.Exception, OSError, OverflowError):
            works = False
        else:
            works = True
        return bool(self.world.gather([works]).min())

    def notes(self, case: Case) -> tuple[str, ...]:
        """What differs from the collective's name."""
        said = []
        if case.dtype and not KINDS[case.dtype].reducible:
            said.append(f"{case.dtype} is moved as words of its size: MPI has no such type")
        if in_blocks(case, self._seat.size):
            said.append("by MPI_Reduce_scatter_block: the counts of the shards add up to more than an int")
        if self._persistent:
            said.append("persistent: the time is of MPI_Start and MPI_Wait, not of MPI_…_init")
        return tuple(said)

    def prepare(self, case: Case) -> MpiOperation:
        """The operation with its buffers. Collective."""
        return MpiOperation(case, self._seat, self._memory, self._slabs, persistent=self._persistent)

    def time_in_order(self, operations: Sequence[Operation]) -> list[float]:
        """This rank's seconds of one call of each, made back to back in this order after an aligned start."""
        return time_in_order(cast(Sequence[MpiOperation], operations), self._seat)

    def resolution(self) -> float:
        """Of the host's clock, as two readings show it (s)."""
        readings = [perf_counter() for _ in range(200)]
        return min(b - a for a, b in pairwise(readings) if b > a)
