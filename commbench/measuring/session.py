"""What a sweep asks of a library around measuring: how ranks meet, what device they have, how a backend is opened."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from commbench.collectives import Placement
from commbench.launching.identity import Identity
from commbench.measuring.nccl_log import Link
from commbench.measuring.roll_call import Board
from commbench.measuring.seam import Backend, World
from commbench.sweepfile.records import Mode


@dataclass(frozen=True)
class Device:
    """What a rank measures on.

    Attributes:
        unique: names the device among all hosts (a GPU's uuid); None for CPUs, which ranks share.
        name: its model.
        free_bytes: memory that this host's ranks may use together on it.
        cache_bytes: its last-level cache.
        index: its number for the driver, None for CPUs.
    """

    unique: str | None
    name: str
    free_bytes: int
    cache_bytes: int
    index: int | None = None


@dataclass(frozen=True)
class Buffers:
    """The two slabs a backend allocates (bytes), and whether slices of them rotate."""

    send_bytes: int
    receive_bytes: int
    rotate: bool


class Session(Protocol):
    """A library's side of one launch. `meet`, `join` and `part` are collective over all ranks, `open` over a part's."""

    device: Device
    default_modes: tuple[Mode, ...]

    @property
    def copied(self) -> frozenset[str]:
        """The collectives whose whole message the library copies for itself during a call."""

    @property
    def placements(self) -> Mapping[str, tuple[Placement | None, ...]]:
        """The placements that each collective has in this library."""

    def meet(self, identity: Identity) -> Board | None:
        """Reach the other ranks; returns where the watch may post. Nothing can hang unseen after this."""

    def join(self) -> World:
        """All ranks, able to agree."""

    def part(self, world: World, size: int, groups: tuple[tuple[int, ...], ...]) -> World | None:
        """The first `size` ranks of `world`, cut into groups that run collectives; None on the other ranks."""

    def open(self, world: World, groups: tuple[tuple[int, ...], ...], buffers: Buffers) -> Backend:
        """The backend on a world, its buffers allocated."""

    def new_links(self) -> tuple[Link, ...] | None:
        """Paths that the library has logged since the last call; None where it says nothing about them."""

    def facts(self) -> Mapping[str, object]:
        """Versions of the libraries in use, as texts; and anything else that a reader must know about them."""

    def backend_name(self) -> str:
        """The backend's name in the file."""

    def leave(self) -> None:
        """Take the process groups down, so that the process can end cleanly."""
