"""Compare sides: at each size and over each curve, with one bound on false alarms for all questions together."""

from collections.abc import Collection, Iterator, Sequence
from math import exp
from typing import Any

import numpy as np

from commbench.errors import UsageError
from commbench.judging.compared import (
    Comparison,
    CurveComparison,
    Fit,
    PointComparison,
    Verdict,
)
from commbench.judging.crossovers import crossovers
from commbench.judging.differences import Difference, PairedPoint, differences
from commbench.judging.likeness import refuse_unlike
from commbench.judging.multiple_tests import FALSE_ALARMS, adjusted
from commbench.judging.notes import notes
from commbench.judging.pairing import PairedCurve, paired_curves
from commbench.judging.sides import Side
from commbench.judging.verdicts import outcome_of, sentence
from commbench.modelling.fitting import fit_curve
from commbench.sweepfile.curves import Curve
from commbench.sweepfile.sets import SweepSet

_LARGEST_LOG = 700.0  # exp of more is no float


class _Curve:
    """A paired curve of a pair of sides, while its questions are being answered."""

    def __init__(self, a: Side, b: Side, pair: PairedCurve, single_value: float | None) -> None:
        self.a, self.b, self.pair = a, b, pair
        self.void = a.void is not None or b.void is not None
        self.points, self.whole = differences(pair.points, single_value)

    @property
    def questions(self) -> list[Difference]:
        """The differences that have an error: one a size, and the curve's."""
        return [d for d in (*self.points, self.whole) if d is not None and d.error is not None]


def compare(
    sides: Sequence[Side],
    *,
    across: Collection[str] = (),
    fitted: bool = True,
    single_value: float | None = None,
) -> Comparison:
    """Compare every side with the first.

    Args:
        across: names of facts in which sides may differ (see `likeness.FIELDS`), or `all`.
        fitted: fit each side's curves too, which takes longer than all the rest.
        single_value: half the 95 % interval that a value without samples is given, as a share of it; None: it has none.

    Raises:
        UsageError: fewer than two sides, sides that differ in more than what is compared, or nothing in common.
    """
    if len(sides) < 2:
        raise UsageError("there is nothing to compare with", expected="two sides or more", found=f"{len(sides)}",
                         fix="commbench compare A B")  # fmt: skip
    base, *others = sides
    for other in others:
        refuse_unlike(base, other, across)
    curves = [_Curve(base, other, pair, single_value) for other in others for pair in paired_curves(base, other)]
    corrected = adjusted([d.p_value or 0.0 for curve in curves for d in curve.questions])
    answers = iter(corrected)
    found = [_answered(curve, answers, len(corrected), fitted=fitted) for curve in curves]
    points = tuple(point for some, _ in found for point in some)
    wholes = tuple(whole for _, whole in found)
    records = tuple(side.record for side in sides)
    outcome = outcome_of(records, points, wholes)
    return Comparison(
        sides=records, comparisons=points, curves=wholes, notes=notes(sides, points, single_value), outcome=outcome,
        verdict=sentence(records, points, wholes, outcome), false_alarms=FALSE_ALARMS, single_value=single_value,
    )  # fmt: skip


def _answered(
    curve: _Curve, answers: Iterator[float], questions: int, *, fitted: bool
) -> tuple[tuple[PointComparison, ...], CurveComparison]:
    points = tuple(
        _point(curve, pair, difference, next(answers) if difference.error is not None else None)
        for pair, difference in zip(curve.pair.points, curve.points, strict=True)
    )
    whole = curve.whole
    p_value = next(answers) if whole is not None else None
    sides = (curve.a.name, curve.b.name)
    reaches = [reach for d in curve.points if (reach := d.reach(1.0 - FALSE_ALARMS / max(1, questions))) is not None]
    ratio = exp(float(np.mean([difference.log_ratio for difference in curve.points])))
    return points, CurveComparison(
        **_name(curve),
        ratio=ratio,
        interval=whole.interval() if whole else None,
        significant=None if p_value is None else p_value < FALSE_ALARMS,
        p_value=p_value,
        sizes=len(points),
        slower=sum(point.verdict == "slower" for point in points),
        faster=sum(point.verdict == "faster" for point in points),
        least_visible=exp(min(float(np.median(reaches)), _LARGEST_LOG)) if reaches else None,
        crossovers=() if curve.void else crossovers(points, *sides),
        fits=_fits(curve.pair) if fitted else None,
        verdict="void" if curve.void else _verdict(p_value, ratio),
    )


def _point(curve: _Curve, pair: PairedPoint, difference: Difference, p_value: float | None) -> PointComparison:
    seconds = pair.a.seconds, pair.b.seconds
    ratio = seconds[1] / seconds[0] if min(seconds) > 0.0 else None
    interval = difference.interval() if ratio else None
    if interval and ratio:  # of typical times; the medians that the table shows may lie beside it
        interval = min(interval[0], ratio), max(interval[1], ratio)
    if ratio is None:
        p_value = None
    wrong = pair.a.correct is False or pair.b.correct is False
    return PointComparison(
        **_name(curve),
        message_bytes=pair.a.message_bytes,
        seconds=seconds,
        ratio=ratio,
        interval=interval,
        significant=None if p_value is None or curve.void else p_value < FALSE_ALARMS,
        p_value=p_value,
        samples=(len(pair.a.samples), len(pair.b.samples)),
        launches=(len(pair.a.launches), len(pair.b.launches)),
        correct=(pair.a.correct, pair.b.correct),
        verdict="void" if wrong or curve.void else _verdict(p_value, exp(difference.log_ratio)),
    )


def _verdict(p_value: float | None, ratio: float) -> Verdict:
    if p_value is None:
        return "could not tell"
    if p_value >= FALSE_ALARMS:
        return "no measurable difference"
    return "slower" if ratio > 1.0 else "faster"


def _name(curve: _Curve) -> dict[str, Any]:
    return {"a": curve.a.name, "b": curve.b.name, "world_size": curve.pair.world_size, **curve.pair.key._asdict()}


def _fits(pair: PairedCurve) -> tuple[Fit, Fit]:
    return _fit(pair.curves[0], pair.sets[0]), _fit(pair.curves[1], pair.sets[1])


def _fit(curve: Curve, one: SweepSet) -> Fit:
    model = fit_curve(curve, one)
    return Fit(
        latency_seconds=model.latency_seconds,
        latency_interval=model.latency_interval,
        bytes_per_second=model.bytes_per_second,
        bytes_per_second_interval=model.bytes_per_second_interval,
        refused=model.refused,
    )
