"""Scripts around torch.distributed that print a data size, `tput_avg (Gbps)` and `busbw_avg (Gbps)`.

They go back to one script for all_reduce, whose tput is 2 x size / time and whose figures are Gbit/s, means over
calls and ranks. The log names neither the collective nor a time: the time is rebuilt from tput, and said to be.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from commbench.importing.foreign import Line, Reading, Reject, Run, Stated
from commbench.importing.launch_lines import only
from commbench.importing.other_tools.collecting import Collector
from commbench.importing.other_tools.factors import SHARDING, fitting
from commbench.importing.other_tools.printed import Printed, figure
from commbench.importing.other_tools.printed import size as binary_size
from commbench.importing.stating import collective, ranks
from commbench.units import GIGABYTE_PER_SECOND

NAME = "torch-bench"
MARKS = ("tput_avg (Gbps):",)  # one of them stands in any such log
_RESULT = re.compile(r"tput_avg \(Gbps\):\s*(?P<tput>\S+)(?:\s+busbw_avg \(Gbps\):\s*(?P<bus>\S+))?\s*$")
_DECIMAL_SIZE = re.compile(r"\bdata size: (?P<size>\d[\d.]{0,20}) GB\b")
_BINARY_SIZE = re.compile(r"\bSize: (?P<size>\d[\d.]{0,20} ?[KMGT]?B)\s*$")
_RANKS = re.compile(r"\b(?:NUM_GPUS|WORLD_SIZE|world[_ ]size)\b ?(?:=|:| is) ?(?P<ranks>\d{1,7})\b")
_POSSIBLE = ("all_reduce", *SHARDING)
_BITS = 8


@dataclass
class _Result:
    """One printed result and the size that stands above it."""

    line: int
    first: int
    size: Printed | None
    size_text: str
    tput: Printed | None
    bus: Printed | None


def opens(text: str) -> bool:
    """Whether a line begins what this reader reads: a size, a number of ranks, or a result."""
    return any(pattern.search(text) is not None for pattern in (_RESULT, _DECIMAL_SIZE, _BINARY_SIZE, _RANKS))


def recognises(lines: Sequence[Line]) -> bool:
    """A line of results."""
    return any("tput_avg (Gbps):" in line.text for line in lines)


def read(lines: Sequence[Line], stated: Stated) -> Reading:
    """All results as one run."""
    results = list(_results(lines))
    told = only(int(found["ranks"]) for line in lines if (found := _RANKS.search(line.text)))
    pairs = [(result.tput, result.bus) for result in results if result.tput and result.bus]
    # printed tput of all_reduce is twice its algorithm bandwidth, so that the ratio is (n-1)/n for all of them
    span = fitting(SHARDING, pairs, told or stated.world_size)
    name = collective(stated, None, None, _POSSIBLE if span.collectives and pairs else ())
    world = ranks(stated, told, "log line", span.ranks if pairs else None)
    collected = Collector()
    for result in results:
        _take(result, stated.collective, collected)
    rejects = [*collected.rejects]
    if told and pairs and not span.collectives:
        rejects.append(Reject(None, f"busbw over tput is not the factor of the {told} ranks in the log", matters=False))
    numbers = [result.first for result in results] + [result.line for result in results]
    run = Run(
        tool=NAME,
        variant="torch tput_avg/busbw_avg",
        collective=name.collective,
        candidates=name.candidates,
        collective_basis=name.basis,
        world_size=world.number,
        world_size_basis=world.basis,
        world_size_range=span.ranks if world.number is None and pairs else None,
        rows=collected.rows,
        left_out=tuple(collected.left_out),
        lines=(min(numbers), max(numbers)) if numbers else (0, 0),
        notes=(
            "bandwidths are Gbit/s, means over calls and ranks; tput counts the message twice",
            "no time is printed: it is 2 x size / tput, the tput of all_reduce in these scripts",
            *world.notes,
            *name.notes,
        ),
    )
    return Reading((run,) if collected.rows else (), tuple(rejects))


def _results(lines: Sequence[Line]) -> Iterator[_Result]:
    size: Printed | None = None
    text, first = "", 0
    for line in lines:
        if found := _DECIMAL_SIZE.search(line.text):
            amount = figure(found["size"])
            size, text, first = amount and amount.times(GIGABYTE_PER_SECOND), f"{found['size']} GB", line.number
        elif found := _BINARY_SIZE.search(line.text):
            size, text, first = binary_size(found["size"]), found["size"], line.number
        elif "tput_avg (Gbps):" in line.text:
            result = _RESULT.search(line.text)
            yield _Result(
                line.number,
                first or line.number,
                size,
                text,
                figure(result["tput"]) if result else None,
                figure(result["bus"] or "") if result else None,
            )


def _take(result: _Result, wanted: str | None, collected: Collector) -> None:
    """Take one result."""
    if result.size is None:
        collected.reject(result.line, "a result without a data size above it")
    elif result.tput is None:
        collected.reject(result.line, "tput_avg is no number")
    elif wanted not in (None, "all_reduce"):
        collected.reject(result.line, f"no time is printed, and what tput counts for {wanted} is not known")
    elif not result.tput.value > 0:
        collected.reject(result.line, "tput_avg is 0: no time follows from it")
    else:
        bytes_ = round(result.size.value)
        reported = {"data size": result.size_text, "tput_avg (Gbps)": result.tput.value}
        collected.row(
            result.line,
            bytes_,
            2.0 * bytes_ * _BITS / (result.tput.value * GIGABYTE_PER_SECOND),
            statistic="derived from a mean of bandwidths",
            reported=reported | ({"busbw_avg (Gbps)": result.bus.value} if result.bus else {}),
            notes=(f"the size is known as {result.size_text} only",),
        )
