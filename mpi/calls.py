"""The MPI call of each collective: its name and its arguments, prepared as far as Python can.

In place is what MPI means by it. All ranks pass IN_PLACE to allreduce, reduce_scatter, allgather and alltoall;
only the root does to reduce, gather and scatter, because only it has both buffers: the other ranks' call is the same
as out of place. reduce_scatter in place leaves each rank's shard at the start of its buffer. A broadcast has one
buffer and so exists in place only; send_recv has no in-place form that does not copy.

reduce_scatter is MPI_Reduce_scatter with equal shards, not MPI_Reduce_scatter_block: the call that benchmarks of this
name measure, and the one that libraries tune (under Open MPI 5.0.11 two ranks of one host take a third of the other's
time at 512 KiB and above). Only where the shards add up to more than an int does the other one stand in for it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from commbench.collectives import Placement
from commbench.measuring.seam import Case
from mpi.implementation import MPI

Arguments = tuple[object, ...]

BOTH: tuple[Placement | None, ...] = ("in", "out")
PLACEMENTS: dict[str, tuple[Placement | None, ...]] = {
    "all_reduce": BOTH, "reduce": BOTH, "reduce_scatter": BOTH, "all_gather": BOTH, "all_to_all": BOTH,
    "gather": BOTH, "scatter": BOTH, "broadcast": ("in",), "send_recv": ("out",), "barrier": (None,),
}  # fmt: skip

LARGEST_INT = 2**31 - 1  # the largest count that a call of MPI-3 can be given
OPERATORS = {"sum": MPI.SUM, "min": MPI.MIN, "max": MPI.MAX, "prod": MPI.PROD}


@dataclass(frozen=True)
class Kind:
    """An element in an array and in a message.

    Attributes:
        reducible: MPI knows it as a number; where it does not, elements move as whole words of their size.
    """

    array: np.dtype[Any]
    mpi: MPI.Datatype
    reducible: bool = True


KINDS = {
    "float32": Kind(np.dtype(np.float32), MPI.FLOAT),
    "float64": Kind(np.dtype(np.float64), MPI.DOUBLE),
    "float16": Kind(np.dtype(np.float16), MPI.UINT16_T, False),
    "bfloat16": Kind(np.dtype(np.uint16), MPI.UINT16_T, False),
    "float8_e4m3": Kind(np.dtype(np.uint8), MPI.UINT8_T, False),
    "float8_e5m2": Kind(np.dtype(np.uint8), MPI.UINT8_T, False),
    "int8": Kind(np.dtype(np.int8), MPI.INT8_T),
    "uint8": Kind(np.dtype(np.uint8), MPI.UINT8_T),
    "int32": Kind(np.dtype(np.int32), MPI.INT32_T),
    "uint32": Kind(np.dtype(np.uint32), MPI.UINT32_T),
    "int64": Kind(np.dtype(np.int64), MPI.INT64_T),
    "uint64": Kind(np.dtype(np.uint64), MPI.UINT64_T),
}


@dataclass(frozen=True)
class Seat:
    """This rank's place in a group.

    Attributes:
        group: the communicator that is measured.
        together: all ranks that measure at the same time, in this group or another: they start together.
    """

    group: MPI.Intracomm
    together: MPI.Intracomm

    @cached_property
    def rank(self) -> int:
        return self.group.Get_rank()

    @cached_property
    def size(self) -> int:
        return self.group.Get_size()

    @cached_property
    def _rounds(self) -> tuple[Callable[[], object], ...]:
        me, everyone = self.together.Get_rank(), self.together.Get_size()
        nothing = [bytearray(1), 0, MPI.BYTE]
        steps = [1 << number for number in range((everyone - 1).bit_length())]
        return tuple(
            partial(self.together.Sendrecv, nothing, (me + step) % everyone, 0, nothing, (me - step) % everyone, 0)
            for step in steps
        )

    def align(self) -> None:
        """Leave no rank before all are here: a dissemination barrier, whose ranks all end with the same exchange.

        MPI_Barrier may let some go early: under MPICH 5.0.2 two ranks leave it 0.6 us apart, a third of a small call,
        and this one 0.1 us apart; under Open MPI 5.0.11 both leave 0.05 us (medians on one host's clock).
        """
        for exchange in self._rounds:
            exchange()


def count(case: Case, ranks: int) -> int:
    """The count that the call is given: elements of the whole message, or of one rank's shard."""
    return case.elements // ranks if case.definition.sharded else case.elements


def in_blocks(case: Case, ranks: int) -> bool:
    """Whether a reduce_scatter is MPI_Reduce_scatter_block: adding up the counts of the other overflows in Open MPI."""
    return case.collective == "reduce_scatter" and count(case, ranks) * ranks > LARGEST_INT


def call_of(case: Case, send: object, receive: object, seat: Seat) -> tuple[str, Arguments]:
    """The name of the communicator's method, and what to call it with.

    Args:
        send, receive: the words of this rank's input and output (`Memory.words`); in place they are one, or overlap.
    """
    number, kind = count(case, seat.size), KINDS[case.dtype or "uint8"].mpi
    op = OPERATORS[case.op] if case.op else MPI.SUM
    root, at_root = case.root or 0, case.root == seat.rank
    whole = case.placement == "in"
    source: object = MPI.IN_PLACE if whole else _message(send, number, kind)
    target = _message(receive, number, kind)
    match case.collective:
        case "all_reduce":
            return "Allreduce", (source, target, op)
        case "reduce":
            return "Reduce", (source, target, op, root) if at_root else (_message(send, number, kind), None, op, root)
        case "broadcast":
            return "Bcast", (target, root)
        case "reduce_scatter" if in_blocks(case, seat.size):
            return "Reduce_scatter_block", (source, target, op)
        case "reduce_scatter":
            everything = _message(send, number * seat.size, kind)
            shards = [number] * seat.size
            if whole:
                return "Reduce_scatter", (MPI.IN_PLACE, everything, shards, op)
            return "Reduce_scatter", (everything, target, shards, op)
        case "all_gather":
            return "Allgather", (source, target)
        case "all_to_all":
            return "Alltoall", (source, target)
        case "gather":
            return "Gather", (source, target, root) if at_root else (_message(send, number, kind), None, root)
        case "scatter":
            if not at_root:
                return "Scatter", (None, target, root)
            return "Scatter", (_message(send, number, kind), MPI.IN_PLACE if whole else target, root)
        case "send_recv":
            following, previous = (seat.rank + 1) % seat.size, (seat.rank - 1) % seat.size
            return "Sendrecv", (source, following, 0, target, previous, 0)
        case "barrier":
            return "Barrier", ()
    raise AssertionError(case.collective)


def _message(words: object, number: int, kind: MPI.Datatype) -> tuple[object, ...]:
    """A buffer as mpi4py reads it fastest: bytes, count and type, so that it has nothing to find out."""
    return words, number, kind
