"""Where the buffers of MPI's calls are: in the host's memory or in a GPU's. What an operation asks of either."""

from typing import Any, Protocol

from commbench.measuring.payload import Payload, Table
from commbench.measuring.seam import Case
from commbench.measuring.session import Buffers, Device

Array = Any  # numpy's, CuPy's or torch's, 1-D


class Slab(Protocol):
    """One allocation that hands out slices. See `mpi.buffers.Slab`, or torch's."""

    memory: Array
    filled_with: tuple[Payload, int] | None
    laps: int

    def fill(self, payload: Payload, rank: int, dtype: Any) -> None:
        """Fill all of it with `rank`'s payload."""

    def begin(self) -> None:
        """Count laps from here."""

    def take(self, elements: int, dtype: Any, *, rotate: bool) -> Array:
        """The next slice."""

    def restore(self, dtype: Any) -> None:
        """Write the payload again over what slices since `begin` may have changed."""


class Slabs(Protocol):
    """The slabs of a backend."""

    rotate: bool

    @property
    def send(self) -> Slab:
        """Input buffers, and the only ones of calls in place."""

    @property
    def receive(self) -> Slab:
        """Output buffers of calls out of place."""

    def slices(self, case: Case, ranks: int) -> int:
        """How many slices for a case the send slab hands out before it starts again."""


class Memory(Protocol):
    """A kind of memory, and what is done to buffers there.

    Attributes:
        library: whose arrays they are: numpy, torch, cupy.
        on_gpu: MPI must be able to read and write a GPU's memory.
    """

    library: str
    on_gpu: bool

    def choose(self, local_rank: int) -> Device:
        """This rank's device, which is then the one that buffers are on."""

    def slabs(self, buffers: Buffers) -> Slabs:
        """Slabs of those sizes."""

    def dtype(self, name: str) -> Any:
        """The library's dtype in which elements of our dtype are written and compared."""

    def words(self, array: Array) -> object:
        """The array's bytes, as mpi4py takes them."""

    def poison(self, array: Array) -> None:
        """Fill it with what no call writes."""

    def fill(self, array: Array, table: Table) -> None:
        """Fill it with a periodic table."""

    def count_wrong(self, array: Array, table: Table, tolerance: float) -> int:
        """Elements that differ from a periodic table by more than `tolerance`, relative."""

    def settle(self) -> None:
        """Wait until all of that is done: MPI does not wait for a GPU's queue."""
