"""The contract of backends on MPI: `mpirun -n 4 … python -m mpi4py -m tests.mpi.contract`.

One launch checks worlds of 1 rank up to all, and groups, on the session and the backend that a sweep uses, as calls
and as persistent collectives. Rank 0 prints one JSON object: for each world, the collectives that ran.
"""

import argparse
import json
import os

from commbench.launching.identity import identify
from commbench.measuring.options import parse
from commbench.measuring.seam import Operation
from commbench.measuring.session import Buffers
from commbench.sweepfile.records import Mode
from mpi import implementation
from mpi.calls import KINDS
from mpi.host_memory import HostMemory
from mpi.memory import Memory
from mpi.operation import MpiOperation
from mpi.session import MpiSession
from mpi.who import identity
from tests.measuring.backend_contract import check_backend

MESSAGE_BYTES = 1024
# float32 overflows after a hundred in-place sums of two ranks: its buffers must be refilled in time
TYPES = ("float32", "float16", "bfloat16", "int8", "uint64", "float8_e4m3")
ROOM = 16384  # bytes of each slab: a few slices, so that rotating ones come round
MODES: tuple[Mode, ...] = ("pipelined",)  # a call of isolated mode is a sample of one


def finite(operation: Operation) -> bool:
    """Whether the buffers that in-place sums make grow still hold finite numbers only."""
    assert isinstance(operation, MpiOperation)
    buffer = operation._slabs.send.memory.view(operation._dtype)
    return not KINDS[operation._case.dtype or "uint8"].reducible or bool((buffer - buffer == 0).all())


def worlds(ranks: int) -> list[tuple[str, tuple[tuple[int, ...], ...], bool]]:
    """(name, groups, whether buffers rotate) of each world, the whole one last."""
    smaller = [(f"{size} of {ranks}", (tuple(range(size)),), size % 2 == 0) for size in range(1, ranks)]
    halves = [("halves", (tuple(range(0, ranks, 2)), tuple(range(1, ranks, 2))), True)] if ranks % 2 == 0 else []
    return [*smaller, *halves, ("whole", (tuple(range(ranks)),), ranks % 2 == 1)]


def tensors() -> Memory:
    """All of the device buffers' code but the device."""
    from mpi.torch_memory import TorchMemory

    return TorchMemory("cpu")


def main() -> None:
    """Check every world in turn: the whole one with all types."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--persistent", action="store_true", help="persistent collectives")
    parser.add_argument("--tensors", action="store_true", help="torch's tensors, as on a GPU, in the host's memory")
    parser.add_argument("--types", default=",".join(TYPES))
    asked = parser.parse_args()
    types = tuple(asked.types.split(","))
    memory = tensors() if asked.tensors else HostMemory()
    session = MpiSession(parse(["all"]), memory, implementation.start(), persistent=asked.persistent)
    session.meet(identity(identify(os.environ)))
    everyone = session.join()
    ran = {}
    for name, groups, rotate in worlds(everyone.size):
        world = session.part(everyone, sum(map(len, groups)), groups)
        if world is not None:
            backend = session.open(world, groups, Buffers(ROOM, ROOM, rotate))
            dtypes = types if name == "whole" else types[:1]
            cases = check_backend(backend, dtypes=dtypes, modes=MODES, message_bytes=MESSAGE_BYTES, finite=finite)
            ran[name] = sorted({case.collective for case in cases})
        everyone.exchange(None)
    if everyone.rank == 0:
        print(json.dumps(ran))
    session.leave()


if __name__ == "__main__":
    main()
