"""Command lines of nccl-tests that a shell, a batch script or a person put above a table."""

import re
from typing import NamedTuple

from commbench.importing.launch_lines import ranks_launched

PROGRAM = re.compile(
    r"(?<![\w-])(all_reduce|all_gather|reduce_scatter|reduce|broadcast|alltoallv|alltoall|sendrecv|gather|scatter|hypercube)"
    r"_perf(?:_mpi|\.exe)?(?!\w|\.py)"
)
_STARTED = re.compile(rf"{PROGRAM.pattern}[\"']?(?:\s+-{{1,2}}[A-Za-z]|\s*$)")
_EACH = re.compile(r"\s(?:-([gt])\s{0,3}|--(?:ngpus|nthreads)[\s=]{1,3})(\d{1,4})(?=\s|$)")
_MOST = 1 << 22


class Command(NamedTuple):
    """A line that names one program.

    Attributes:
        ranks: how many it starts, where its launcher says so.
        starts: it reads as a command, and not as a sentence about one.
    """

    program: str
    ranks: int | None = None
    starts: bool = False


def command_in(text: str) -> Command | None:
    """What a line says about the program of a table; None where it names none, or several."""
    if "_perf" not in text:
        return None
    programs = {found[0] for found in PROGRAM.finditer(text)}
    if len(programs) != 1:
        return None
    started = _STARTED.search(text)
    return Command(programs.pop(), _ranks(text, started) if started else None, started is not None)


def _ranks(text: str, started: re.Match[str]) -> int | None:
    """Processes times the GPUs of each; None where groups split them."""
    processes = ranks_launched(text, PROGRAM)
    if processes is None or "NCCL_TESTS_SPLIT" in text:
        return None
    for found in _EACH.finditer(text, started.start()):
        processes *= int(found[2])
    return processes if 0 < processes < _MOST else None
