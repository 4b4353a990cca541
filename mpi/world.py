"""Ranks under MPI: how they agree on numbers, and the communicators that a part of them measures in."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mpi.implementation import MPI


class MpiWorld:
    """Some ranks of the job, with a communicator of their own that nothing else uses.

    Attributes:
        collective: the group that this rank measures in, once there is one.
        together: all ranks that measure at the same time, in this group or another: they start together.
    """

    def __init__(
        self, control: MPI.Intracomm, collective: MPI.Intracomm | None = None, together: MPI.Intracomm | None = None
    ) -> None:
        self._control, self.collective, self.together = control, collective, together
        self.rank, self.size = control.Get_rank(), control.Get_size()

    def gather(self, values: Sequence[float]) -> npt.NDArray[np.float64]:
        """Every rank's values, shape (size, len(values))."""
        mine = np.array(values, dtype=np.float64)
        everyone = np.empty((self.size, len(mine)))
        self._control.Allgather(mine, everyone)
        return everyone

    def exchange(self, item: Any) -> list[Any]:
        """Every rank's item, by rank."""
        return list(self._control.allgather(item))

    def part(self, size: int, groups: Sequence[Sequence[int]]) -> "MpiWorld | None":
        """The world of the first `size` ranks, cut into groups that run collectives; None on ranks outside it.

        Collective over all ranks of this world.
        """
        inside = self.rank < size
        control = MPI.Intracomm(self._control.Split(0 if inside else MPI.UNDEFINED, self.rank))
        if not inside:
            return None
        together = MPI.Intracomm(control.Dup())
        mine = next(number for number, group in enumerate(groups) if self.rank in group)
        collective = together
        if len(groups) > 1:
            collective = MPI.Intracomm(together.Split(mine, groups[mine].index(self.rank)))
        return MpiWorld(control, collective, together)

    def regrouped(self, groups: Sequence[Sequence[int]]) -> "MpiWorld":
        """The same ranks, cut into other groups, one of which every rank is in; the groups of before end.

        Only a group's members meet for it.
        """
        assert self.together, "a part of the job is cut into groups"
        if self.collective is not None and self.collective is not self.together:
            self.collective.Free()
        group = next(group for group in groups if self.rank in group)
        everyone = self.together.Get_group()
        members = everyone.Incl(list(group))
        mine = MPI.Intracomm(self.together.Create_group(members))
        members.Free()
        everyone.Free()
        return MpiWorld(self._control, mine, self.together)
