"""The vocabulary of these tests: sweeps built from a few words, without a clock or a device."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from commbench.showing.judgement import judge
from commbench.showing.warning import ResultWarning
from commbench.sweepfile.reader import Sweep
from commbench.sweepfile.records import End, Header, LeftOut, MachineState, Measurement, Record, Source
from commbench.sweepfile.writer import SweepWriter

KIB, MIB = 1 << 10, 1 << 20
STEADY = 20
COMPLETE = End(sweep="s", finished_at="2026-08-01T10:01:00Z", status="complete")


def point(size: int = MIB, seconds: float | Sequence[float] = 1e-4, **fields: Any) -> Measurement:
    """An all-reduce of `size` bytes, in place, isolated, checked; `seconds` is one time for all samples, or each."""
    samples = (float(seconds),) * STEADY if isinstance(seconds, int | float) else tuple(seconds)
    known: dict[str, Any] = {
        "collective": "all_reduce",
        "dtype": "float32",
        "op": "sum",
        "placement": "in",
        "mode": "isolated",
        "clock": "device",
        "calls_per_sample": 1,
        "correct": True,
        "wrong": 0,
    }
    return Measurement(sweep="s", message_bytes=size, seconds=samples, **(known | fields))


def curve(law: Callable[[int], float], sizes: Iterable[int], **fields: Any) -> list[Measurement]:
    """Points whose time is a law of their size (s)."""
    return [point(size, law(size), **fields) for size in sizes]


def doublings(first: int, count: int) -> list[int]:
    """`count` sizes from `first` on, each twice the last."""
    return [first << i for i in range(count)]


def sweep(
    *points: Measurement,
    left_out: Sequence[LeftOut] = (),
    states: Sequence[MachineState] = (),
    end: End | None = COMPLETE,
    notices: Sequence[str] = (),
    **header: Any,
) -> Sweep:
    """A finished sweep of 8 ranks on NCCL, unless the header's fields say otherwise."""
    known: dict[str, Any] = {
        "started_at": "2026-08-01T10:00:00Z",
        "world_size": 8,
        "source": Source(tool="commbench", version="0.1.0"),
        "backend": "nccl",
    }
    head = Header(sweep="s", **(known | header))
    return Sweep(head, points, tuple(left_out), (), tuple(states), end, tuple(notices))


def write(path: Path, content: Sweep) -> Path:
    """The sweep as a file."""
    records: list[Record] = [content.header, *content.measurements, *content.left_out, *content.states]
    with SweepWriter.create(path) as file:
        for record in records + ([] if content.end is None else [content.end]):
            file.write(record)
    return path


def warned(content: Sweep, kind: str) -> list[ResultWarning]:
    """The warnings of one kind."""
    return [warning for warning in judge(content) if warning.kind == kind]


def kinds(content: Sweep) -> list[str]:
    """The kinds of all warnings, in order."""
    return [warning.kind for warning in judge(content)]
