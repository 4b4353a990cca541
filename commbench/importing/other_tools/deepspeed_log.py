"""The summary of DeepSpeed's communication logger (`log_summary`): what a live job called, by operation and size.

The average leaves out the slowest and fastest tenth, and the gaps of a live job are in it, so such rows are marked as
observed. The printed size is the tensor a rank hands over: one rank's block of all_gather, gather and scatter, the
whole message elsewhere. KB, MB and GB are powers of 1024 with two decimals, so that sizes are known to within those.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from commbench.collectives import COLLECTIVES
from commbench.importing.figures import whole
from commbench.importing.foreign import Line, Reading, Reject, Run, Stated
from commbench.importing.other_tools.collecting import Collector
from commbench.importing.other_tools.foreign_names import our_collective
from commbench.importing.other_tools.printed import Printed, figure, ranks_that_fit, seconds, size
from commbench.importing.stating import Ranks, collective, ranks

NAME = "deepspeed"
OBSERVED = "observed in a live job: its gaps are in the times, so never fit it together with benchmark points"
MARKS = ("Comm. Op",)  # one of them stands in any such log
_HEADER = re.compile(r"Comm\. Op\s+Message Size\s+Count\s+(?P<names>Total .*)$")
_LOGGER = re.compile(r"^(?:\[\w+\] )?\[\w+\.py:\d+:\w+\] \[Rank \d+\] ?")
_OPERATION = re.compile(r"\s{0,3}(?P<operation>[a-z]\w*)(?: \| \[Caller Func: .*)?\s*$")
_SIZE = re.compile(r"(?:^|(?<=\s\s))(?P<size>\d[\d.]*(?:B| [KMGT]?B))(?=\s|$)(?P<rest>.*)$")
BLOCKS = {"all_gather", "gather", "scatter"}
# of these the printed bandwidths say how many ranks there were: busbw is (n-1)/n of tput, whatever n calls it counts
_TELLING = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all"}
_SUFFIXES = ("_coalesced", "_into_tensor", "_base", "_single", "_tensor")


@dataclass
class _Section:
    """The rows of one operation."""

    operation: str
    line: int
    body: list[Line] = field(default_factory=list)

    @property
    def collective(self) -> str | None:
        """Ours, None if there is none."""
        return collective_of(self.operation)


@dataclass
class _Point:
    """One row: latencies in ms, bandwidths in Gbps."""

    size: Printed
    size_text: str
    count: int
    total: Printed
    average: Printed
    throughput: Printed
    bus: Printed


def collective_of(operation: str) -> str | None:
    """Our collective of a name in DeepSpeed's spelling; None for what is none."""
    name = operation.removeprefix("inference_").removeprefix("monitored_")
    found = next((one for suffix in ("", *_SUFFIXES) if (one := our_collective(name.removesuffix(suffix)))), None)
    return None if found == "send_recv" else found


def opens(text: str) -> bool:
    """Whether a line begins what this reader reads: the header of a summary."""
    return "Comm. Op" in text and _HEADER.search(text) is not None


def recognises(lines: Sequence[Line]) -> bool:
    """The header of a summary."""
    return any(opens(line.text) for line in lines)


def read(lines: Sequence[Line], stated: Stated) -> Reading:
    """Each operation of each summary as a run."""
    runs: list[Run] = []
    rejects: list[Reject] = []
    for sections, refused in _summaries(lines):
        rejects += refused
        world = ranks(stated, None, None, _allowed(sections))
        cut = bool(sections and sections[-1].body) and isinstance(_point(sections[-1].body[-1]), str)
        for section in sections:
            run, of_section = _run(section, cut, world, stated)
            rejects += of_section
            if run is not None:
                runs.append(run)
    return Reading(tuple(runs), tuple(sorted(rejects, key=lambda reject: reject.line or 0)))


def _summaries(lines: Sequence[Line]) -> list[tuple[list[_Section], list[Reject]]]:
    """The sections of each table; the rows of the straggler breakdown are rejected."""
    found: list[tuple[list[_Section], list[Reject]]] = []
    straggling = False
    for wrapped in lines:
        line = Line(wrapped.number, _LOGGER.sub("", wrapped.text, count=1), wrapped.stream)
        header = _HEADER.search(line.text)
        if header is not None:
            straggling = "straggler" in header["names"]
            if not straggling or not found:
                found.append(([], []))
        elif found and (row := _SIZE.search(line.text)) and (found[-1][0] or straggling):
            if straggling:
                reason = "the straggler breakdown holds the fastest rank's time: not imported"
                found[-1][1].append(Reject(line.number, reason, matters=False))
            elif row:
                found[-1][0][-1].body.append(line)
        elif found and not straggling and (name := _OPERATION.match(line.text)):
            found[-1][0].append(_Section(name["operation"], line.number))
    return found


def _point(line: Line) -> _Point | str:
    """The figures of a row, or why it cannot be read."""
    row = _SIZE.search(line.text)
    words = row["rest"].split() if row else []
    if row is None or len(words) != 5:
        return f"the row is cut: {len(words) + 1} of 6 columns"
    message, count = size(row["size"]), whole(words[0])
    total, average, throughput, bus = (figure(word) for word in words[1:])
    if message is None or count is None or total is None or average is None or throughput is None or bus is None:
        return "a figure is no number"
    return _Point(message, row["size"], count, total, average, throughput, bus)


def _allowed(sections: Sequence[_Section]) -> tuple[int, int] | None:
    """Ranks that the bandwidths of all operations allow; the logger takes them from the whole job."""
    points = ((section, _point(line)) for section in sections for line in section.body)
    return allowed_ranks(
        [(section.operation, one.throughput, one.bus) for section, one in points if isinstance(one, _Point)]
    )


def allowed_ranks(figures: Sequence[tuple[str, Printed, Printed]]) -> tuple[int, int] | None:
    """Ranks that (operation, tput, busbw) allow: (n-1)/n is the ratio of all, as tput counts all_reduce twice."""
    telling = [(rate, bus) for name, rate, bus in figures if collective_of(name) in _TELLING and rate.value > 0]
    return ranks_that_fit("all_gather", telling) if telling else None


def _run(section: _Section, cut: bool, world: Ranks, stated: Stated) -> tuple[Run | None, list[Reject]]:
    found = section.collective
    if found is None:
        reason = f"{section.operation} is no collective of ours: it is not imported"
        return None, [Reject(line.number, reason, matters=False) for line in section.body]
    block = found in BLOCKS
    collected = Collector(world.number, block)
    for line in section.body:
        point = _point(line)
        if isinstance(point, str):
            collected.reject(line.number, point)
        elif round(point.size.value) == 0 or not COLLECTIVES[found].moves:
            reason = f"no message: {point.count} calls took {point.total.value:g} ms together"
            collected.leave_out(line.number, 0, reason)
        else:
            _take(line, point, collected)
    name = collective(stated, found, "named")
    notes = [OBSERVED]
    if found == "reduce_scatter":
        notes.append("the printed bandwidths count the message once for every rank")
    if block:
        notes.append("the printed size is one rank's tensor; the message is that times the ranks")
    run = Run(
        tool=NAME,
        variant="DeepSpeed comms logger",
        collective=name.collective,
        collective_basis=name.basis,
        world_size=world.number,
        world_size_basis=world.basis,
        rows=collected.rows,
        left_out=tuple(collected.left_out),
        lines=collected.lines,
        complete=False if cut else None,
        reason="the log is cut" if cut else None,
        settings={"operation": section.operation, "observed": True},
        notes=(*notes, *world.notes, *name.notes),
    )
    return (run if collected.rows or collected.left_out else None), collected.rejects


def _take(line: Line, point: _Point, collected: Collector) -> None:
    notes = []
    if point.size.half:
        notes.append(f"the size is known as {point.size_text} only, to within {round(point.size.half)} bytes")
    collected.row(
        line.number,
        round(point.size.value),
        seconds(point.average.value * 1000.0),
        statistic="trimmed mean over the calls of one rank",
        reported={
            "Message Size": point.size_text,
            "Count": point.count,
            "Total Latency(ms)": point.total.value,
            "Avg Latency(ms)": point.average.value,
            "tput_avg (Gbps)": point.throughput.value,
            "busbw_avg (Gbps)": point.bus.value,
        },
        notes=tuple(notes),
    )
