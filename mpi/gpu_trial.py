"""A process of its own that gives MPI pointers to GPU memory: `python -m mpi.gpu_trial torch|cupy INDEX`.

It is started by `mpi.gpu_awareness`, is alone in its world, and may crash. On the way it prints how far it came.
"""

import sys
from collections.abc import Callable

import numpy as np

from commbench.measuring.payload import PERIOD
from commbench.measuring.session import Buffers
from mpi import implementation
from mpi.calls import KINDS
from mpi.implementation import MPI
from mpi.memory import Memory

ELEMENTS = 1 << 16  # past any library's short cuts for few bytes


def try_calls(memory: Memory, index: int) -> bool:
    """Sum, copy and send to itself on the GPU's memory; whether the bytes arrive."""
    memory.choose(index)
    dtype, kind = memory.dtype("float32"), KINDS["float32"].mpi
    slabs = memory.slabs(Buffers(8 * ELEMENTS, 8 * ELEMENTS, rotate=False))
    send, receive = (slab.take(ELEMENTS, dtype, rotate=False) for slab in (slabs.send, slabs.receive))
    table = np.arange(PERIOD)
    source, target = ((memory.words(array), ELEMENTS, kind) for array in (send, receive))
    comm = MPI.COMM_WORLD
    calls: tuple[Callable[[], object], ...] = (
        lambda: comm.Sendrecv(source, 0, 0, target, 0, 0),
        lambda: comm.Allreduce(source, target, MPI.SUM),
        lambda: comm.Allgather(source, target),
    )
    for call in calls:
        memory.fill(send, table)
        memory.poison(receive)
        memory.settle()
        call()
        if memory.count_wrong(receive, table, 0.0):
            return False
    return True


def main() -> int:
    """Returns 0 if all arrives."""
    library, index = sys.argv[1:]
    implementation.start()
    print("started", flush=True)  # noqa: T201
    memory: Memory
    if library == "torch":
        from mpi.torch_memory import TorchMemory

        memory = TorchMemory()
    else:
        from mpi.cupy_memory import CupyMemory

        memory = CupyMemory()
    right = try_calls(memory, int(index))
    print("right" if right else "wrong", flush=True)  # noqa: T201
    implementation.end()
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
