"""A matrix product that keeps a GPU busy while collectives are timed, as a training step's kernels do (--with-compute).

It runs on a stream of its own and must outlast the calls beside it. How long they take is known from the sample
before, so the first warm-up call may run alone in its end; no sample that counts does, or `ended_early` says so.
"""

from math import ceil

import torch

SIDE = 8192  # a product of 1.1 TFLOP: about 2 ms of every multiprocessor of an H200, and 384 MiB for three matrices
LONGER = 2.0  # the calls slow down beside the product, and the product beside them
MOST_QUEUED = 900  # the driver takes 1024 launches of a stream before it makes the host wait


class Compute:
    """The product, ready to run. One a device."""

    def __init__(self, device: torch.device) -> None:
        self._left, self._right, self._product = (
            torch.zeros(SIDE, SIDE, dtype=torch.bfloat16, device=device) for _ in range(3)
        )
        self._stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self._end = torch.cuda.Event()  # type: ignore[no-untyped-call]
        self._queue(3)  # loads the kernel
        self._stream.synchronize()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        with torch.cuda.stream(self._stream):
            begin.record()
            self._queue(5)
            end.record()
        end.synchronize()
        self._seconds_each = float(begin.elapsed_time(end)) * 1e-3 / 5

    def run_for(self, seconds: float) -> None:
        """Start the product, to last about `LONGER` times `seconds` when alone; waits for an earlier one first."""
        self._stream.synchronize()
        self._queue(min(MOST_QUEUED, 2 + ceil(LONGER * seconds / self._seconds_each)))

    def ended_early(self) -> bool:
        """Whether what `run_for` started is over."""
        return bool(self._end.query())  # type: ignore[no-untyped-call]

    def _queue(self, products: int) -> None:
        with torch.cuda.stream(self._stream):
            for _ in range(products):
                torch.mm(self._left, self._right, out=self._product)
            self._end.record()
