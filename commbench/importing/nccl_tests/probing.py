"""Ask a program of nccl-tests what it can do, and a launcher whose it is, each in a few seconds."""

import time
from collections.abc import Mapping, Sequence

from commbench.errors import LaunchError, UsageError
from commbench.importing.nccl_tests.binaries import Binary
from commbench.importing.nccl_tests.capabilities import Capabilities, read_help
from commbench.importing.nccl_tests.process_tree import ProcessTree
from commbench.launching.lines import Launcher, launch_line, parse_launch

_PATIENCE = 30.0  # seconds: the first load of a large CUDA program from a network disk takes ten
_LAUNCHED_PATIENCE = 120.0  # … and a launcher may start a container first
_LONGEST = 300  # characters of what it said instead


def capabilities(binary: Binary, launcher: Launcher | None, environ: Mapping[str, str]) -> Capabilities:
    """What a program can do, from its --help.

    Raises:
        LaunchError: it does not start: not built for this machine, or a library is missing.
    """
    if binary.here or launcher is None:
        words: tuple[str, ...] = (binary.path, "--help")
        status, text = _said(words, environ, _PATIENCE)
    else:
        line = launch_line(launcher, arguments=["--help"], binary=binary.path)
        words = line.words
        status, text = _said(words, {**environ, **line.environment}, _LAUNCHED_PATIENCE)
    able = read_help(text)
    if not able.known and status not in (0, None):
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        raise LaunchError(
            f"{binary.path} does not start",
            expected="its --help",
            found=f"exit status {status}" + (f": {lines[-1][:_LONGEST]}" if lines else " and no word"),
            fix="build it for this machine, and let LD_LIBRARY_PATH name the folders of libcudart, libnccl and libmpi",
        )
    return able


def launcher_of(text: str, environ: Mapping[str, str]) -> Launcher:
    """Read --launch; mpirun is asked whose it is, since Open MPI and MPICH take variables differently.

    Raises:
        UsageError, LaunchError: it is no launcher, or is not there.
    """
    launcher = parse_launch(text)
    if launcher.kind == "torchrun":
        raise UsageError(
            "nccl-tests cannot be started with torchrun", expected="mpirun, mpiexec or srun", found=repr(text),
            fix="build it with MPI and use --launch 'mpirun -np N', or let one process drive N GPUs with -g N",
        )  # fmt: skip
    if any(word.endswith("_perf") for word in launcher.words):
        raise UsageError(
            "the launch line names a program", expected="a launcher and its options", found=repr(text),
            fix="leave the program away: collectives name the programs",
        )  # fmt: skip
    if launcher.carrier != "openmpi":
        return launcher
    _, version = _said((launcher.words[0], "--version"), environ, _PATIENCE)
    return parse_launch(text, mpi_version_text=version)


def _said(words: Sequence[str], environ: Mapping[str, str], patience: float) -> tuple[int | None, str]:
    """Exit status (None: it had to be ended) and all that it printed."""
    try:
        tree = ProcessTree(words, environ)
    except (OSError, ValueError) as error:
        raise LaunchError(
            "a program cannot be started", expected=f"{words[0]} to start",
            found=getattr(error, "strerror", None) or str(error),
            fix="check that it is on PATH and built for this machine",
        ) from None  # fmt: skip
    until = time.monotonic() + patience
    said: list[str] = []
    with tree:
        for event in tree.lines():
            if event is not None:
                said.append(event[1])
            if time.monotonic() > until or len(said) > 10_000:
                tree.end(0.5)
                return None, "\n".join(said)
    return tree.status, "\n".join(said)
