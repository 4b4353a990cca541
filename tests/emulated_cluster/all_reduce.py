"""A plain torch gloo all-reduce, to know what the emulated links carry without any code of commbench.

    torchrun … -m tests.emulated_cluster.all_reduce MESSAGE_BYTES CALLS

Rank 0 prints one JSON object: whether the sum is right on all ranks, and the median busbw in bytes per second.
"""

import json
import statistics
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist


def main() -> None:
    message_bytes, calls = int(sys.argv[1]), int(sys.argv[2])
    dist.init_process_group("gloo", timeout=timedelta(seconds=60))
    rank, size = dist.get_rank(), dist.get_world_size()
    seconds = []
    right = True
    for _ in range(calls):
        tensor = torch.full((message_bytes // 4,), float(rank + 1))
        dist.barrier()
        start = time.perf_counter()
        dist.all_reduce(tensor)
        seconds.append(time.perf_counter() - start)
        right &= bool((tensor == size * (size + 1) / 2).all())
    gathered: list[tuple[bool, list[float]]] = [(right, seconds)] * size
    dist.all_gather_object(gathered, (right, seconds))
    slowest = statistics.median(max(of_call) for of_call in zip(*(each[1] for each in gathered), strict=True))
    if rank == 0:
        busbw = message_bytes * 2 * (size - 1) / size / slowest
        result = {"world_size": size, "right": all(each[0] for each in gathered), "sum": tensor[0].item()}
        print(json.dumps({**result, "seconds": slowest, "bus_bytes_per_second": busbw}), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
