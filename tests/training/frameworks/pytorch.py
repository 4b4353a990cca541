"""Started once per rank by torchrun: run DDP and FSDP2 in every configuration, write what they issued."""

import json
import sys
from pathlib import Path

import torch.distributed as dist

from tests.training.frameworks import ddp, fsdp
from tests.training.frameworks.cases import PYTORCH

RUN = {"dp": ddp.run, "fsdp": fsdp.run}


def main(output: str) -> None:
    """Write {name: calls} of this world's cases."""
    dist.init_process_group("gloo")
    issued = {case.name: RUN[case.strategy](case) for case in PYTORCH if dist.get_world_size() in case.worlds}
    if dist.get_rank() == 0:
        Path(output).write_text(json.dumps(issued))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
