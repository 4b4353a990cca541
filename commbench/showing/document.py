"""Sweeps for programs: one strict JSON document, or one line of CSV a measurement. Units stand in the names."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from commbench.showing.judgement import judge
from commbench.showing.rows import Row, rows
from commbench.sweepfile.reader import Sweep


def document(sweeps: Sequence[Sweep]) -> dict[str, Any]:
    """`{"sweeps": [{header, measurements with a derived block, left_out, ..., status, warnings}]}`, JSON types only."""
    return {"sweeps": [_sweep(sweep) for sweep in sweeps]}


def to_json(sweeps: Sequence[Sweep]) -> str:
    """The document as strict, indented JSON; a number that is not finite becomes null."""
    return msgspec.json.format(msgspec.json.encode(document(sweeps)), indent=2).decode() + "\n"


def to_csv(sweeps: Sequence[Sweep]) -> str:
    """A line with the column names, then one a measurement. What is not known is empty."""
    page = io.StringIO()
    lines = [line for sweep in sweeps for line in _lines(sweep)]
    writer = csv.DictWriter(page, (*_OF_SWEEP, *_OF_POINT, *_DERIVED, "notes"), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in line.items()} for line in lines)
    return page.getvalue()


def derived(row: Row) -> dict[str, Any]:
    """All that follows from a measurement; shares have 1 = 100 %."""
    low, high = row.interval or (None, None)
    return {
        "count": row.count,
        "samples": row.samples,
        "median_seconds": row.seconds,
        "interval_low_seconds": low,
        "interval_high_seconds": high,
        "half_width_share": row.half_width,
        "spread_share": row.spread,
        "minimum_seconds": row.minimum,
        "maximum_seconds": row.maximum,
        "gap_seconds": row.gap,
        "algbw_bytes_per_second": row.algbw,
        "busbw_bytes_per_second": row.busbw,
        "check": row.check,
        "bound": row.bound,
        "reached_target": row.reached,
    }


def _sweep(sweep: Sweep) -> dict[str, Any]:
    table = rows(sweep)
    measured = zip(sweep.measurements, table, strict=True)
    return {
        "header": msgspec.to_builtins(sweep.header),
        "measurements": [{**msgspec.to_builtins(m), "derived": derived(row)} for m, row in measured],
        "left_out": msgspec.to_builtins(sweep.left_out),
        "transports": msgspec.to_builtins(sweep.transports),
        "machine_states": msgspec.to_builtins(sweep.states),
        "proved": msgspec.to_builtins(sweep.proved),
        "status": sweep.status,
        "reason": sweep.end.reason if sweep.end else None,
        "void": msgspec.to_builtins(sweep.voids),
        "notices": list(sweep.notices),
        "warnings": [msgspec.to_builtins(warning) for warning in judge(sweep, table)],
    }


_OF_SWEEP = ("sweep", "label", "backend", "world_size", "proved")
_OF_POINT = (
    *("collective", "message_bytes", "dtype", "op", "root", "placement", "mode", "clock", "cycle"),
    *("calls_per_sample", "statistic", "slowest_rank", "fastest_rank", "wrong"),
)
_DERIVED = (
    *("count", "samples", "median_seconds", "interval_low_seconds", "interval_high_seconds", "half_width_share"),
    *("spread_share", "minimum_seconds", "maximum_seconds", "gap_seconds"),
    *("algbw_bytes_per_second", "busbw_bytes_per_second", "check", "bound", "reached_target"),
)


def _lines(sweep: Sweep) -> list[Mapping[str, Any]]:
    header = sweep.header
    whole = (header.sweep, header.label, header.backend, header.world_size, "+".join(sweep.proved or ()) or None)
    return [
        {
            **dict(zip(_OF_SWEEP, whole, strict=True)),
            **{name: getattr(row, name) for name in _OF_POINT},
            **derived(row),
            "notes": "; ".join(row.notes),
        }
        for row in rows(sweep)
    ]


def _cell(value: Any) -> Any:
    return ("false", "true")[value] if isinstance(value, bool) else value
