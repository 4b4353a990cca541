"""What MPI benchmarks call things: the collective behind a title, and our name of an MPI datatype."""

import re
from dataclasses import dataclass

from commbench.collectives import COLLECTIVES

_DATATYPES = {
    "MPI_CHAR": "int8", "MPI_SIGNED_CHAR": "int8", "MPI_INT8_T": "int8", "MPI_BYTE": "uint8",
    "MPI_UNSIGNED_CHAR": "uint8", "MPI_UINT8_T": "uint8", "MPI_INT": "int32", "MPI_INT32_T": "int32",
    "MPI_UNSIGNED": "uint32", "MPI_UINT32_T": "uint32", "MPI_LONG": "int64", "MPI_LONG_LONG": "int64",
    "MPI_INT64_T": "int64", "MPI_UINT64_T": "uint64", "MPI_FLOAT": "float32", "MPI_DOUBLE": "float64",
}  # fmt: skip

_COLLECTIVES = {
    "allreduce": "all_reduce", "reduce": "reduce", "broadcast": "broadcast", "bcast": "broadcast",
    "reducescatter": "reduce_scatter", "reducescatterblock": "reduce_scatter",
    "allgather": "all_gather", "allgatherv": "all_gather", "gather": "gather", "gatherv": "gather",
    "scatter": "scatter", "scatterv": "scatter", "barrier": "barrier",
    "alltoall": "all_to_all", "alltoallv": "all_to_all", "alltoallw": "all_to_all",
    "alltoallpersonalizedexchange": "all_to_all", "alltoallvpersonalizedexchange": "all_to_all",
    "alltoallwpersonalizedexchange": "all_to_all",
}  # fmt: skip
_VECTORS = {"allgatherv", "gatherv", "scatterv", "alltoallv", "alltoallw"}
_BLOCKS = {"all_gather", "gather", "scatter", "all_to_all"}


@dataclass(frozen=True)
class Operation:
    """The operation that a benchmark times.

    Attributes:
        name: in MPI's spelling, lower case: "allreduce", "ialltoallv".
        collective: ours, None for what is none (point-to-point, one-sided, start-up).
        block: MPI counts one rank's block, so that size is a share of the whole message.
        nonblocking: time and overlap of a call that returns at once.
        persistent: a request made once and started again and again.
    """

    name: str
    collective: str | None
    block: bool = False
    nonblocking: bool = False
    persistent: bool = False

    @property
    def moves(self) -> bool:
        """False for a barrier."""
        return self.collective is None or COLLECTIVES[self.collective].moves

    @property
    def operator(self) -> str | None:
        """The operator of a reduction: MPI_SUM in all of these benchmarks."""
        return "sum" if self.collective is not None and COLLECTIVES[self.collective].reduces else None

    @property
    def note(self) -> str | None:
        """What the name of the collective does not say."""
        if self.name.removeprefix("i") in _VECTORS:
            return f"measured with {self.name}, whose counts are a vector; the benchmark gives every rank the same"
        return None


def operation_named(title: str) -> Operation:
    """The operation of a title: `Allreduce`, `Non-blocking All-to-All`, `Reduce_scatter_block`, `Ibcast` ..."""
    words = re.sub(r"[^a-z]", "", title.lower())
    persistent = words.startswith("persistent")
    words = words.removeprefix("persistent")
    spelt = words.startswith("nonblocking")
    words = words.removeprefix("nonblocking").removeprefix("mpi")
    if words not in _COLLECTIVES and words.startswith("i") and words[1:] in _COLLECTIVES:
        words, spelt = words[1:], True
    collective = _COLLECTIVES.get(words)
    name = words.removesuffix("personalizedexchange")
    return Operation(
        name=f"i{name}" if spelt else name,
        collective=collective,
        block=collective in _BLOCKS,
        nonblocking=spelt,
        persistent=persistent,
    )


def mpi_datatype(name: str) -> str | None:
    """Our dtype of an MPI datatype's name, None if we have none."""
    return _DATATYPES.get(name.strip().rstrip(".").upper())
