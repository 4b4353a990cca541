"""Gives MPI pages that nobody may touch, as a GPU's memory is to a library that is not GPU-aware.

python -m tests.mpi.forbidden_memory
"""

import ctypes
import mmap

from mpi import implementation
from mpi.implementation import MPI

NOBODY = 0  # PROT_NONE
SIZE = 1 << 16


def main() -> None:
    """Dies in the call."""
    implementation.start()
    print("started", flush=True)
    memory = mmap.mmap(-1, SIZE)
    words = MPI.buffer.frombuffer(memory)
    ctypes.CDLL(None).mprotect(ctypes.c_void_p(words.address), SIZE, NOBODY)
    MPI.COMM_WORLD.Sendrecv((words, SIZE, MPI.BYTE), 0, 0, (bytearray(SIZE), SIZE, MPI.BYTE), 0, 0)


if __name__ == "__main__":
    main()
