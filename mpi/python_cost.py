"""What Python adds to a call: the same bound call on a communicator of this process alone."""

from statistics import median

from commbench.collectives import COLLECTIVES
from commbench.dtypes import ELEMENT_BYTES
from commbench.measuring.plan import Choices
from commbench.measuring.seam import Case
from commbench.measuring.session import Buffers
from mpi.calls import KINDS, OPERATORS, PLACEMENTS, Seat
from mpi.host_memory import HostMemory
from mpi.implementation import MPI
from mpi.operation import MpiOperation

SAMPLES, CALLS = 50, 20
ROOM = 65536  # bytes of each slab


def python_call_seconds(choices: Choices, *, persistent: bool) -> dict[str, float]:
    """Seconds of a call by collective, on COMM_SELF at the smallest size: the binding, and a library with no peer.

    Only collectives that are measured, with the first dtype and operator that MPI has; one that has none is left out.
    """
    seat, memory = Seat(MPI.COMM_SELF, MPI.COMM_SELF), HostMemory()
    found = {}
    for name in choices.collectives:
        case = _case(name, choices)
        if case is not None and not (persistent and name == "send_recv"):
            slabs = memory.slabs(Buffers(ROOM, ROOM, rotate=False))
            operation = MpiOperation(case, seat, memory, slabs, persistent=persistent)
            found[name] = median(operation.time(CALLS) for _ in range(SAMPLES)) / CALLS
            operation.close()
    return found


def _case(name: str, choices: Choices) -> Case | None:
    collective = COLLECTIVES[name]
    placement = PLACEMENTS[name][-1]
    if not collective.moves:
        return Case(name, 0, None, None, None, placement, "pipelined")
    dtypes = [dtype for dtype in choices.dtypes if KINDS[dtype].reducible or not collective.reduces]
    ops = [op for op in choices.operators if op in OPERATORS] if collective.reduces else [None]
    if not dtypes or not ops:
        return None
    elements = collective.elements(min(min(choices.sizes), ROOM), ELEMENT_BYTES[dtypes[0]], 1)
    root = 0 if collective.rooted else None
    return Case(name, elements, dtypes[0], ops[0], root, placement, "pipelined")
