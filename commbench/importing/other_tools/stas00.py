"""Tables of all_reduce_bench.py and torch-dist-bench.py of the Machine Learning Engineering book.

Newer versions print the median latency of a call beside the bandwidths; in older ones the time is the payload over
algbw, a mean over calls, and the time behind a mean of bandwidths is a little shorter than the mean time. A payload is
cut down to whole units, which are binary under both names (KiB, and KB in the first versions).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from commbench.collectives import COLLECTIVES
from commbench.importing.foreign import Line, Reading, Reject, Run, Stated
from commbench.importing.other_tools.collecting import Collector, gathered
from commbench.importing.other_tools.factors import SHARDING, fitting, sole
from commbench.importing.other_tools.foreign_names import our_collective
from commbench.importing.other_tools.printed import Printed, figure
from commbench.importing.other_tools.stas00_combined import COLUMNS, apart, collectives_of
from commbench.importing.other_tools.stas00_rows import LATENCY, cells, take
from commbench.importing.stating import collective, ranks
from commbench.units import GIB, TIB

NAME = "stas00"
MARKS = ("busbw|", "busbw |", "busbw  |", "busbw   |")  # one of them stands in any such log
_SENTENCE = re.compile(
    r"The (?:average |(?P<payload>\d[\d.]*)GiB payload )bandwidth (?:and the per-call latency )?of "
    r"(?:\d{1,3} collectives|(?P<operation>\w+)) over (?P<ranks>\d{1,7}) ranks"
    r"(?: \((?:at least )?(?P<warmups>\d{1,9}) warmups / (?P<trials>\d{1,9}) trials(?:, (?P<how>[^()]{1,120}))?\))?"
)
_RULE = re.compile(r"[|\s:-]+")
_SOFTWARE = re.compile(r"- software: torch=(?P<torch>\S+?), cuda=(?P<cuda>\S+?), nccl=(?P<nccl>\(?[\d., ]{1,30}\)?)$")
_HARDWARE = re.compile(r"- hardware: (?P<device>.{1,100})$")
_OTHER_TABLE = ("| collective ", "Summary of ")  # repeats what stands above it
_POSSIBLE = ("all_reduce", *SHARDING)
_OURS = {"batch_isend_irecv": "send_recv"}
_SHARED = (*SHARDING, "gather", "scatter")


@dataclass
class _Table:
    """One table and what is said above it."""

    line: int
    columns: tuple[str, ...]
    sentence: re.Match[str] | None
    software: re.Match[str] | None
    device: str | None
    body: list[Line] = field(default_factory=list)
    collective: str | None = None
    odd: list[Line] = field(default_factory=list)

    @property
    def profile(self) -> bool:
        """Trials of one payload, which stands in the sentence above."""
        return self.columns[0] in ("busbw", "algbw")


def opens(text: str) -> bool:
    """Whether a line begins what this reader reads: the header of a table, or what is said above it."""
    above = (_SENTENCE, _SOFTWARE, _HARDWARE)
    return _header(text) is not None or any(pattern.search(text) is not None for pattern in above)


def recognises(lines: Sequence[Line]) -> bool:
    """The header of a table."""
    return any(_header(line.text) is not None for line in lines)


def read(lines: Sequence[Line], stated: Stated) -> Reading:
    """Each table as a run; in a profile of one payload each trial is a cycle."""
    return gathered(_run(table, stated) for whole in _tables(lines) for table in _apart(whole))


def _apart(table: _Table) -> Iterator[_Table]:
    """The table of each collective where they stand side by side, else the table itself."""
    names = collectives_of(table.columns)
    if names is None:
        yield table
        return
    bodies, odd = apart(table.body, len(names))
    for place, (name, body) in enumerate(zip(names, bodies, strict=True)):
        yield replace(table, columns=COLUMNS, body=body, collective=name, odd=[] if place else odd)


def _tables(lines: Sequence[Line]) -> Iterator[_Table]:
    table: _Table | None = None
    sentence: re.Match[str] | None = None
    software: re.Match[str] | None = None
    device: str | None = None
    ended = False
    for line in lines:
        text = line.text.strip().lstrip("> ")
        if columns := _header(text):
            if table is not None:
                yield table
            table = _Table(line.number, columns, sentence, software, device)
            sentence, ended = None, False
        elif text.startswith(_OTHER_TABLE):
            ended = True
        elif found := _SENTENCE.search(text):
            sentence = found
        elif found := _SOFTWARE.search(text):
            software = found
        elif found := _HARDWARE.search(text):
            device = found["device"].strip()
        elif table is not None and not ended and text.startswith("|") and not _RULE.fullmatch(text):
            table.body.append(Line(line.number, text, line.stream))
    if table is not None:
        yield table


def _header(text: str) -> tuple[str, ...] | None:
    """The names of the columns of a table with bandwidths; None for any other line."""
    if "busbw" not in text or "|" not in text:
        return None
    names = tuple(cells(text.strip().lstrip("> ")))
    return names if {"busbw", "algbw"} <= set(names) or collectives_of(names) else None


def _run(table: _Table, stated: Stated) -> tuple[Run | None, list[Reject]]:
    collected = Collector()
    sentence = table.sentence
    operation = table.collective or (sentence["operation"] if sentence else None)
    named = our_collective(_OURS.get(operation, operation)) if operation else None
    reduces = named is None or COLLECTIVES[named].reduces
    payload = _payload_of_profile(table)
    figures: list[tuple[Printed, Printed]] = []
    told = int(sentence["ranks"]) if sentence else None
    for line in table.odd:
        collected.reject(line.number, "other columns than the header")
    if not table.body:
        collected.reject(table.line, f"no row{f' of {operation}' if table.collective else ''} stands under the header")
    shares = (told or 0) if named in _SHARED else 0
    for line in table.body:
        found = take(line, table.columns, payload, reduces, collected, shares)
        if isinstance(found, str):
            collected.reject(line.number, found)
        elif found is not None:
            figures.append(found)
    collected.unmix()
    fits = fitting(_POSSIBLE, figures, told or stated.world_size).collectives if figures else ()
    name = collective(stated, named or sole(fits), "named" if named else "factor", fits)
    span = fitting((name.collective,) if name.collective else fits, figures).ranks if figures else None
    world = ranks(stated, told, "header", span)
    notes = ["no time is printed: it is the payload over algbw, a mean over calls, so a little too short"]
    if LATENCY in table.columns:
        notes = []
    elif table.profile:
        notes = ["no time is printed: it is the payload over algbw of one call, a mean over ranks"]
    if told and figures and name.collective not in fits:
        notes.append(f"busbw over algbw is not the factor of {told} ranks")
    settings: dict[str, object] = {"buffers": "same"}
    if sentence and sentence["trials"]:
        settings |= {"warmup_calls": int(sentence["warmups"]), "trials": int(sentence["trials"])}
    run = Run(
        tool=NAME,
        variant="stas00 profile" if table.profile else "stas00 table",
        collective=name.collective,
        candidates=name.candidates,
        collective_basis=name.basis,
        world_size=world.number,
        world_size_basis=world.basis,
        world_size_range=span if world.number is None else None,
        mode="pipelined" if sentence and "queued calls" in (sentence["how"] or "") else "isolated",
        device=table.device,
        rows=collected.rows,
        left_out=tuple(collected.left_out),
        lines=collected.lines,
        settings=settings,
        environment=table.software.groupdict() if table.software else {},
        notes=(*notes, *world.notes, *name.notes),
    )
    return (run if collected.rows or collected.left_out else None), collected.rejects


def _payload_of_profile(table: _Table) -> int | None:
    if not table.profile or table.sentence is None or table.sentence["payload"] is None:
        return None
    payload = figure(table.sentence["payload"])
    return int(payload.value * GIB) if payload and payload.value < TIB else None
