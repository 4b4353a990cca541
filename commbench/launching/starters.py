"""What a launcher refuses before our programs start: it is missing, it runs as root, it has too few slots."""

import importlib.util
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

from commbench.launching.findings import Finding, has_problem

Wanted = Literal["any", "torchrun", "mpirun"]

_BESIDE = Path(sys.executable).with_name("mpirun")  # where pip puts it

HYDRA_CLEANS_UP = Finding(
    "warning",
    "mpirun clean-up",
    "MPICH's and Intel MPI's mpirun kills all ranks at once when one dies, so that none is left to name it",
    "add -disable-auto-cleanup to mpirun: commbench then names the rank and ends the others itself",
)
ROOT_VARIABLES = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")


def has_module(name: str) -> bool:
    """Whether a module is installed, without importing it."""
    return importlib.util.find_spec(name) is not None


def check_starters(
    environ: Mapping[str, str],
    ranks: int | None = None,
    *,
    wanted: Wanted = "any",
    which: Callable[[str], str | None] = shutil.which,
    installed: Callable[[str], bool] = has_module,
    user_id: int | None = None,
    cores: int | None = None,
) -> list[Finding]:
    """Check torchrun and mpirun.

    Args:
        ranks: how many ranks are wanted on this host.
        wanted: the launcher to be used. With "any", one that works is enough and the other one's problems are
            warnings.
        which, installed, user_id, cores: how to look at the machine; the machine itself by default.
    """
    torchrun = [check_torch(installed), check_torchrun(which, installed)]
    mpirun = [check_mpirun_program(which), check_mpi4py(installed)]
    program = which("mpirun")
    if program and is_hydra(Path(program)):
        mpirun.append(HYDRA_CLEANS_UP)
    elif program:
        mpirun.append(check_root(environ, os.geteuid() if user_id is None else user_id))
        if ranks is not None:
            mpirun.append(check_slots(ranks, physical_cores() if cores is None else cores))
    if wanted != "any":
        return torchrun if wanted == "torchrun" else mpirun
    if not has_problem(torchrun):
        return [*torchrun, *map(_as_warning, mpirun)]
    if not has_problem(mpirun):
        return [*map(_as_warning, torchrun), *mpirun]
    return [*torchrun, *mpirun]


def check_torch(installed: Callable[[str], bool] = has_module) -> Finding:
    """torch measures NCCL and gloo."""
    if installed("torch"):
        return Finding("ok", "torch", "installed")
    return Finding("problem", "torch", "not installed", "pip install 'commbench[torch]'")


def check_torchrun(
    which: Callable[[str], str | None] = shutil.which, installed: Callable[[str], bool] = has_module
) -> Finding:
    """torchrun comes with torch, but its script may not be on PATH."""
    path = which("torchrun")
    if path:
        return Finding("ok", "torchrun", path)
    if installed("torch"):
        fix = "activate the environment, or write `python -m torch.distributed.run` instead of torchrun"
        return Finding("warning", "torchrun", "torch is installed but torchrun is not on PATH", fix)
    return Finding("problem", "torchrun", "not on PATH", "it comes with torch: pip install 'commbench[torch]'")


def check_mpirun_program(which: Callable[[str], str | None] = shutil.which, beside: Path = _BESIDE) -> Finding:
    """mpirun of whichever MPI; `beside` is where it may be without being on PATH."""
    path = which("mpirun")
    if path:
        return Finding("ok", "mpirun", path)
    if beside.exists():
        fix = f"activate the environment, or add {beside.parent} to PATH"
        return Finding("problem", "mpirun", f"installed as {beside}, but not on PATH", fix)
    fix = "pip install 'commbench[mpi]' brings Open MPI without a system package, or load your site's MPI module"
    return Finding("problem", "mpirun", "not on PATH", fix)


def is_hydra(mpirun: Path) -> bool:
    """Whether this mpirun is MPICH's or Intel MPI's, which mind neither root nor too few slots."""
    return mpirun.with_name("mpiexec.hydra").exists()


def check_mpi4py(installed: Callable[[str], bool] = has_module) -> Finding:
    """mpi4py measures MPI."""
    if installed("mpi4py"):
        return Finding("ok", "mpi4py", "installed")
    return Finding("problem", "mpi4py", "not installed", "pip install 'commbench[mpi]'")


def check_root(environ: Mapping[str, str], user_id: int) -> Finding:
    """Open MPI's mpirun refuses root unless two variables are both 1, or it is given --allow-run-as-root."""
    check = "mpirun as root"
    if user_id != 0:
        return Finding("ok", check, f"user {user_id} is not root")
    missing = [name for name in ROOT_VARIABLES if environ.get(name) != "1"]
    if not missing:
        return Finding("ok", check, f"allowed by {' and '.join(ROOT_VARIABLES)}")
    wanted = [f"{name}=1" for name in missing]
    found = f"this is root, and Open MPI refuses to start without {' and '.join(wanted)}"
    fix = f"run as another user, or in a container `export {' '.join(wanted)}`, or mpirun --allow-run-as-root"
    return Finding("problem", check, found, fix)


def check_slots(ranks: int, cores: int) -> Finding:
    """Without a host list, Open MPI's mpirun takes one rank per core."""
    found = f"{ranks} ranks wanted, {cores} cores"
    if ranks <= cores:
        return Finding("ok", "mpirun slots", found)
    fix = "add `--map-by :oversubscribe` to mpirun, or start fewer ranks"
    return Finding("problem", "mpirun slots", f"{found}: Open MPI has one slot per core and refuses the rest", fix)


def physical_cores() -> int:
    """Cores that this process may run on; two hardware threads of a core are one."""
    threads = os.sched_getaffinity(0)
    cores = set()
    for thread in threads:
        siblings = Path(f"/sys/devices/system/cpu/cpu{thread}/topology/thread_siblings_list")
        cores.add(siblings.read_text().strip() if siblings.exists() else str(thread))
    return len(cores)


def _as_warning(finding: Finding) -> Finding:
    return replace(finding, level="warning") if finding.level == "problem" else finding
