"""Logs of the Intel MPI Benchmarks: collectives of MPI-1 and non-blocking ones, several numbers of processes in a log.

`# Benchmarking NAME` starts a run, `# #processes = N` says of how many ranks; the header of the table begins with
`#bytes` and is no comment. #bytes counts one rank's block, and the whole vector of reductions and broadcasts.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from commbench.importing.foreign import Line, Reading, Reject, Run, Stated
from commbench.importing.other_tools.collecting import Collector, gathered
from commbench.importing.other_tools.imb_rows import take
from commbench.importing.other_tools.mpi_names import Operation, operation_named
from commbench.importing.other_tools.printed import decimals, reported
from commbench.importing.stating import collective, ranks

NAME = "imb"
MARKS = ("Benchmarking ",)  # one of them stands in any such log
_PRODUCT = re.compile(r"Intel ?\(R\) MPI Benchmark(?:s| Suite) V?(\d[\w.]*)", re.IGNORECASE)
_TITLE = re.compile(r"#?\s*Benchmarking\s+(?:Multi-)?(\w+)\s*$")
_PROCESSES = re.compile(r"#?\s*#?processes = (\d{1,7})\b")
_GROUPS = re.compile(r"#?\s*\( ?(\d{1,7}) groups of (\d{1,7}) processes each running simultaneous")
_SETTING = re.compile(r"#\s*(MPI_Datatype|MPI_Datatype for reductions|MPI_Op)\s*:\s*(\w+)")
_HEADER = re.compile(r"\s*(?:Group\s+)?#?(?:bytes\s+#?repetitions\b|repetitions\s+t_)")
_NAMES = re.compile(r"overlap ?\[%\]|\S+")
_COUNTS = {"bytes": "#bytes", "repetitions": "#repetitions"}  # some launchers drop the sign
_END = "All processes entering MPI_Finalize"
_DECIMALS = 2  # every version prints two
# #bytes of these is one rank's block here, though the whole vector elsewhere
_BLOCKS = {"reducescatterblock", "ireducescatter", "ireducescatterblock"}
_SENDRECV = Operation("sendrecv", "send_recv")
_NBC_PURE = re.compile(r"_pure$", re.IGNORECASE)


@dataclass
class _Table:
    """One benchmark at one number of processes."""

    line: int
    title: str
    ranks: int | None = None
    groups: int | None = None
    columns: tuple[str, ...] = ()
    body: list[Line] = field(default_factory=list)

    @property
    def operation(self) -> Operation:
        """What it times."""
        name = _NBC_PURE.sub("", self.title)
        found = _SENDRECV if name.lower() == "sendrecv" else operation_named(name)
        return replace(found, block=True) if found.name in _BLOCKS else found


@dataclass
class _Log:
    """What stands outside the tables."""

    tables: list[_Table] = field(default_factory=list)
    version: str | None = None
    settings: dict[str, str] = field(default_factory=dict)
    ended: bool = False
    unordered: bool = False  # sizes from a user's file, in the user's order


def opens(text: str) -> bool:
    """Whether a line begins what this reader reads: the banner, or the title of a benchmark."""
    return _TITLE.match(text.strip()) is not None or _PRODUCT.search(text) is not None


def recognises(lines: Sequence[Line]) -> bool:
    """A title of a benchmark and the header of its table."""
    titled = False
    for line in lines:
        titled = titled or _TITLE.match(line.text.strip()) is not None
        if titled and _HEADER.match(line.text):
            return True
    return False


def read(lines: Sequence[Line], stated: Stated) -> Reading:
    """Each benchmark at each number of processes as a run."""
    log = _parts(lines)
    return gathered(pair for table in log.tables for pair in _runs(table, log, stated))


def _parts(lines: Sequence[Line]) -> _Log:
    log = _Log()
    for line in lines:
        text = line.text.strip()
        table = log.tables[-1] if log.tables else None
        if title := _TITLE.match(text):
            log.tables.append(_Table(line.number, title[1]))
        elif product := _PRODUCT.search(text):
            log.version = product[1]
        elif setting := _SETTING.match(text):
            log.settings[setting[1]] = setting[2]
        elif _END in text:
            log.ended = True
        elif "Message lengths were user defined" in text:
            log.unordered = True
        elif table is None:
            continue
        elif processes := _PROCESSES.match(text):
            table.ranks = int(processes[1])
        elif groups := _GROUPS.match(text):
            table.groups, table.ranks = int(groups[1]), int(groups[2])
        elif _HEADER.match(text):
            table.columns = tuple(_COUNTS.get(name, name) for name in _NAMES.findall(text))
        elif table.columns and text.partition(" ")[0].isdigit():
            table.body.append(line)
    return log


def _runs(table: _Table, log: _Log, stated: Stated) -> Iterator[tuple[Run | None, list[Reject]]]:
    """The run of a table, or one for each group where groups ran at once."""
    if table.operation.collective is None:
        reason = f"{table.title} is no collective of ours: it is not imported"
        yield None, [Reject(line.number, reason, matters=False) for line in table.body]
    elif not table.body:
        yield None, [Reject(table.line, f"no row stands under the title of {table.title}")]
    elif table.columns[0] == "Group":
        for group in sorted({line.text.split()[0] for line in table.body}, key=lambda word: word.zfill(9)):
            body = [Line(line.number, line.text.split(None, 1)[-1]) for line in table.body
                    if line.text.split()[0] == group]  # fmt: skip
            yield _run(replace(table, columns=table.columns[1:], body=body), log, stated, group)
    else:
        yield _run(table, log, stated, None)


def _run(table: _Table, log: _Log, stated: Stated, group: str | None) -> tuple[Run | None, list[Reject]]:
    operation = table.operation
    world, name = ranks(stated, table.ranks, "header"), collective(stated, operation.collective, "named")
    collected = Collector(world.number, operation.block)
    notes = [operation.note] if operation.note else []
    cut = False
    for place, line in enumerate(table.body):
        last = place == len(table.body) - 1
        problem = take(line, table.columns, operation, log.settings, collected)
        if problem is None and last and _fewer_decimals(line, table.body[place - 1] if place else None):
            problem = "the row is cut: its last figure has fewer decimals than the tool prints"
            collected.drop(line.number)
        if problem:
            collected.reject(line.number, problem)
            cut = last
    if not log.unordered:
        collected.unmix()
    if operation.nonblocking and "t_pure[usec]" in table.columns:
        notes.append("the time is t_pure, the call and its wait with nothing beside; t_ovrl is in `reported`")
    if operation.block:
        notes.append("#bytes is one rank's block; the message is that times the ranks")
    if table.groups:
        notes.append(f"{table.groups} groups of {table.ranks} ranks ran at once")
    settings: dict[str, object] = {"operation": operation.name}
    if group is not None:
        settings["group"] = reported(group)
    if table.groups:
        settings["simultaneous_groups"] = table.groups
    run = Run(
        tool=NAME,
        variant="IMB non-blocking" if operation.nonblocking else "IMB",
        version=log.version,
        collective=name.collective,
        collective_basis=name.basis,
        world_size=world.number,
        world_size_basis=world.basis,
        rows=collected.rows,
        left_out=tuple(collected.left_out),
        lines=collected.lines,
        complete=False if cut else True if log.ended else None,
        reason="the log is cut" if cut else None,
        settings=settings,
        notes=(*notes, *world.notes, *name.notes),
    )
    return (run if collected.rows or collected.left_out else None), collected.rejects


def _fewer_decimals(last: Line, before: Line | None) -> bool:
    word = last.text.split()[-1]
    usual = decimals(before.text.split()[-1]) if before else _DECIMALS
    return word[0].isdigit() and decimals(word) < usual
