"""The launcher of a --launch line, told apart from its namesakes: mpirun is Open MPI's or MPICH's."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from commbench.launching.lines import Launcher, parse_launch

_ANSWER = 20.0  # seconds; mpirun --version takes well below one


def launcher_of(text: str) -> Launcher:
    """Read the line; asks mpirun or mpiexec for its version. Raises UsageError."""
    try:
        first = (shlex.split(text) or [""])[0]
    except ValueError:
        first = ""
    if Path(first).name not in ("mpirun", "mpiexec"):
        return parse_launch(text)
    return parse_launch(text, mpi_version_text=_version(first))


def program_found(word: str) -> str | None:
    """The program that a word names: on PATH, else beside this interpreter, where pip puts torchrun and mpirun."""
    beside = Path(sys.executable).parent / word
    return shutil.which(word) or (str(beside) if "/" not in word and word and beside.is_file() else None)


def _version(program: str) -> str | None:
    found = program_found(program)
    if found is None:
        return None
    try:
        done = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=_ANSWER, check=False)
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return None
    return done.stdout + done.stderr
