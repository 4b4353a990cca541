"""What `--resume` asks of a sweep file: which point is which, and whether this run may continue that file.

Pure: both headers are given. A file that is complete already is no error; its points are just all there.
"""

from typing import Any, NamedTuple

import msgspec

from commbench.errors import SweepFileError
from commbench.sweepfile.records import Header, LeftOut, Measurement

# Settings that only say how far the plan goes: a resumed run may ask for more sizes, or for fewer.
_PLAN = frozenset(
    {
        "arguments",
        "collectives",
        "sizes",
        "dtypes",
        "operators",
        "modes",
        "placements",
        "cycles",
        "shuffle",
        "time_limit",
        "world_sizes",
        "with_compute",
        # measured anew by every run, not asked for
        "clock_resolution",
        "cache_bytes",
    }
)
_MACHINE = ("hosts", "device", "cpu", "torch", "nccl", "mpi")


class PointKey(NamedTuple):
    """What makes a point the same point in two runs of one sweep."""

    collective: str | None
    message_bytes: int
    dtype: str | None
    op: str | None
    root: int | None
    placement: str | None
    mode: str | None
    cycle: int
    beside: str | None


def point_key(point: Measurement | LeftOut) -> PointKey:
    """The key of a measured or left-out point; its sweep is not part of it."""
    return PointKey(
        point.collective,
        point.message_bytes,
        point.dtype,
        point.op,
        point.root,
        point.placement,
        point.mode,
        point.cycle,
        point.beside,
    )


def differences(stored: Header, now: Header) -> list[str]:
    """Where a run differs from the one a file was written by, so that their points must not share a file.

    Facts about the machine, label and path are compared where both headers state them; settings must agree in every
    key except those of the plan.

    Returns:
        One entry a field, naming it with both values; empty when the run may continue the file.
    """
    pairs = [(name, old, new) for name, old, new in _facts(stored, now) if None not in (old, new) and old != new]
    before, after = _plain(stored.settings), _plain(now.settings)
    for key in sorted((before.keys() | after.keys()) - _PLAN):
        old, new = before.get(key), after.get(key)
        if (old or None) != (new or None):  # a key that a version did not know is an option that was not given
            pairs.append((f"settings.{key}", old, new))
    return [f"{name}: {_shown(old)} in the file, {_shown(new)} now" for name, old, new in pairs]


def refuse_unlike(stored: Header, now: Header) -> None:
    """Let a run continue a file only if their points are of one kind.

    Raises:
        SweepFileError: naming every difference.
    """
    if found := differences(stored, now):
        raise SweepFileError(
            "this run cannot continue that sweep file",
            expected="the machine, backend and settings that the file was written with",
            found="\n            ".join(found),
            fix="start a new file with another name after -J, or run with what the file was written with",
        )


def _facts(stored: Header, now: Header) -> list[tuple[str, Any, Any]]:
    facts = [
        (name, _plain(getattr(stored, name)), _plain(getattr(now, name)))
        for name in ("backend", "world_size", "ranks_per_host", "groups", "label")
    ]
    facts += [(f"environment.{key}", *_both(stored.environment, now.environment, key)) for key in _MACHINE]
    return [*facts, ("transport.setting", *_both(stored.transport, now.transport, "setting"))]


def _both(stored: dict[str, Any], now: dict[str, Any], key: str) -> tuple[Any, Any]:
    return _plain(stored.get(key)), _plain(now.get(key))


def _plain(value: Any) -> Any:
    """The value as it would come out of the file (tuples as lists), because one of the two did."""
    return msgspec.json.decode(msgspec.json.encode(value))


def _shown(value: Any) -> str:
    return msgspec.json.encode(value).decode() if value is not None else "not set"
