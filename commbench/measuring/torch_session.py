"""The Session on torch.distributed: one process per GPU with NCCL, or CPU processes with gloo."""

import os
from collections.abc import Mapping
from typing import cast

import torch
from torch.distributed import Store  # type: ignore[attr-defined]

from commbench.collectives import Placement
from commbench.errors import LaunchError
from commbench.launching.identity import Identity
from commbench.measuring import torch_calls
from commbench.measuring.device_state import topology
from commbench.measuring.facts import available_memory_bytes, machine_facts
from commbench.measuring.nccl_log import Link, NcclLog
from commbench.measuring.seam import Backend, World
from commbench.measuring.session import Buffers, Device
from commbench.measuring.torch_backend import TorchBackend
from commbench.measuring.torch_world import StoreBoard, TorchWorld, join, leave, meet
from commbench.sweepfile.records import Mode

# A rank grows by the whole message at the first call: torch flattens what it gathers and clones what it reduces.
_COPIED_BY_GLOO = frozenset({"reduce_scatter", "all_gather", "gather"})


class TorchSession:
    """torch.distributed with one backend.

    Args:
        backend: "gloo", "nccl", or None for what the machine has.
        shared_device: let ranks share a GPU (a functional test: NCCL then talks over its network path).
    """

    placements: Mapping[str, tuple[Placement | None, ...]] = torch_calls.PLACEMENTS

    def __init__(self, backend: str | None, environ: Mapping[str, str], *, shared_device: bool = False) -> None:
        self._environ, self._shared = environ, shared_device
        on_gpu = torch.cuda.is_available() and backend != "gloo"
        self._backend = backend or ("nccl" if on_gpu else "gloo")
        self._on_gpu = on_gpu
        self.copied = _COPIED_BY_GLOO if self._backend == "gloo" else frozenset()
        self.default_modes: tuple[Mode, ...] = ("isolated", "pipelined") if on_gpu else ("isolated",)
        self._log: NcclLog | None = None
        self._meeting: tuple[Store, Identity] | None = None

    def meet(self, identity: Identity) -> StoreBoard | None:
        """Choose the device, reach the store."""
        if self._backend == "nccl" and not torch.cuda.is_available():
            raise LaunchError(
                "the nccl backend needs a GPU",
                expected="a CUDA device that torch can use",
                found=f"torch {torch.__version__} sees none",
                fix="choose --backend gloo, or start on a machine with GPUs and a CUDA build of torch",
            )
        self.device = self._choose(identity.local_rank or 0)
        if self._backend == "nccl":
            self._log = NcclLog(os.environ)
        if self._shared:
            # NCCL refuses two ranks of one host on a device; with a host id each they count as hosts apart
            os.environ["NCCL_HOSTID"] = f"commbench-{identity.rank}"
        self._meeting = meet(identity, self._environ), identity
        return StoreBoard(identity.rank, os.environ) if identity.world_size > 1 else None

    def _choose(self, local_rank: int) -> Device:
        if not self._on_gpu:
            cache = machine_facts(self._environ)["last_level_cache_bytes"] or 0
            return Device(None, "CPU", available_memory_bytes() or 0, int(cache))
        return cuda_device(local_rank)

    def join(self) -> World:
        """Form the process groups."""
        assert self._meeting is not None, "ranks meet before they join"
        store, identity = self._meeting
        return join(store, self._backend, identity)

    def part(self, world: World, size: int, groups: tuple[tuple[int, ...], ...]) -> World | None:
        """The world of the first `size` ranks."""
        return cast(TorchWorld, world).part(self._backend, size, groups)

    def regroup(self, world: World, groups: tuple[tuple[int, ...], ...]) -> World:
        """The same ranks in other groups."""
        return cast(TorchWorld, world).regrouped(self._backend, groups)

    def open(self, world: World, groups: tuple[tuple[int, ...], ...], buffers: Buffers) -> Backend:
        """The backend with its slabs."""
        device = torch.device(f"cuda:{self.device.index}") if self._on_gpu else torch.device("cpu")
        return TorchBackend(cast(TorchWorld, world), self._backend, device, groups=groups, buffers=buffers)

    def new_links(self) -> tuple[Link, ...] | None:
        """From NCCL's log; gloo says nothing about its paths."""
        return self._log.new_links() if self._log else None

    def facts(self) -> dict[str, object]:
        """torch's version, and CUDA's and NCCL's where they are used; how this host's devices are joined."""
        facts: dict[str, object] = {"torch": str(torch.__version__)}
        if self._on_gpu:
            facts["cuda"] = str(torch.version.cuda)
            facts["nccl"] = ".".join(map(str, torch.cuda.nccl.version()))  # type: ignore[no-untyped-call]
            facts["topology"] = topology()
        return facts

    def backend_name(self) -> str:
        """gloo, nccl …"""
        return self._backend

    def leave(self) -> None:
        """Destroy the process groups."""
        leave()
        if self._log:
            self._log.remove()


def cuda_device(local_rank: int) -> Device:
    """The GPU of a rank, which becomes torch's current one."""
    index = (
        local_rank % torch.cuda.device_count()
    )  # with too few, two ranks meet on one: the check of the world says so
    torch.cuda.set_device(index)
    properties = torch.cuda.get_device_properties(index)
    free, _ = torch.cuda.mem_get_info(index)
    return Device(f"GPU-{properties.uuid}", properties.name, free, int(properties.L2_cache_size), index)
