"""The tables of a log of the OSU benchmarks and their relatives: a title, what stands under it, and ranks above it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from commbench.importing.foreign import Line
from commbench.importing.json_strings import opened
from commbench.importing.launch_lines import ranks_launched
from commbench.importing.other_tools.mpi_names import Operation, operation_named

PROGRAM = re.compile(r"\bosu_\w+|\brun\.py\b")
_LOGGER = re.compile(r"^\{[\w.]+:\d+\} \w+ - ")  # a Python logger, after its time
_LIBRARIES = ("MPI", "NCCL", "RCCL", "XCCL")
_MEASURE = re.compile(r"(?<!\s)\s*+(?:Latency|Bandwidth|Test)\b.*$")
_WORLD = re.compile(r"\bworld size(?: is|:) {0,3}(\d{1,7})\b", re.IGNORECASE)
_ABORT = re.compile(r"\b(?:data validation|MPI_ABORT|MPI_Abort|Segmentation fault|DUE TO TIME LIMIT)\b", re.IGNORECASE)
_TITLE = re.compile(
    r"#?\s*(?:OSU (?P<library>[A-Z][\w+]*)(?:-(?P<device>\w+))?|(?P<python>OMB Python MPI)|(?P<demo>MPI)) "
    r"(?P<name>\S.*?) Test(?: v?(?P<version>\d[\w.]*))?"
)


@dataclass
class Table:
    """One title and what stands under it, up to the next title.

    Attributes:
        launched: ranks that launch lines above the title name.
        device: memory of the buffers, as the title says (CUDA, ROCM, OPENACC ...).
    """

    line: int
    title: str
    family: str
    name: str
    version: str | None
    device: str | None
    operation: Operation
    launched: frozenset[int]
    body: list[Line] = field(default_factory=list)

    @property
    def aborted(self) -> bool:
        """Whether a line under the title tells of an end before its time."""
        return any(_ABORT.search(line.text) for line in self.body if not line.text[:1].isdigit())


def title_of(text: str) -> re.Match[str] | None:
    """The parts of a title; None for any other line."""
    title = _TITLE.match(text) if "Test" in text else None
    # the demos' titles begin with MPI, as other programs' words may
    return title if title and (title["demo"] is None or title["name"].endswith(("Latency", "Bandwidth"))) else None


def _of_mpi(title: re.Match[str]) -> bool:
    """Whether the names are MPI's: other libraries mean other things by them (reduce of OpenSHMEM reaches all)."""
    return title["library"] is None or title["library"] in _LIBRARIES


def plain(text: str) -> str:
    """A line without the logger around it."""
    text = text.strip()
    return _LOGGER.sub("", text, count=1).strip() if text.startswith("{") else text


def tables(lines: Sequence[Line]) -> Iterator[Table]:
    """Each title with what stands under it, alone or inside JSON strings."""
    table: Table | None = None
    launched: set[int] = set()
    for line in opened(lines):
        text = plain(line.text)
        if text[:1].isdigit() and table is not None:
            table.body.append(Line(line.number, text, line.stream))
            continue
        title = title_of(text)
        if title is not None:
            if table is not None:
                yield table
            table = Table(
                line=line.number,
                title=text,
                family="osu" if title["library"] else "omb-py" if title["python"] else "mpi4py",
                name=title["name"],
                version=title["version"],
                device=title["device"],
                operation=operation_named(_MEASURE.sub("", title["name"]) if _of_mpi(title) else ""),
                launched=frozenset(launched),
            )
            launched.clear()
            continue
        started, said = ranks_launched(text, PROGRAM), _WORLD.search(text)
        if started or said:
            launched.add(started or int(said[1] if said else 0))
        if table is not None:
            table.body.append(Line(line.number, text, line.stream))
    if table is not None:
        yield table
