"""Which curve of one side answers which of the other, and at which sizes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from commbench.errors import UsageError
from commbench.judging.differences import PairedPoint
from commbench.judging.sides import Side
from commbench.sweepfile.curves import Curve, CurveKey, curves_of
from commbench.sweepfile.sets import SweepSet

_SHOWN = 4  # curves that an error names a side


@dataclass(frozen=True)
class PairedCurve:
    """A curve that both sides have, at their common sizes (ascending), with the sets it comes from."""

    key: CurveKey
    world_size: int | None
    points: tuple[PairedPoint, ...]
    curves: tuple[Curve, Curve]
    sets: tuple[SweepSet, SweepSet]


def paired_curves(a: Side, b: Side) -> tuple[PairedCurve, ...]:
    """The curves that both sides have; what one side does not state (an operator, a dtype) fits anything.

    Raises:
        UsageError: they have none in common, naming what each has.
    """
    pairs = tuple(_pairs(a, b))
    if pairs:
        return pairs
    raise UsageError(
        f"{a.name} and {b.name} have nothing in common",
        expected="a collective with the same dtype, operator, placement, mode, number of ranks and size on both sides",
        found=f"{a.name}: {_has(a)}\n            {b.name}: {_has(b)}",
        fix="measure both with the same collectives, sizes, --placement and --mode (nccl-tests times as --mode "
        "pipelined does, OSU as isolated)",
    )


def _pairs(a: Side, b: Side) -> Iterator[PairedCurve]:
    for left in a.sets:
        for right in b.sets:
            if not _same_world(left, right):
                continue
            others = curves_of(right)
            for curve in curves_of(left):
                match = _match(curve, others)
                points = _common(curve, match) if match else ()
                if match and points:
                    yield PairedCurve(curve.key, curve.world_size, points, (curve, match), (left, right))


def _same_world(left: SweepSet, right: SweepSet) -> bool:
    a, b = left.key, right.key
    return a.groups == b.groups and (a.world_size == b.world_size or None in (a.world_size, b.world_size))


def _match(curve: Curve, others: Sequence[Curve]) -> Curve | None:
    exact = [other for other in others if other.key == curve.key]
    loose = exact or [other for other in others if _fits(curve.key, other.key)]
    return loose[0] if len(loose) == 1 else None


def _fits(a: CurveKey, b: CurveKey) -> bool:
    if (a.collective, a.beside) != (b.collective, b.beside):
        return False
    return all(
        None in (x, y) or x == y
        for x, y in ((a.op, b.op), (a.dtype, b.dtype), (a.placement, b.placement), (a.mode, b.mode))
    )


def _common(curve: Curve, other: Curve) -> tuple[PairedPoint, ...]:
    sizes = {point.message_bytes: point for point in other.points}
    return tuple(PairedPoint(p, sizes[p.message_bytes]) for p in curve.points if p.message_bytes in sizes)


def _has(side: Side) -> str:
    names = [
        f"{curve.key} on {'?' if curve.world_size is None else curve.world_size} ranks, "
        f"{curve.points[0].message_bytes} to {curve.points[-1].message_bytes} B"
        for one in side.sets
        for curve in curves_of(one)
    ]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return "; ".join(names[:_SHOWN]) + more if names else "no usable measurement"
