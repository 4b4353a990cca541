"""The Session on MPI: collectives by mpi4py, on buffers in the host's memory or in a GPU's."""

from collections.abc import Mapping
from typing import cast

from commbench.collectives import Placement
from commbench.errors import LaunchError
from commbench.launching.identity import Identity
from commbench.measuring.nccl_log import Link
from commbench.measuring.options import Options
from commbench.measuring.seam import Backend, World
from commbench.measuring.session import Buffers
from commbench.sweepfile.records import Mode
from mpi import board, calls, implementation
from mpi.backend import MpiBackend
from mpi.gpu_awareness import refuse_without_gpu_awareness
from mpi.implementation import MPI
from mpi.memory import Memory
from mpi.python_cost import python_call_seconds
from mpi.transport import links
from mpi.world import MpiWorld


class MpiSession:
    """MPI's own collectives.

    Args:
        memory: where buffers are.
        printed: what the library printed while it started; rank 0's may hold the matrix of paths.
        persistent: measure persistent collectives.
    """

    placements: Mapping[str, tuple[Placement | None, ...]] = calls.PLACEMENTS
    default_modes: tuple[Mode, ...] = ("isolated",)
    copied: frozenset[str] = frozenset()

    def __init__(self, options: Options, memory: Memory, printed: str, *, persistent: bool = False) -> None:
        self._options, self._memory, self._printed, self._persistent = options, memory, printed, persistent
        self._cost: dict[str, float] = {}
        self._gpu_awareness: tuple[str, ...] = ()
        self._newly_opened = 0  # ranks of the world that was opened since its paths were last asked for

    def meet(self, identity: Identity) -> board.HostBoard | None:
        """Choose the device, and find the ranks of this host."""
        if self._persistent:
            refuse_without_persistent(implementation.name())
        self.device = self._memory.choose(identity.local_rank or 0)
        if self._memory.on_gpu:
            self._gpu_awareness = refuse_without_gpu_awareness(self._memory, self.device, identity)
        if identity.world_size == 1:
            return None
        host = MPI.Intracomm(MPI.COMM_WORLD.Split_type(MPI.COMM_TYPE_SHARED))
        return board.meet(MPI.COMM_WORLD, host)

    def join(self) -> World:
        """All ranks, on a communicator of their own; and what a call costs before it meets anybody."""
        self._cost = python_call_seconds(self._options.choices, persistent=self._persistent)
        return MpiWorld(MPI.COMM_WORLD.Dup())

    def part(self, world: World, size: int, groups: tuple[tuple[int, ...], ...]) -> World | None:
        """The world of the first `size` ranks."""
        return cast(MpiWorld, world).part(size, groups)

    def regroup(self, world: World, groups: tuple[tuple[int, ...], ...]) -> World:
        """The same ranks in other groups."""
        return cast(MpiWorld, world).regrouped(groups)

    def open(self, world: World, groups: tuple[tuple[int, ...], ...], buffers: Buffers) -> Backend:
        """The backend with its slabs."""
        self._newly_opened = world.size
        return MpiBackend(
            cast(MpiWorld, world), self._memory, groups=groups, buffers=buffers, persistent=self._persistent
        )

    def new_links(self) -> tuple[Link, ...] | None:
        """From Open MPI's matrix, once for each world; other libraries say nothing that names a path."""
        ranks, self._newly_opened = self._newly_opened, 0
        return links(self._printed, ranks) or None

    def facts(self) -> dict[str, object]:
        """The library's version, whose arrays are measured, and what calls cost from Python (s)."""
        arrays = {"arrays": self._memory.library, "gpu_awareness": self._gpu_awareness} if self._memory.on_gpu else {}
        return {**implementation.facts(), **arrays, "python_call_seconds": self._cost}

    def backend_name(self) -> str:
        """mpi."""
        return "mpi"

    def leave(self) -> None:
        """Finalise MPI."""
        implementation.end()


def refuse_without_persistent(name: str) -> None:
    """Raises LaunchError where the library has no persistent collectives."""
    try:
        MPI.COMM_SELF.Barrier_init().Free()
    except (NotImplementedError, MPI.Exception) as error:
        raise LaunchError(
            "this MPI library has no persistent collectives",
            expected="MPI-4, or Open MPI 5, for --persistent",
            found=f"{name} ({error})",
            fix="leave --persistent away, or use such a library",
        ) from None
