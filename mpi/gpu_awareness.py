"""Whether the MPI library takes pointers to GPU memory: asked, and then tried where a crash hurts nobody.

A library that is not GPU-aware dies of such a pointer, and takes the job with it. So first it is asked in the ways that
libraries answer, and only then is a call made, by a process of its own that is no part of the job.
"""

import ctypes
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from commbench.errors import LaunchError
from commbench.launching.identity import Identity
from commbench.measuring.session import Device
from mpi import implementation
from mpi.implementation import MPI
from mpi.memory import Memory

PATIENCE = 120.0  # seconds of the trial, which imports torch from what may be a slow file system
STARTED, RIGHT = "started", "right"  # what the trial prints
CUDA = 0  # MPIX_GPU_SUPPORT_CUDA

# What turns it on in libraries that have it switched off, or leave it to a variable.
SWITCHES = ("OMPI_MCA_opal_cuda_support", "MPICH_GPU_SUPPORT_ENABLED", "MPIR_CVAR_ENABLE_GPU", "I_MPI_OFFLOAD",
            "MV2_USE_CUDA", "UCX_TLS")  # fmt: skip
# Of these a launcher tells a process that it belongs to a job; a process without them is one of its own.
_LAUNCHERS = re.compile(
    r"^(PMIX?_|PRTE_|OMPI_(?!MCA_)|HYDRA|HYDI|MPI_LOCAL|OMPI_MCA_(orte_|ess|pmix|prte|plm|rmaps|hnp|mpi_yield|shmem_RUN))"
)


def claims() -> dict[str, bool]:
    """What the library says of CUDA, by the way in which it was asked; only ways that it has an answer to."""
    said = {}
    for path in _libraries():
        library = ctypes.CDLL(path)  # is loaded already: this only finds it
        if hasattr(library, "MPIX_Query_cuda_support"):
            said["MPIX_Query_cuda_support"] = bool(library.MPIX_Query_cuda_support())
        if hasattr(library, "MPIX_GPU_query_support"):
            answer = ctypes.c_int(0)
            if library.MPIX_GPU_query_support(CUDA, ctypes.byref(answer)) == MPI.SUCCESS:
                said["MPIX_GPU_query_support"] = bool(answer.value)
    kinds = MPI.COMM_WORLD.Get_info().get("mpi_memory_alloc_kinds")
    if kinds is not None:
        said["mpi_memory_alloc_kinds"] = "cuda" in kinds
    return said


def _libraries() -> list[str]:
    """Files of the MPI library that this process has loaded."""
    maps = Path("/proc/self/maps").read_text(errors="replace")
    return sorted(set(re.findall(r"(/\S*/libmpi[^/\s]*\.so[^/\s]*)$", maps, re.MULTILINE)))


def refuse_without_gpu_awareness(memory: Memory, device: Device, identity: Identity) -> tuple[str, ...]:
    """What the library said and did, on each host alike. Collective over all ranks.

    Raises:
        LaunchError: on every rank, where it says no on one host, or fails there.
    """
    works, words = True, ""
    if not identity.local_rank:
        said = claims()
        works, tried = (True, "") if not said or any(said.values()) else (False, "")
        if works:
            works, tried = trial(trial_words(memory, device), trusted=bool(said))
        words = "; ".join(
            [*(f"{way} says {'yes' if yes else 'no'}" for way, yes in said.items()), *filter(None, [tried])]
        )
    everyone = MPI.COMM_WORLD.allgather((works, words, MPI.Get_processor_name()))
    refused = [f"{answer} (on {host})" for good, answer, host in everyone if not good]
    if refused:
        switches = [f"{name}={os.environ[name]}" for name in SWITCHES if name in os.environ]
        raise LaunchError(
            "this MPI library does not take buffers in GPU memory",
            expected="a GPU-aware MPI library for --device-buffers",
            found=f"{implementation.name()}: {refused[0]}; set are: {', '.join(switches) or 'none of its switches'}",
            fix="load your site's CUDA-aware MPI; where it is switched off, switch it on (OMPI_MCA_opal_cuda_support=1 "
            "for Open MPI, MPICH_GPU_SUPPORT_ENABLED=1 for Cray MPICH); or leave --device-buffers away",
        )
    return tuple(dict.fromkeys(answer for _, answer, _ in everyone if answer))


def trial_words(memory: Memory, device: Device) -> list[str]:
    """The line that starts the trial."""
    return [sys.executable, "-m", "mpi.gpu_trial", memory.library, str(device.index)]


def trial(words: Sequence[str], *, trusted: bool) -> tuple[bool, str]:
    """Run the trial; whether the library may be used, and what was seen.

    Args:
        words: that start it.
        trusted: the library says that it is GPU-aware: then a trial that cannot start MPI on its own (some sites allow
            that only to their launcher) does not count against it.
    """
    try:
        done = subprocess.run(
            words, env=alone(os.environ), capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        return False, f"a call on GPU memory does not return in {PATIENCE:.0f} s"
    stages = done.stdout.split()
    if RIGHT in stages:
        return True, "a call on GPU memory in a process of its own was right"
    if STARTED in stages:
        return False, f"a call on GPU memory in a process of its own failed: {_end(done)}"
    return trusted, f"a call on GPU memory could not be tried: {_end(done)}"


def alone(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of a process that no launcher has started."""
    return {name: value for name, value in environ.items() if not _LAUNCHERS.match(name)}


def _end(done: "subprocess.CompletedProcess[str]") -> str:
    """How it ended, in a line."""
    if done.returncode < 0:
        return f"it was ended by {signal.Signals(-done.returncode).name}"
    lines = done.stderr.strip().splitlines() or ["without a word"]
    return f"exit code {done.returncode}, {lines[-1][:200]}"
