"""NVLinks of this host's GPUs, for sweeps whose file does not tell: from NVML, else from nvidia-smi."""

import re
import subprocess

from commbench.measuring.device_state import device_states

_ROW = re.compile(r"^GPU\d+\s+(.*)$", re.MULTILINE)
_CELL = re.compile(r"\bNV(\d+)\b")
_ANSWER = 30.0  # seconds; a driver that is busy takes some


def active_nvlinks_here() -> int | None:
    """Active NVLinks of the GPU that has fewest; None where neither NVML nor nvidia-smi answers."""
    counts = [(device["nvlink"] or {}).get("links_active") or 0 for device in device_states()]
    return min(counts) if counts else _by_nvidia_smi()


def in_matrix(text: str) -> int | None:
    """NVLinks in `nvidia-smi topo -m`, of the GPU that has fewest; None where the text holds no such matrix."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    counts = [max((int(links) for links in _CELL.findall(row)), default=0) for row in _ROW.findall(plain)]
    return min(counts) if counts else None


def _by_nvidia_smi() -> int | None:
    try:
        done = subprocess.run(["nvidia-smi", "topo", "-m"], capture_output=True, timeout=_ANSWER, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return in_matrix(done.stdout.decode(errors="replace"))
