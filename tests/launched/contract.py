"""The contract of backends on torch's gloo: `torchrun --nproc-per-node 4 … -m tests.launched.contract`.

One launch checks worlds of 1 rank up to all, and groups, on the session and the backend that a sweep uses. Rank 0
prints one JSON object: for each world, the collectives that ran.
"""

import json
import os

from commbench.launching.identity import identify
from commbench.measuring.seam import Operation
from commbench.measuring.session import Buffers
from commbench.measuring.torch_operation import TorchOperation
from commbench.measuring.torch_session import TorchSession
from commbench.sweepfile.records import Mode
from tests.measuring.backend_contract import check_backend

MESSAGE_BYTES = 1024
TYPES = ("float16",)  # it overflows after a few in-place sums, so buffers must be refilled in time
ROOM = 4096  # bytes of each slab: a few slices, so that rotating ones come round
MODES: tuple[Mode, ...] = ("pipelined",)  # a call of isolated mode is a sample of one


def finite(operation: Operation) -> bool:
    """Whether the buffers that in-place sums make grow still hold finite numbers only."""
    assert isinstance(operation, TorchOperation)
    return bool(operation._slabs.send.memory.view(operation._dtype).isfinite().all())


def worlds(ranks: int) -> list[tuple[str, tuple[tuple[int, ...], ...], bool]]:
    """(name, groups, whether buffers rotate) of each world."""
    whole = [(f"{size} of {ranks}", (tuple(range(size)),), size % 2 == 0) for size in range(1, ranks + 1)]
    return [*whole, ("halves", (tuple(range(ranks // 2)), tuple(range(ranks // 2, ranks))), True)]


def main() -> None:
    """Check every world in turn."""
    identity = identify(os.environ)
    assert identity is not None, "start it with torchrun"
    session = TorchSession("gloo", os.environ)
    session.meet(identity)
    everyone = session.join()
    ran = {}
    for name, groups, rotate in worlds(everyone.size):
        size = sum(map(len, groups))
        world = session.part(everyone, size, groups)
        if world is not None:
            backend = session.open(world, groups, Buffers(ROOM, ROOM, rotate))
            cases = check_backend(backend, dtypes=TYPES, modes=MODES, message_bytes=MESSAGE_BYTES, finite=finite)
            ran[name] = sorted({case.collective for case in cases})
        everyone.exchange(None)
    if everyone.rank == 0:
        print(json.dumps(ran))
    session.leave()


if __name__ == "__main__":
    main()
