"""Small sweep files for tests: one header, a few points, an end."""

from typing import Any

import msgspec
import pytest

from commbench.errors import SweepFileError
from commbench.sweepfile.reader import parse_sweeps
from commbench.sweepfile.records import End, Header, LeftOut, MachineState, Measurement, Record, Source, Transport

SWEEP = "0f9c1f1e-6d8a-4a5c-9a52-5e1b9c1d2e3f"
WHEN = "2026-11-29T10:00:00Z"


def header(**changes: Any) -> Header:
    """A header of two gloo ranks on one host; `changes` replace its fields."""
    fields: dict[str, Any] = {
        "sweep": SWEEP,
        "started_at": WHEN,
        "world_size": 2,
        "source": Source(tool="commbench", version="0.1.0"),
        "label": "here",
        "backend": "gloo",
        "ranks_per_host": (2,),
        "settings": {"warm_up": 5, "buffers": "rotate", "sizes": [8, 1024]},
        "environment": {"hosts": ["a"], "device": "cpu", "cpu": "Xeon", "torch": "2.6.0"},
        "transport": {"setting": "host", "proved": ["SHM"]},
    }
    return Header(**(fields | changes))


def measurement(**changes: Any) -> Measurement:
    """A checked all_reduce of 1 KiB with three samples; `changes` replace its fields."""
    fields: dict[str, Any] = {
        "sweep": SWEEP,
        "collective": "all_reduce",
        "message_bytes": 1024,
        "seconds": (2e-5, 4e-5, 3e-5),
        "dtype": "float32",
        "op": "sum",
        "placement": "in",
        "mode": "isolated",
        "clock": "host",
        "calls_per_sample": 1,
        "fastest_seconds": (1e-5, 3e-5, 2e-5),
        "slowest_rank": 1,
        "correct": True,
        "wrong": 0,
    }
    return Measurement(**(fields | changes))


def left_out(**changes: Any) -> LeftOut:
    """An all_gather that was planned and not measured."""
    fields: dict[str, Any] = {
        "sweep": SWEEP,
        "collective": "all_gather",
        "message_bytes": 64,
        "reason": "too large",
        "dtype": "float32",
    }
    return LeftOut(**(fields | changes))


def end(**changes: Any) -> End:
    """A complete end."""
    return End(**({"sweep": SWEEP, "finished_at": WHEN, "status": "complete"} | changes))


def file_of(*records: Record) -> bytes:
    """The records as a file holds them."""
    return b"".join(msgspec.json.encode(record) + b"\n" for record in records)


def every_kind() -> bytes:
    """A file of 12 records with every kind in it."""
    points = [measurement(message_bytes=size) for size in (8, 64, 1024, 1 << 20)]
    return file_of(
        header(),
        MachineState(sweep=SWEEP, moment="before", devices=({"name": "cpu", "clock_hertz": 2e9},)),
        *points,
        measurement(collective="broadcast", op=None, root=1, mode="pipelined", cycle=1, notes=("a note",)),
        measurement(
            collective="barrier", message_bytes=0, dtype=None, op=None, placement=None, correct=None, wrong=None
        ),
        measurement(seconds=(1e-5,) * 7, fastest_seconds=None, reported={"algbw": 1.5, "busbw": 3}, statistic="mean"),
        left_out(),
        Transport(sweep=SWEEP, setting="host", proved=("SHM",), pairs=({"ranks": [0, 1], "path": "SHM"},)),
        end(),
    )


def point_with(field: str) -> bytes:
    """A measurement's line with one more field, which counts because it comes last."""
    return file_of(measurement()).rstrip()[:-1] + b"," + field.encode() + b"}\n"


def refused(content: bytes) -> SweepFileError:
    """The error for a file of this content, named f.jsonl."""
    with pytest.raises(SweepFileError) as caught:
        parse_sweeps(content, "f.jsonl")
    return caught.value
