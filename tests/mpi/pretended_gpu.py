"""A sweep whose buffers are said to be in GPU memory: `mpirun … python -m mpi4py -m tests.mpi.pretended_gpu …`."""

import sys

from mpi.sweep import main


def plant() -> None:
    """Replace the GPU's memory by the host's."""
    from mpi import device_buffers
    from mpi.host_memory import HostMemory

    class Pretended(HostMemory):
        on_gpu = True

    vars(device_buffers)["device_memory"] = Pretended


if __name__ == "__main__":
    plant()
    sys.exit(main())
