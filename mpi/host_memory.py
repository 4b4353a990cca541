"""The host's memory, in numpy's arrays."""

import os
from typing import Any

import numpy as np

from commbench.measuring.facts import available_memory_bytes, machine_facts
from commbench.measuring.payload import Table
from commbench.measuring.session import Buffers, Device
from mpi.buffers import POISON, Array, Slabs, count_wrong, fill
from mpi.calls import KINDS


class HostMemory:
    """numpy's arrays. See `mpi.memory.Memory`."""

    library = "numpy"
    on_gpu = False

    def choose(self, local_rank: int) -> Device:  # noqa: ARG002  (a GPU's memory needs it)
        """The host, which its ranks share."""
        cache = machine_facts(os.environ)["last_level_cache_bytes"] or 0
        return Device(None, "CPU", available_memory_bytes() or 0, int(cache))

    def slabs(self, buffers: Buffers) -> Slabs:
        return Slabs(buffers)

    def dtype(self, name: str) -> np.dtype[Any]:
        return KINDS[name].array

    def words(self, array: Array) -> object:
        return array.data.cast("B")

    def poison(self, array: Array) -> None:
        array.view(np.uint8).fill(POISON)

    def fill(self, array: Array, table: Table) -> None:
        fill(array, table)

    def count_wrong(self, array: Array, table: Table, tolerance: float) -> int:
        return count_wrong(array, table, tolerance)

    def settle(self) -> None:
        """Nothing is under way."""
