"""Whose arrays hold buffers in GPU memory: torch's where torch sees a GPU, else CuPy's."""

from commbench.errors import LaunchError
from mpi.memory import Memory


def device_memory() -> Memory:
    """The memory of this rank's GPU.

    Raises:
        LaunchError: neither library is there and sees a GPU.
    """
    found = []
    try:
        import torch

        from mpi.torch_memory import TorchMemory
    except ImportError as error:
        found.append(f"torch is not there ({error})")
    else:
        if torch.cuda.is_available():
            return TorchMemory()
        found.append(f"torch {torch.__version__} sees no GPU")
    try:
        import cupy

        from mpi.cupy_memory import CupyMemory
    except ImportError as error:
        found.append(f"CuPy is not there ({str(error).partition(chr(10))[0]})")
    else:
        if cupy.is_available():
            return CupyMemory()
        found.append(f"CuPy {cupy.__version__} sees no GPU")
    raise LaunchError(
        "--device-buffers has no GPU memory to use",
        expected="a GPU a rank, and torch or CuPy that sees it",
        found="; ".join(found),
        fix="start on a machine with GPUs and a CUDA build of torch or CuPy, or leave --device-buffers away",
    )
