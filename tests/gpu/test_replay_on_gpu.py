"""A training step replayed with real NCCL between two ranks that share a GPU: calls and bytes are the schedule's."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from commbench.training.schedules import schedule
from commbench.training.shapes import model_named

from .test_sweep_on_gpu import _reason

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("strategy", ["dp", "zero2", "zero3", "fsdp"])
def test_nccl_issues_the_schedule(strategy: str) -> None:
    """Each call has the schedule's collective, operator, dtype and bytes, and what comes out is right."""
    if reason := _reason():
        pytest.skip(reason)
    words = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "-m", "commbench.replay"]
    ended = subprocess.run(
        [sys.executable, *words, "--shared-device", "--model", "tiny", "--strategy", strategy, "-n", "1", "--json"],
        capture_output=True, text=True, timeout=240, check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "0"},
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr[-4000:]
    found: dict[str, Any] = json.loads(ended.stdout)["replay"]
    keys = ("collective", "op", "dtype", "message_bytes")
    asked = schedule(strategy, model_named("tiny"), 2).calls
    assert [[call[key] for key in keys] for call in found["schedule"]] == [
        [getattr(call, key) for key in keys] for call in asked
    ]
    assert (found["backend"], found["correct"]) == ("nccl", True)
