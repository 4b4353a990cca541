"""What do the groups of a round of pairs cost? Two ways of forming two-rank groups, timed on gloo.

    torchrun --standalone --nproc-per-node 8 -m benchmarks.group_cost

`members`: only a group's members meet (what `commbench.pairs` does). `everybody`: every rank takes part in forming each
group, which is torch's default. Seconds a round, of the slowest rank, median; the first all_reduce of a group is in it,
because that is when it connects.
"""

import time
from statistics import median

import torch
import torch.distributed as dist

from benchmarks.machine import machine_and_date
from commbench.measuring.torch_world import NEVER
from commbench.pairing.rounds import Round, screening

ROUNDS = 6


def main() -> int:
    """Time both ways; rank 0 prints a row."""
    dist.init_process_group("gloo", timeout=NEVER)
    rounds = screening(dist.get_world_size())[:ROUNDS]
    members, everybody = (_seconds(rounds, locally=locally) for locally in (True, False))
    if dist.get_rank() == 0:
        print(f"{machine_and_date()}, torch {torch.__version__}\n")
        print("| ranks | members | everybody |\n|---|---|---|")
        print(f"| {dist.get_world_size()} | {1e3 * members:.1f} ms | {1e3 * everybody:.1f} ms |", flush=True)
    dist.barrier()
    dist.destroy_process_group()
    return 0


def _seconds(rounds: tuple[Round, ...], *, locally: bool) -> float:
    """Seconds of a round on the slowest rank, median over the rounds."""
    times = []
    for pairs in rounds:
        dist.barrier()
        begun = time.perf_counter()
        _form(pairs, locally=locally)
        spent = torch.tensor([time.perf_counter() - begun])
        dist.all_reduce(spent, op=dist.ReduceOp.MAX)
        times.append(float(spent))
    return median(times)


def _form(pairs: Round, *, locally: bool) -> None:
    me = dist.get_rank()
    mine = next((pair for pair in pairs if me in pair), (me,))
    wanted = [mine] if locally else [*pairs, *((r,) for r in range(dist.get_world_size()) if _alone(r, pairs))]
    for ranks in wanted:
        group = dist.new_group(list(ranks), backend="gloo", timeout=NEVER, use_local_synchronization=locally)
        if ranks == mine:
            formed = group
    dist.all_reduce(torch.zeros(1), group=formed)


def _alone(rank: int, pairs: Round) -> bool:
    return all(rank not in pair for pair in pairs)


if __name__ == "__main__":
    raise SystemExit(main())
