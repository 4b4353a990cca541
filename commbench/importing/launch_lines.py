"""The number of ranks that a launch line in a log states: `mpirun -np 64 … osu_allgather`, `srun -n 16 …`."""

import re
from collections.abc import Iterable

_LAUNCHER = re.compile(r"\b(mpirun|mpiexec(?:\.\w+)?|orterun|prterun|srun|aprun)\s")
_RANKS = re.compile(r"\s(?:-n|-np|--n|--np|--ntasks)[\s=]{1,3}(\d{1,7})(?=\s|$)|\s-n(\d{1,7})(?=\s|$)")

_NODES = re.compile(r"\s(?:-N ?|--nodes[\s=])(\d{1,6})(?=\s|$)")
_RANKS_OF_NODE = re.compile(r"\s--ntasks-per-node[\s=](\d{1,6})(?=\s|$)")


def ranks_launched(text: str, program: re.Pattern[str]) -> int | None:
    """Ranks of the program that this line starts; None where it starts another, several, or tells no number."""
    launcher = _LAUNCHER.search(text)
    if launcher is None or " : " in text or text.lstrip().startswith("#"):
        return None
    started = program.search(text, launcher.end())
    if started is None:
        return None
    options = text[launcher.end() - 1 : started.start()]
    counts = {int(found[1] or found[2]) for found in _RANKS.finditer(options)}
    if not counts and launcher[1] == "srun":
        nodes, each = _NODES.search(options), _RANKS_OF_NODE.search(options)
        counts = {int(nodes[1]) * int(each[1])} if nodes and each else set()
    return counts.pop() if len(counts) == 1 and 0 not in counts else None


def only(counts: Iterable[int]) -> int | None:
    """The number, where all that is said agrees."""
    found = set(counts)
    return found.pop() if len(found) == 1 else None
