"""The whole sweep on a real GPU with real NCCL: one rank, and several that share the device as a functional test."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from commbench.sweepfile.reader import Sweep, read_sweeps

pytestmark = pytest.mark.gpu

SIZES = ("-b", "8", "-e", "4M", "-f", "64", "--limit", "50ms")


def _reason() -> str | None:
    if importlib.util.find_spec("torch") is None:
        return "torch is not installed"
    import torch

    return None if torch.cuda.is_available() else "no CUDA device"


def _sweep(folder: Path, ranks: int, *options: str) -> Sweep:
    if reason := _reason():
        pytest.skip(reason)
    file = folder / "sweep.jsonl"
    words = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}", "-m", "commbench.sweep"]
    sizes = () if "-b" in options else SIZES
    ended = subprocess.run(
        [sys.executable, *words, *sizes, *options, "-J", str(file)], capture_output=True, text=True, timeout=240,
        env={**os.environ, "OMP_NUM_THREADS": "1"}, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr[-4000:]
    (sweep,) = read_sweeps(file)
    return sweep


def test_one_rank_runs_every_collective_in_three_modes(tmp_path: Path) -> None:
    """All collectives, device clock, nothing wrong; send_recv needs a second rank and is left out with that reason."""
    sweep = _sweep(tmp_path, 1, "all", "--mode", "isolated,pipelined,graph", "-d", "float,bf16,fp8")
    assert {m.mode for m in sweep.measurements} == {"isolated", "pipelined", "graph"}
    assert all(m.correct for m in sweep.measurements)
    assert {m.clock for m in sweep.measurements} == {"device"}
    assert {left.collective for left in sweep.left_out if "two ranks" in left.reason} == {"send_recv"}


@pytest.mark.parametrize("ranks", [2, 4])
def test_ranks_that_share_a_gpu_are_right_and_marked(tmp_path: Path, ranks: int) -> None:
    """Real NCCL between processes on one device: results are right, the path is the network, settings say shared."""
    sweep = _sweep(tmp_path, ranks, "--shared-device", "-n", "6", "--mode", "pipelined,graph")
    assert all(m.correct for m in sweep.measurements)
    assert len(sweep.measurements) > 0
    assert sweep.header.settings["shared_device"] is True
    assert sweep.proved == ("NET",)


def test_a_graph_of_messages_as_large_as_the_slab_is_right(tmp_path: Path) -> None:
    """The graph's calls come back to slices that overlap the first ones: the replay's own result is the one checked."""
    large = ("reduce_scatter", "all_gather", "-b", "64M", "-e", "64M", "--mode", "graph", "-n", "6")
    sweep = _sweep(tmp_path, 2, "--shared-device", *large)
    assert [m.correct for m in sweep.measurements] == [True] * 4


def test_large_sizes_are_measured_beside_a_matrix_product(tmp_path: Path) -> None:
    """Twice from 1 MiB: alone, and with the product running, which lasted longer than every sample."""
    sizes = ("-b", "512K", "-e", "4M", "-f", "2", "--limit", "50ms")
    sweep = _sweep(tmp_path, 1, "all_gather", *sizes, "--placement", "out", "--mode", "pipelined", "--with-compute")
    found = [(m.message_bytes >> 10, m.beside) for m in sweep.measurements]
    assert found == [(512, None), (1024, None), (2048, None), (4096, None), (1024, "compute"), (2048, "compute"),
                     (4096, "compute")]  # fmt: skip
    assert not any("ended before" in note for m in sweep.measurements for note in m.notes)


def test_two_ranks_on_one_gpu_by_accident_are_refused(tmp_path: Path) -> None:
    """Without the test option the launch stops before anything is measured."""
    if reason := _reason():
        pytest.skip(reason)
    import torch

    ranks = torch.cuda.device_count() + 1
    words = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}", "-m", "commbench.sweep"]
    ended = subprocess.run([sys.executable, *words, *SIZES], capture_output=True, text=True, timeout=240, check=False)
    assert ended.returncode != 0
    assert "two ranks share one device" in ended.stderr
