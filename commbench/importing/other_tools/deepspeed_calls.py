"""Single calls of DeepSpeed's communication logger in its verbose mode: `comm op: … | time (ms): … | msg size: …`.

Every line is one call of one rank in a live job, so that the rows of an operation are cycles of its sizes. Sizes mean
what they mean in the summary (deepspeed_log.py).
"""

import re
from collections.abc import Sequence

from commbench.importing.foreign import Line, Reading, Reject, Run, Stated
from commbench.importing.other_tools.collecting import Collector
from commbench.importing.other_tools.deepspeed_log import BLOCKS, OBSERVED, allowed_ranks, collective_of
from commbench.importing.other_tools.deepspeed_log import NAME as TOOL
from commbench.importing.other_tools.printed import Printed, figure, seconds, size
from commbench.importing.stating import Ranks, collective, ranks

NAME = "deepspeed calls"
MARKS = ("comm op: ",)  # it stands in any such log
_CALL = re.compile(
    r"comm op: (?P<operation>\w+)(?: \| \[Caller Func: [^\]]{0,200}\])? \| time \(ms\): (?P<time>\S+)"
    r" \| msg size: (?P<size>\S+(?: [KMGT]?B)?) +\| algbw \(Gbps\): (?P<rate>\S+) +\| busbw \(Gbps\): (?P<bus>\S+)"
)


def opens(text: str) -> bool:
    """Whether a line begins what this reader reads: each line stands for itself."""
    return "comm op: " in text


def recognises(lines: Sequence[Line]) -> bool:
    """A line of one call."""
    return any(opens(line.text) for line in lines)


def read(lines: Sequence[Line], stated: Stated) -> Reading:
    """All calls of one operation as a run."""
    calls: dict[str, list[tuple[int, re.Match[str]]]] = {}
    rejects: list[Reject] = []
    for line in lines:
        if not opens(line.text):
            continue
        if call := _CALL.search(line.text):
            calls.setdefault(call["operation"], []).append((line.number, call))
        else:
            rejects.append(Reject(line.number, "the line of a call is cut"))
    world = ranks(stated, None, None, allowed_ranks(_bandwidths(calls)))
    runs: list[Run] = []
    for operation, found in calls.items():
        run, refused = _run(operation, found, world, stated)
        rejects += refused
        if run is not None:
            runs.append(run)
    return Reading(tuple(runs), tuple(sorted(rejects, key=lambda reject: reject.line or 0)))


def _bandwidths(calls: dict[str, list[tuple[int, re.Match[str]]]]) -> list[tuple[str, Printed, Printed]]:
    """Operation, algorithm and bus bandwidth of every call that prints them."""
    return [
        (operation, rate, bus)
        for operation, found in calls.items()
        for _, call in found
        if (rate := figure(call["rate"])) is not None and (bus := figure(call["bus"])) is not None
    ]


def _run(
    operation: str, calls: list[tuple[int, re.Match[str]]], world: Ranks, stated: Stated
) -> tuple[Run | None, list[Reject]]:
    found = collective_of(operation)
    if found is None:
        reason = f"{operation} is no collective of ours: it is not imported"
        return None, [Reject(line, reason, matters=False) for line, _ in calls]
    collected = Collector(world.number, found in BLOCKS)
    for line, call in calls:
        time, message = figure(call["time"]), size(call["size"])
        if time is None or message is None:
            collected.reject(line, "a figure is no number")
            continue
        collected.row(
            line,
            round(message.value),
            seconds(time.value * 1000.0),
            statistic="one call of one rank",
            reported={
                "time (ms)": time.value,
                "msg size": call["size"],
                "algbw (Gbps)": call["rate"],
                "busbw (Gbps)": call["bus"],
            },
            notes=(f"the size is known as {call['size']} only",) if message.half else (),
        )
    name = collective(stated, found, "named")
    run = Run(
        tool=TOOL,
        variant="DeepSpeed comms logger, single calls",
        collective=name.collective,
        collective_basis=name.basis,
        world_size=world.number,
        world_size_basis=world.basis,
        rows=collected.rows,
        left_out=tuple(collected.left_out),
        lines=collected.lines,
        settings={"operation": operation, "observed": True},
        notes=(
            OBSERVED,
            *world.notes,
            *name.notes,
        ),
    )
    return (run if collected.rows or collected.left_out else None), collected.rejects
