"""Tables of all_reduce_bench.py of the Machine Learning Engineering book: `| payload | busbw | algbw |`.

No time is printed: it is the payload over algbw. The bandwidth is a mean over calls, and the time behind a mean of
bandwidths is a little shorter than the mean time. A payload is cut down to whole units.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from commbench.collectives import collective_named
from commbench.errors import UsageError
from commbench.importing.collecting import Collector
from commbench.importing.factors import SHARDING, fitting, sole
from commbench.importing.foreign import Line, Reading, Reject, Run, Stated
from commbench.importing.printed import Printed, figure
from commbench.importing.stating import collective, ranks
from commbench.units import GIB, GIGABYTE_PER_SECOND, KIB, MIB, TIB

NAME = "stas00"
MARKS = ("busbw|", "busbw |", "busbw  |", "busbw   |")  # one of them stands in any such log
_SENTENCE = re.compile(
    r"The (?:average |(?P<payload>\d[\d.]*)GiB payload )bandwidth of (?P<operation>\w+) over (?P<ranks>\d{1,7}) ranks"
    r"(?: \((?P<warmups>\d+) warmups / (?P<trials>\d+) trials\))?"
)
_HEADER = re.compile(
    r"\|\s*(?:(?P<payload>payload)\s*\|\s*)?(?P<first>busbw|algbw)\s*\|\s*(?P<second>busbw|algbw)\s*\|"
)
_RULE = re.compile(r"[|\s:-]+")
_PAYLOAD = re.compile(r"(\d{1,12})(B|[KMGT]iB)")
_RATE = re.compile(r"(\d[\d.]{0,20})GBps")
_UNITS = {"B": 1, "KiB": KIB, "MiB": MIB, "GiB": GIB, "TiB": TIB}
_SOFTWARE = re.compile(r"- software: torch=(?P<torch>\S+?), cuda=(?P<cuda>\S+?), nccl=(?P<nccl>\(?[\d., ]{1,30}\)?)$")
_HARDWARE = re.compile(r"- hardware: (?P<device>.{1,100})$")
_COARSE = 0.02  # of the time; what two decimals hide is said from there on
_POSSIBLE = ("all_reduce", *SHARDING)


@dataclass
class _Table:
    """One table and what is said above it."""

    line: int
    order: tuple[str, str]
    sentence: re.Match[str] | None
    software: re.Match[str] | None
    device: str | None
    profile: bool
    body: list[Line] = field(default_factory=list)


def opens(text: str) -> bool:
    """Whether a line begins what this reader reads: the header of a table, or what is said above it."""
    return any(pattern.search(text) is not None for pattern in (_HEADER, _SENTENCE, _SOFTWARE, _HARDWARE))


def recognises(lines: Sequence[Line]) -> bool:
    """The header of a table."""
    return any(_HEADER.search(line.text) is not None for line in lines)


def read(lines: Sequence[Line], stated: Stated) -> Reading:
    """Each table as a run; in a profile of one payload each trial is a cycle."""
    runs: list[Run] = []
    rejects: list[Reject] = []
    for table in _tables(lines):
        run, refused = _run(table, stated)
        rejects += refused
        if run is not None:
            runs.append(run)
    return Reading(tuple(runs), tuple(rejects))


def _tables(lines: Sequence[Line]) -> Iterator[_Table]:
    table: _Table | None = None
    sentence: re.Match[str] | None = None
    software: re.Match[str] | None = None
    device: str | None = None
    for line in lines:
        text = line.text.strip().lstrip("> ")
        if header := _HEADER.search(text):
            if table is not None:
                yield table
            order = (header["first"], header["second"])
            table = _Table(line.number, order, sentence, software, device, header["payload"] is None)
            sentence = None
        elif found := _SENTENCE.search(text):
            sentence = found
        elif found := _SOFTWARE.search(text):
            software = found
        elif found := _HARDWARE.search(text):
            device = found["device"].strip()
        elif table is not None and text.startswith("|") and not _RULE.fullmatch(text):
            table.body.append(Line(line.number, text, line.stream))
    if table is not None:
        yield table


def _cells(text: str) -> list[str]:
    return [cell.strip() for cell in text.strip().strip("|").split("|")]


def _run(table: _Table, stated: Stated) -> tuple[Run | None, list[Reject]]:
    collected = Collector()
    payload = _payload_of_profile(table)
    figures: list[tuple[Printed, Printed]] = []
    if not table.body:
        collected.reject(table.line, "no row stands under the header")
    for line in table.body:
        found = _take(line, table, payload, collected)
        if isinstance(found, str):
            collected.reject(line.number, found)
        elif found is not None:
            figures.append(found)
    collected.unmix()
    sentence = table.sentence
    named = _named(sentence["operation"]) if sentence else None
    told = int(sentence["ranks"]) if sentence else None
    fits = fitting(_POSSIBLE, figures, told or stated.world_size).collectives if figures else ()
    name = collective(stated, named or sole(fits), "named" if named else "factor", fits)
    span = fitting((name.collective,) if name.collective else fits, figures).ranks if figures else None
    world = ranks(stated, told, "header", span)
    notes = ["no time is printed: it is the payload over algbw, a mean over calls, so a little too short"]
    if table.profile:
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
        mode="isolated",
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


def _named(operation: str) -> str | None:
    try:
        return collective_named(operation).name
    except UsageError:
        return None


def _take(line: Line, table: _Table, payload: int | None, collected: Collector) -> tuple[Printed, Printed] | str | None:
    """Take one row: its algorithm and bus bandwidth, or why it cannot be read."""
    cells = _cells(line.text)
    if len(cells) != (2 if table.profile else 3):
        return f"{len(cells)} of {2 if table.profile else 3} columns"
    shown = None if table.profile else _PAYLOAD.fullmatch(cells[0])
    message = int(shown[1]) * _UNITS[shown[2]] if shown else payload
    texts = dict(zip(table.order, cells[-2:], strict=True))
    rates = {name: figure(match[1]) for name, text in texts.items() if (match := _RATE.fullmatch(text))}
    algorithm, bus = rates.get("algbw"), rates.get("busbw")
    if message is None:
        return "the payload is not told" if table.profile else f"the payload {cells[0]!r} cannot be read"
    if algorithm is None or bus is None:
        return "a bandwidth cannot be read"
    if algorithm.value <= 0:
        collected.leave_out(line.number, message, "algbw is printed as 0, and no time follows from it")
        return None
    error = algorithm.half / algorithm.value
    rounded = (f"algbw has so few digits that the time is known to {error:.0%} only",) if error > _COARSE else ()
    collected.row(
        line.number,
        message,
        message / (algorithm.value * GIGABYTE_PER_SECOND),
        op="sum",
        statistic="one call, mean over ranks" if table.profile else "derived from a mean of bandwidths",
        reported=({} if table.profile else {"payload": cells[0]}) | {"busbw": bus.value, "algbw": algorithm.value},
        notes=rounded,
    )
    return algorithm, bus
