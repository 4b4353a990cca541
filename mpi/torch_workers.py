"""torch.distributed's collectives in ranks that MPI started: MPI tells them who they are and where they meet."""

import os
import socket
from collections.abc import Sequence

from commbench.launching.identity import Identity
from commbench.measuring.torch_session import TorchSession
from commbench.measuring.torch_world import StoreBoard
from mpi import implementation
from mpi.implementation import MPI


class TorchUnderMpi(TorchSession):
    """gloo or NCCL, as under torchrun; MPI only starts the ranks and is asked nothing once they have met."""

    def meet(self, identity: Identity) -> StoreBoard | None:
        """Agree on a place to meet, and meet there."""
        world = MPI.COMM_WORLD
        hosts = world.allgather(socket.gethostname())
        place = world.bcast(meeting_place(hosts, os.environ.get("MASTER_ADDR"), os.environ.get("MASTER_PORT"))
                            if identity.rank == 0 else None)  # fmt: skip
        os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = place
        return super().meet(identity)

    def facts(self) -> dict[str, object]:
        """Of torch, and of the MPI library that started the ranks."""
        return {**super().facts(), **implementation.facts()}

    def leave(self) -> None:
        """Destroy the process groups, then finalise MPI."""
        super().leave()
        implementation.end()


def meeting_place(hosts: Sequence[str], address: str | None, port: str | None) -> tuple[str, str]:
    """Address and port where rank 0 will serve the store; what the user has set is kept.

    Args:
        hosts: the ranks' hosts, rank 0's first.
    """
    return address or _own_address(hosts), port or str(_free_port())


def _own_address(hosts: Sequence[str]) -> str:
    """This host's address on the way to another host of the job; loopback where there is no other."""
    other = next((host for host in hosts if host != hosts[0]), None)
    if other is None:
        return "127.0.0.1"
    try:
        family, _, _, _, where = socket.getaddrinfo(other, 9, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect(where)  # sends nothing: it only chooses the interface
            return str(probe.getsockname()[0])
    except OSError:
        return hosts[0]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])
