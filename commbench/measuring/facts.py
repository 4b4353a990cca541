"""Facts of the machine a rank runs on, and the part of its environment that may be written into a sweep file.

Needs neither torch nor MPI and raises nothing: a fact that this machine does not tell is None. Sizes are in bytes.
`root` is the root of the file system, so that tests can stand a machine up in a folder.
"""

import math
import os
import platform
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from commbench.errors import UsageError
from commbench.units import parse_size

_ROOT = Path("/")
_LONGEST_VALUE = 256
_UNLIMITED = 1 << 60  # cgroup v1 writes "no limit" as the largest page-aligned int64

_PREFIXES = (
    *("NCCL_", "RCCL_", "TORCH_NCCL_", "TORCH_SYMM_MEM_", "NVSHMEM_", "GLOO_"),
    *("UCX_", "OMPI_MCA_", "PRTE_MCA_", "MPICH_", "I_MPI_", "FI_"),
)
# Scheduler facts by name: a prefix would let in job names, comments, working folders and SLURM_JWT.
_NAMES = frozenset(
    {
        *("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_LAUNCH_BLOCKING", "CUDA_DEVICE_MAX_CONNECTIONS"),
        *("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "OMP_NUM_THREADS", "TP_SOCKET_IFNAME"),
        *("SLURM_JOB_ID", "SLURM_JOB_NUM_NODES", "SLURM_JOB_PARTITION", "SLURM_JOB_NODELIST", "SLURM_NNODES"),
        *("SLURM_NTASKS", "SLURM_NTASKS_PER_NODE", "SLURM_TASKS_PER_NODE", "SLURM_CPUS_PER_TASK", "SLURM_CPU_BIND"),
        *("SLURM_GPUS_ON_NODE", "SLURM_GPUS_PER_NODE", "SLURM_GPUS_PER_TASK", "SLURM_GPU_BIND", "SLURM_DISTRIBUTION"),
    }
)

_SECRET_NAME = re.compile(
    r"TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|AUTH|COOKIE|APIKEY|(?:^|_)(?:KEYS?|PASS|PWD|JWT)(?:_|$)",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(
    r"://[^/\s]*@"  # user (and password) of a URL
    r"|\beyJ[\w-]{5,}\.[\w-]{5,}\."  # a JSON web token
    r"|-----BEGIN "  # PEM
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\b(?:gh[opsu]|github_pat|glpat|hf|sk|xox[abprs])[-_][\w-]{16,}"
    r"|\b(?:bearer|basic)\s+\S{8,}"
    r"|(?:token|secret|passw(?:or)?d|passphrase|credential|api[-_]?key|auth|cookie)\w*\s*[=:]",
    re.IGNORECASE,
)
# What mpirun tells its ranks (addresses, keys, folders) differs from launch to launch and is no setting.
_OF_A_LAUNCH = re.compile(r"OMPI_MCA_(?:orte_|ess_|initial_wdir)|\w+_URI\b", re.IGNORECASE)
# Devices are named by UUID in CUDA_VISIBLE_DEVICES: as random as a key, and no secret.
_UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE)


def machine_facts(environ: Mapping[str, str], root: Path = _ROOT) -> dict[str, Any]:
    """What this machine is: host, processor, memory and allow-listed variables. Nothing in it needs a device."""
    return {
        "host": platform.node(),
        "kernel": platform.release(),
        "cpu": _field(root / "proc/cpuinfo", "model name") or platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "numa_nodes": len(list(root.glob("sys/devices/system/node/node[0-9]*"))) or None,
        "memory_bytes": _size(_field(root / "proc/meminfo", "MemTotal")),
        "cgroup_memory_bytes": min((limit for limit, _ in _memory_limits(root)), default=None),
        "last_level_cache_bytes": _last_level_cache(root),
        "python": platform.python_version(),
        "variables": allowed_variables(environ),
    }


def available_memory_bytes(root: Path = _ROOT) -> int | None:
    """Memory this process can still take without swapping: MemAvailable, or what its cgroups have left if less."""
    available = _size(_field(root / "proc/meminfo", "MemAvailable"))
    left = [max(0, limit - usage) for limit, usage in _memory_limits(root)]
    return min([*left, *([] if available is None else [available])], default=None)


def allowed_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that decide how libraries communicate, by allow-list, sorted by name.

    A variable whose name or value looks like a secret is left out whole; a long value is cut and says so.
    """
    return {
        name: _printable(value)
        for name, value in sorted(environ.items())
        if (name in _NAMES or name.startswith(_PREFIXES))
        and not _OF_A_LAUNCH.match(name)
        and not _SECRET_NAME.search(name)
        and not _is_secret(value)
    }


def _is_secret(value: str) -> bool:
    if _SECRET_VALUE.search(value):
        return True
    rest = _UUID.sub("", value)
    # Random hexadecimal has near 3.6 bits a character, a mask or a counter far less. Random base64 jumps between
    # capitals, small letters and digits within a word at four of ten characters, paths and names hardly ever.
    return (
        any(_entropy(run) > 2.8 for run in re.findall(r"(?<![0-9A-Za-z])(?:0x)?([0-9a-fA-F]{20,})", rest))
        or any(_kinds(run) >= {"a", "0"} and _entropy(run) > 3.5 for run in re.findall(r"[0-9A-Za-z]{32,}", rest))
        or any(_kinds(run) >= {"A", "a", "0"} and _jumps(run) > 0.2 for run in re.findall(r"[\w+/=-]{20,}", rest))
    )


def _kind(character: str) -> str:
    return "A" if character.isupper() else "a" if character.islower() else "0" if character.isdigit() else "-"


def _kinds(run: str) -> set[str]:
    return {_kind(character) for character in run}


def _jumps(run: str) -> float:
    """Share of neighbours of different kinds; "Aa" starts a word and signs part words, so neither counts."""
    pairs = [_kind(a) + _kind(b) for a, b in pairwise(run)]
    return sum(pair in ("aA", "a0", "0a", "A0", "0A") for pair in pairs) / len(pairs)


def _entropy(run: str) -> float:
    return -sum(n / len(run) * math.log2(n / len(run)) for n in Counter(run).values())


def _printable(value: str) -> str:
    # Bytes that are no UTF-8 arrive as lone surrogates, which no strict JSON writer takes.
    text = value.encode(errors="surrogateescape").decode(errors="replace")
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}... (cut, {len(text)} characters)"


def _memory_limits(root: Path) -> Iterator[tuple[int, int]]:
    """(limit, usage) in bytes of each memory cgroup above this process that has a limit; versions 1 and 2."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, group = rest.partition(":")
        if "memory" in controllers.split(","):
            bases, names = ["memory"], ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        elif not controllers:
            bases, names = ["", "unified"], ("memory.max", "memory.current", "inactive_file")
        else:
            continue
        # A container often sees its own group mounted as the top although the path names the host's: the folders
        # that exist count, whichever they are.
        parts = [part for part in group.split("/") if part not in ("", "..")]
        for base in bases:
            for depth in range(len(parts), -1, -1):
                folder = root.joinpath("sys/fs/cgroup", base, *parts[:depth])
                limit, usage = _number(_text(folder / names[0])), _number(_text(folder / names[1]))
                if limit is not None and usage is not None and limit < _UNLIMITED:
                    # File cache counts as usage, but the kernel gives it back before it refuses memory.
                    cache = _number(_field(folder / "memory.stat", names[2], " ")) or 0
                    yield limit, max(0, usage - cache)


def _last_level_cache(root: Path) -> int | None:
    caches = [
        (_number(_text(folder / "level")) or 0, _size(_text(folder / "size")) or 0)
        for folder in root.glob("sys/devices/system/cpu/cpu0/cache/index*")
    ]
    return max(caches)[1] or None if caches else None


def _field(path: Path, name: str, separator: str = ":") -> str | None:
    """The value of the first `name<separator>value` line of a file."""
    for line in _text(path).splitlines():
        key, found, value = line.partition(separator)
        if found and key.strip() == name:
            return value.strip()
    return None


def _size(text: str | None) -> int | None:
    try:
        return parse_size(text) if text else None
    except UsageError:
        return None


def _number(text: str | None) -> int | None:
    return int(text) if text and text.strip().isdigit() else None


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
