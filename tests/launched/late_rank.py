"""A test of pairs in which one rank is late: `LATE_RANK=2 torchrun … -m tests.launched.late_rank OPTIONS`.

It sleeps between the aligned start, which is the only all_reduce of one element, and each of its calls.
"""

import os
import sys
import time
from typing import Any

import torch
import torch.distributed as dist

from commbench.pairs import main

SECONDS = 0.02  # far above what a busy machine of two cores loses between two lines of Python

_all_reduce = dist.all_reduce


def late_all_reduce(tensor: torch.Tensor, *arguments: Any, **options: Any) -> Any:
    """dist.all_reduce, entered late by one rank."""
    if tensor.numel() > 1 and dist.get_rank() == int(os.environ["LATE_RANK"]):
        time.sleep(SECONDS)
    return _all_reduce(tensor, *arguments, **options)


if __name__ == "__main__":
    dist.all_reduce = late_all_reduce
    sys.exit(main())
