"""What a measurement finds around itself: versions, NCCL's variables, room in memory, on disk and in /dev/shm."""

import importlib.metadata
import platform
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from commbench.errors import LaunchError
from commbench.launching.findings import Finding
from commbench.launching.identity import identify
from commbench.units import GIB, MIB, format_size_short

# Docker's default size; NCCL takes up to 9 MiB of it for each pair of ranks and fails with an obscure message.
SMALL_SHARED_MEMORY = 64 * MIB
SMALL_MEMORY = GIB
SMALL_DISK = 100 * MIB

_LIBRARIES = ("commbench", "numpy", "torch", "mpi4py", "nvidia-ml-py")
_NCCL = ("nvidia-nccl-cu13", "nvidia-nccl-cu12", "nvidia-nccl-cu11")
_NCCL_FILES = (Path("/etc/nccl.conf"), Path("~/.nccl.conf"))

# Variables that only say what is logged or where; every other NCCL_ variable can change what is measured.
_HARMLESS = frozenset(
    {
        "NCCL_VERSION",
        "NCCL_DEBUG_FILE",
        "NCCL_DEBUG_SUBSYS",
        "NCCL_DEBUG_TIMESTAMP_FORMAT",
        "NCCL_DEBUG_TIMESTAMP_LEVELS",
        "NCCL_TESTS_HOME",
    }
)
_MEANINGS = {
    "NCCL_P2P_DISABLE": "no GPU reads another's memory, neither over NVLink nor over PCIe",
    "NCCL_P2P_LEVEL": "limits how far apart GPUs may be to read each other's memory",
    "NCCL_SHM_DISABLE": "no transport through host memory on one host",
    "NCCL_NVLS_ENABLE": "switches NVLink SHARP",
    "NCCL_IB_DISABLE": "no InfiniBand or RoCE, hosts talk over sockets",
    "NCCL_NET_GDR_LEVEL": "limits which NICs reach GPU memory directly",
    "NCCL_ALGO": "fixes the algorithm",
    "NCCL_PROTO": "fixes the protocol",
    "NCCL_MAX_NCHANNELS": "limits the channels",
    "NCCL_MIN_NCHANNELS": "raises the channels",
    "NCCL_DEBUG": "writes a log while measuring",
    "CUDA_LAUNCH_BLOCKING": "waits for every kernel",
}


def check_versions() -> list[Finding]:
    """Python and each library, from the installed distributions' metadata: nothing is imported."""
    findings = [Finding("ok", "python", platform.python_version())]
    for name in _LIBRARIES:
        version = _version([name])
        findings.append(Finding("ok", f"{name} version", version or "not installed"))
    findings.append(Finding("ok", "NCCL version", _version(_NCCL) or "torch here brings none"))
    return findings


def check_identity(environ: Mapping[str, str]) -> Finding:
    """Who this process is to a launcher, and whether several launchers agree."""
    try:
        who = identify(environ)
    except LaunchError as error:
        return Finding("problem", "launcher", f"{error.wrong}: {error.found}", error.fix)
    if who is None:
        return Finding("ok", "launcher", "this process was started by hand, by no launcher")
    return Finding("ok", "launcher", f"rank {who.rank} of {who.world_size}, started by {who.launcher}")


def check_nccl_variables(environ: Mapping[str, str], files: Iterable[Path] = _NCCL_FILES) -> list[Finding]:
    """Each variable that changes what NCCL does, from the environment and from the files that NCCL reads."""
    named = [
        (name, value, "")
        for name, value in sorted(environ.items())
        if name.startswith(("NCCL_", "TORCH_NCCL_")) or name == "CUDA_LAUNCH_BLOCKING"
    ]
    for file in files:
        named += [(name, value, f" in {file}") for name, value in _read_nccl_file(file.expanduser())]
    findings = [
        Finding(
            "warning",
            "NCCL variable",
            f"{name}={value}{where}" + (f": {_MEANINGS[name]}" if name in _MEANINGS else ""),
            "leave it away if it is not part of what you measure"
            if not where
            else f"edit {where.removeprefix(' in ')} if it is not part of what you measure",
        )
        for name, value, where in named
        if name not in _HARMLESS and (name, value.upper()) not in (("NCCL_DEBUG", "WARN"), ("NCCL_DEBUG", "VERSION"))
    ]
    return findings or [Finding("ok", "NCCL variables", "none is set that changes what is measured")]


def check_shared_memory(path: Path = Path("/dev/shm")) -> Finding:
    """NCCL's shared-memory transport and gloo's neighbours need more than a container's default."""
    if not path.is_dir():
        return Finding("warning", str(path), "does not exist", "mount a tmpfs there: NCCL's SHM transport needs it")
    usage = shutil.disk_usage(path)
    found = f"{format_size_short(usage.total)}, {format_size_short(usage.free)} free"
    if usage.total <= SMALL_SHARED_MEMORY or usage.free <= SMALL_SHARED_MEMORY // 2:
        fix = "start the container with --shm-size=1g or --ipc=host (Kubernetes: an emptyDir with medium Memory)"
        return Finding("warning", str(path), f"{found}: NCCL's shared-memory transport may fail", fix)
    return Finding("ok", str(path), found)


def check_memory(available: int | None) -> Finding:
    """Memory in bytes that a process may still take, None where the machine does not tell."""
    if available is None:
        return Finding("ok", "memory", "this machine does not tell how much is available")
    found = f"{format_size_short(available)} available"
    if available < SMALL_MEMORY:
        return Finding("warning", "memory", found, "use smaller messages (-e) or fewer ranks on this host")
    return Finding("ok", "memory", found)


def check_disk(folder: Path) -> Finding:
    """Room for sweep files where the user stands."""
    free = shutil.disk_usage(folder).free
    found = f"{format_size_short(free)} free in {folder}"
    if free < SMALL_DISK:
        return Finding("warning", "disk", found, "make room, or write sweep files elsewhere (-J)")
    return Finding("ok", "disk", found)


def _version(distributions: Iterable[str]) -> str | None:
    for name in distributions:
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return None


def _read_nccl_file(file: Path) -> list[tuple[str, str]]:
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    pairs = [line.partition("=") for line in lines if not line.lstrip().startswith("#")]
    return [(name.strip(), value.strip()) for name, equals, value in pairs if equals]
