"""A whole library on the fake backend, as a sweep asks for it."""

from collections.abc import Mapping

from commbench.collectives import Placement
from commbench.launching.identity import Identity
from commbench.measuring.roll_call import Board
from commbench.measuring.seam import Backend, World
from commbench.measuring.session import Buffers, Device
from commbench.sweepfile.records import Mode

from .fakes import PLACEMENTS, FakeBackend, FakeWorld, Law, Meeting


class FakeSession:
    """See `commbench.measuring.session.Session`, for one rank of a world that exists already."""

    placements: Mapping[str, tuple[Placement | None, ...]] = PLACEMENTS
    default_modes: tuple[Mode, ...] = ("isolated",)
    copied: frozenset[str] = frozenset()

    def __init__(self, world: FakeWorld | None = None, law: Law | None = None, *, free_bytes: int = 1 << 30) -> None:
        self._world = world or FakeWorld(0, Meeting(1))
        self.law = law or Law()
        self.device = Device(None, "fake CPU", free_bytes, 1 << 20)
        self.backends: list[FakeBackend] = []
        self.left = False

    def meet(self, identity: Identity) -> Board | None:
        return None

    def join(self) -> FakeWorld:
        return self._world

    def part(self, world: World, size: int, groups: tuple[tuple[int, ...], ...]) -> FakeWorld | None:
        smaller = self._world.meeting.share(world.rank, Meeting(size) if world.rank == 0 else None)[0]
        return FakeWorld(world.rank, smaller) if world.rank < size else None

    def open(self, world: World, groups: tuple[tuple[int, ...], ...], buffers: Buffers) -> Backend:
        self.backends.append(FakeBackend(world, self.law, groups))
        return self.backends[-1]

    def new_links(self) -> None:
        return None

    def facts(self) -> dict[str, str]:
        return {"fake": "1"}

    def backend_name(self) -> str:
        return "fake"

    def leave(self) -> None:
        self.left = True


def identity_of(world: FakeWorld) -> Identity:
    """Who a rank is, as torchrun would have told it."""
    return Identity(world.rank, world.size, world.rank, world.size, "torchrun", 0)
