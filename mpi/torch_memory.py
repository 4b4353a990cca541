"""A GPU's memory, in torch's tensors; or the host's, in which the same code is tested without a GPU."""

from typing import Any

import torch

from commbench.dtypes import ELEMENT_BYTES
from commbench.measuring.payload import Table
from commbench.measuring.session import Buffers, Device
from commbench.measuring.torch_buffers import POISON, Slabs, count_wrong, fill
from commbench.measuring.torch_session import cuda_device
from mpi.calls import KINDS
from mpi.host_memory import HostMemory
from mpi.implementation import MPI

SIGNED = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}  # by size in bytes


class TorchMemory:
    """torch's tensors. See `mpi.memory.Memory`."""

    library = "torch"

    def __init__(self, device_type: str = "cuda") -> None:
        self.on_gpu = device_type == "cuda"
        self._device = torch.device(device_type)

    def choose(self, local_rank: int) -> Device:
        """The GPU of this number; the first ones again where there are fewer GPUs than ranks."""
        if not self.on_gpu:
            return HostMemory().choose(local_rank)
        chosen = cuda_device(local_rank)
        self._device = torch.device(f"cuda:{chosen.index}")
        return chosen

    def slabs(self, buffers: Buffers) -> Slabs:
        return Slabs(self._device, buffers)

    def dtype(self, name: str) -> torch.dtype:
        """Numbers as they are, words as signed ones of their size: torch compares few unsigned types."""
        if name.startswith("float") and KINDS[name].reducible:
            return getattr(torch, name)  # type: ignore[no-any-return]
        return torch.uint8 if name == "uint8" else SIGNED[ELEMENT_BYTES[name]]

    def words(self, array: Any) -> object:
        return MPI.buffer.fromaddress(array.data_ptr(), array.nbytes)

    def poison(self, array: Any) -> None:
        array.view(torch.uint8).fill_(POISON)

    def fill(self, array: Any, table: Table) -> None:
        fill(array, table)

    def count_wrong(self, array: Any, table: Table, tolerance: float) -> int:
        return count_wrong(array, table, tolerance)

    def settle(self) -> None:
        if self.on_gpu:
            torch.cuda.synchronize()
