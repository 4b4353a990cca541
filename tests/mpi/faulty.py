"""A sweep that goes wrong on rank 1: `mpirun … python -m mpi4py -m tests.mpi.faulty OPTIONS`.

max   its result has one wrong element
min   it raises an error that the other ranks do not have
"""

import sys

from mpi.sweep import main

RANK = 1


def plant() -> None:
    """Replace what an operation checks and times by what also goes wrong."""
    from mpi import backend
    from mpi.operation import MpiOperation

    class Faulty(MpiOperation):
        def wrong(self) -> int:
            return super().wrong() + (self._case.op == "max" and self._seat.rank == RANK)

        def time(self, calls: int) -> float:
            if self._case.op == "min" and self._seat.rank == RANK:
                raise ValueError("planted in one rank")
            return super().time(calls)

    vars(backend)[MpiOperation.__name__] = Faulty


if __name__ == "__main__":
    plant()
    sys.exit(main())
