"""Ranks under torch.distributed: how they meet, agree on numbers, and post where they are.

The control plane is a gloo group of its own, so that decisions never disturb the measured group, and its store
connection is a second one, so that the watch can use it while the main thread waits.
"""

import os
import warnings
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch.distributed as dist
from torch.distributed import Store, TCPStore  # type: ignore[attr-defined]
from torch.distributed.rendezvous import rendezvous

from commbench.errors import LaunchError
from commbench.launching.identity import Identity
from commbench.measuring.watch import PHASES

# The watch decides when a rank is gone; torch's own limits only have to stay out of its way.
NEVER = timedelta(days=1)
ANSWER = timedelta(seconds=5)  # the board answers in milliseconds or is gone

all_gather_tensor = getattr(dist, "all_gather_single", None) or dist.all_gather_into_tensor
reduce_scatter_tensor = getattr(dist, "reduce_scatter_single", None) or dist.reduce_scatter_tensor


class TorchWorld:
    """Some ranks of the job with a control group. `rank` is the rank among them, `ranks` are their global ranks."""

    def __init__(
        self,
        ranks: Sequence[int],
        control: dist.ProcessGroup,
        collective: dist.ProcessGroup | None = None,
        together: dist.ProcessGroup | None = None,
    ) -> None:
        self.ranks = tuple(ranks)
        self.size = len(ranks)
        self.rank = self.ranks.index(dist.get_rank())
        self.control = control
        self.collective = collective  # the group that this rank measures in, once there is one
        self.together = together  # all ranks of the part, on the measured backend: what groups align in

    def gather(self, values: Sequence[float]) -> npt.NDArray[np.float64]:
        """Every rank's values, shape (size, len(values))."""
        mine = torch.tensor(list(values), dtype=torch.float64)
        if self.size == 1:
            return mine.numpy().reshape(1, -1)
        everyone = torch.empty(self.size * len(values), dtype=torch.float64)
        all_gather_tensor(everyone, mine, group=self.control)
        return everyone.numpy().reshape(self.size, -1)

    def exchange(self, item: Any) -> list[Any]:
        """Every rank's item, by rank."""
        items: list[Any] = [None] * self.size
        dist.all_gather_object(items, item, group=self.control)
        return items

    def part(self, backend: str, size: int, groups: Sequence[Sequence[int]]) -> "TorchWorld | None":
        """The world of the first `size` ranks, cut into groups that run collectives; None on ranks outside it.

        Collective over all ranks of the job, whoever is in a group: torch numbers groups by the calls to new_group.
        """
        control = dist.new_group(list(self.ranks[:size]), backend="gloo", timeout=NEVER)
        together = dist.new_group(list(self.ranks[:size]), backend=backend, timeout=NEVER)
        formed = [dist.new_group([self.ranks[rank] for rank in group], backend=backend, timeout=NEVER)
                  for group in groups] if len(groups) > 1 else [together]  # fmt: skip
        if self.rank >= size:
            return None
        mine = next(made for made, group in zip(formed, groups, strict=True) if self.rank in group)
        return TorchWorld(self.ranks[:size], control, mine, together)

    def regrouped(self, backend: str, groups: Sequence[Sequence[int]]) -> "TorchWorld":
        """The same ranks, cut into other groups, one of which every rank is in. Only a group's members meet for it.

        torch then names a group by its ranks and by how many groups a process has, so each rank must have formed as
        many as its partners: all ranks call this equally often, and groups of before stay until the job ends.
        """
        group = next(group for group in groups if self.rank in group)
        mine = dist.new_group(
            [self.ranks[rank] for rank in group], backend=backend, timeout=NEVER, use_local_synchronization=True
        )
        return TorchWorld(self.ranks, self.control, mine, self.together)


class StoreBoard:
    """The watch's board, on a connection of its own to the store where the ranks met."""

    def __init__(self, rank: int, environ: Mapping[str, str]) -> None:
        self._rank = rank
        self._arrived: set[int] = set()
        # torchrun may start the workers anew on the same store: each start has its own keys
        self._prefix = f"commbench/{environ.get('TORCHELASTIC_RESTART_COUNT', '0')}"
        self._store = TCPStore(
            environ["MASTER_ADDR"], int(environ["MASTER_PORT"]), is_master=False, wait_for_workers=False, timeout=ANSWER
        )

    def post(self, text: bytes) -> None:
        self._store.set(self._key(self._rank), text.decode())

    def read(self, ranks: Sequence[int]) -> dict[int, bytes]:
        self._arrived.update(r for r in ranks if r not in self._arrived and self._store.check([self._key(r)]))
        present = [rank for rank in ranks if rank in self._arrived]
        posts = self._store.multi_get([self._key(rank) for rank in present]) if present else []
        return dict(zip(present, posts, strict=True))

    def claim(self, what: str) -> bool:
        return int(self._store.add(f"{self._prefix}/claim/{what}", 1)) == 1

    def _key(self, rank: int) -> str:
        return f"{self._prefix}/position/{rank}"


def meet(identity: Identity, environ: Mapping[str, str]) -> Store:
    """Reach the store where the ranks meet; on rank 0 without torchrun this also serves it.

    Raises:
        LaunchError: no meeting point is given, or it cannot be reached in time.
    """
    for name in ("MASTER_ADDR", "MASTER_PORT"):
        if not environ.get(name):
            raise LaunchError(
                "the ranks have no place to meet",
                expected="MASTER_ADDR and MASTER_PORT, as torchrun sets them",
                found=f"{name} is not set, although {identity.launcher} started rank {identity.rank}",
                fix="start with torchrun, or under MPI and srun use `python -m mpi4py -m mpi.sweep`",
            )
    os.environ.update(RANK=str(identity.rank), WORLD_SIZE=str(identity.world_size))
    try:
        store, _, _ = next(iter(rendezvous("env://", timeout=timedelta(seconds=PHASES["start"]))))
    except (RuntimeError, OSError, ValueError) as error:
        raise LaunchError(
            "the ranks cannot meet",
            expected=f"a store at {environ['MASTER_ADDR']}:{environ['MASTER_PORT']}",
            found=str(error).splitlines()[0],
            fix=f"commbench doctor --rendezvous {environ['MASTER_ADDR']}:{environ['MASTER_PORT']} --nodes N finds why",
        ) from None
    assert isinstance(store, Store)
    return store


def join(store: Store, backend: str, identity: Identity) -> TorchWorld:
    """Form the process groups of all ranks. Collective.

    Raises:
        LaunchError: torch was built without this backend.
    """
    if not dist.is_backend_available(backend):
        raise LaunchError(
            f"this torch has no backend {backend!r}",
            expected="gloo on CPUs, nccl on NVIDIA GPUs",
            found=f"torch {torch.__version__}, CUDA {'available' if torch.cuda.is_available() else 'not available'}",
            fix="choose --backend gloo, or install a torch build with that backend",
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's advice about device_id: passing it hangs in some versions (#153960)
        dist.init_process_group(backend, store=store, rank=identity.rank, world_size=identity.world_size, timeout=NEVER)
        control = dist.new_group(backend="gloo", timeout=NEVER)
    return TorchWorld(range(identity.world_size), control)


def leave() -> None:
    """Destroy the process groups: a gloo process that ends without it aborts at exit in about half of the launches."""
    if dist.is_initialized():
        dist.destroy_process_group()
