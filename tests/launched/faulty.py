"""A sweep whose all_reduce has a fault for each operator: `torchrun … -m tests.launched.faulty OPTIONS`.

sum   rank 1's result has one wrong element
max   rank 1 comes late: it sleeps between the aligned start and its call
min   rank 1 is slow: it sleeps after its call

The aligned start is the only all_reduce of one element. Which operator it aligns for is known from the call before
it: every point begins with a checked call.
"""

import sys
import time
from typing import Any

import torch
import torch.distributed as dist

from commbench.sweep import main

RANK = 1
SECONDS = 0.02  # far above what a busy machine of two cores loses between two lines of Python

_all_reduce = dist.all_reduce
_latest: dist.ReduceOp.RedOpType | None = None


def faulty_all_reduce(tensor: torch.Tensor, *arguments: Any, **options: Any) -> Any:
    """dist.all_reduce, and the fault of its operator."""
    global _latest
    done = _all_reduce(tensor, *arguments, **options)
    align = tensor.numel() == 1
    if not align:
        _latest = options["op"]
    if dist.get_rank() != RANK:
        return done
    if align and _latest == dist.ReduceOp.MAX:
        time.sleep(SECONDS)
    elif not align and _latest == dist.ReduceOp.SUM:
        tensor[tensor.numel() // 2] += 1
    elif not align and _latest == dist.ReduceOp.MIN:
        time.sleep(SECONDS)
    return done


if __name__ == "__main__":
    dist.all_reduce = faulty_all_reduce
    sys.exit(main())
