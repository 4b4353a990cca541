"""A GPU's memory, in CuPy's arrays. CuPy is imported here only."""

from typing import Any

import cupy
import numpy as np

from commbench.measuring.payload import Table
from commbench.measuring.session import Buffers, Device
from mpi.buffers import POISON, Slabs, count_wrong, fill
from mpi.calls import KINDS
from mpi.implementation import MPI


class CupyMemory:
    """CuPy's arrays. See `mpi.memory.Memory`."""

    library = "cupy"
    on_gpu = True

    def choose(self, local_rank: int) -> Device:
        """The GPU of this number; the first ones again where there are fewer GPUs than ranks."""
        index = local_rank % cupy.cuda.runtime.getDeviceCount()
        cupy.cuda.Device(index).use()
        properties = cupy.cuda.runtime.getDeviceProperties(index)
        free, _ = cupy.cuda.runtime.memGetInfo()
        return Device(
            _uuid(bytes(properties["uuid"])), properties["name"].decode(), free, int(properties["l2CacheSize"]), index
        )

    def slabs(self, buffers: Buffers) -> Slabs:
        return Slabs(buffers, lambda size: cupy.empty(size, dtype=np.uint8), cupy.asarray)

    def dtype(self, name: str) -> np.dtype[Any]:
        return KINDS[name].array

    def words(self, array: Any) -> object:
        return MPI.buffer.fromaddress(array.data.ptr, array.nbytes)

    def poison(self, array: Any) -> None:
        array.view(np.uint8).fill(POISON)

    def fill(self, array: Any, table: Table) -> None:
        fill(array, table, place=cupy.asarray)

    def count_wrong(self, array: Any, table: Table, tolerance: float) -> int:
        return count_wrong(array, table, tolerance, place=cupy.asarray)

    def settle(self) -> None:
        cupy.cuda.runtime.deviceSynchronize()


def _uuid(number: bytes) -> str:
    """As nvidia-smi and torch write it."""
    text = number[:16].hex()
    return f"GPU-{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
