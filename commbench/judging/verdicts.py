"""The answer in one sentence."""

from collections.abc import Iterable, Sequence

from commbench.judging.compared import CurveComparison, Outcome, PointComparison, SideRecord
from commbench.units import format_size, format_size_short

BLIND = 2.0  # where not even a ratio of this would have been seen at half of the sizes, nobody could tell
_NAMED = 4  # crossovers that a sentence bears


def outcome_of(
    sides: Sequence[SideRecord], points: Sequence[PointComparison], curves: Sequence[CurveComparison]
) -> Outcome:
    """void, different, no measurable difference, or could not tell."""
    if any(side.void for side in sides):
        return "void"
    if any(point.significant for point in points) or any(curve.significant for curve in curves):
        return "different"
    visible = [curve.least_visible for curve in curves if curve.least_visible is not None]
    if len(visible) < len(curves) or min(visible) > BLIND:
        return "could not tell"
    return "no measurable difference"


def sentence(
    sides: Sequence[SideRecord],
    points: Sequence[PointComparison],
    curves: Sequence[CurveComparison],
    outcome: Outcome,
) -> str:
    """The verdict of a whole comparison: one sentence, with a clause for each side that is compared with the first."""
    if outcome == "void":
        reasons = "; ".join(f"{side.name}: {side.void}" for side in sides if side.void)
        return f"void, nothing can be said of {' and '.join(side.name for side in sides)}: {reasons}."
    base, *others = (side.name for side in sides)
    clauses = [
        _clause(base, other, [p for p in points if p.b == other], [c for c in curves if c.b == other])
        for other in others
    ]
    return "; ".join(clauses) + "."


def times(ratio: float) -> str:
    """`12.7x`, `1.05x`."""
    return f"{ratio:.3g}x" if ratio < 999.5 else f"{ratio:.0f}x"


def _clause(a: str, b: str, points: Sequence[PointComparison], curves: Sequence[CurveComparison]) -> str:
    slower = [point for point in points if point.verdict == "slower"]
    faster = [point for point in points if point.verdict == "faster"]
    if slower and faster:
        return (
            f"{b} is slower than {a} at {_sizes(slower)} ({_range(slower)} the time) and faster at "
            f"{_sizes(faster)} ({_range(faster)}){_crossings(curves)}"
        )
    if slower or faster:
        word, shown = ("slower", slower) if slower else ("faster", faster)
        rest = len(points) - len(shown)
        return f"{b} is {word} than {a} at {_sizes(shown)}: {_range(shown)} the time" + (
            f"; no measurable difference at the other {rest}" if rest else ""
        )
    shifted = [curve for curve in curves if curve.significant]
    if shifted:
        parts = ", ".join(f"{curve.text} {times(curve.ratio or 1.0)}" for curve in shifted)
        word = "slower" if all((curve.ratio or 1.0) > 1.0 for curve in shifted) else "faster"
        word = word if len({(curve.ratio or 1.0) > 1.0 for curve in shifted}) == 1 else "different"
        return f"{b} is {word} over all sizes together, although no single size shows it: {parts} the time of {a}"
    return _undecided(a, b, points, curves)


def _undecided(a: str, b: str, points: Sequence[PointComparison], curves: Sequence[CurveComparison]) -> str:
    visible = [curve.least_visible for curve in curves if curve.least_visible is not None]
    if len(visible) == len(curves) and min(visible) <= BLIND:
        reach = ", ".join(dict.fromkeys(_percent(value) for value in (min(visible), max(visible))))
        reach = reach.replace(", ", " to ")
        return f"no measurable difference between {a} and {b} (one of {reach} would have shown at half of the sizes)"
    if visible:
        return f"could not tell {b} from {a}: the samples scatter so much that not even twice the time would have shown"
    ratios = [point for point in points if point.ratio is not None]
    as_measured = f"; as measured, {b} takes {_named_range(ratios)} the time of {a}" if ratios else ""
    state = "; --single-value 10% says how well one is known"
    return f"could not tell whether {a} and {b} differ: one value a size has no error{as_measured}{state}"


def _percent(ratio: float) -> str:
    share = ratio - 1.0
    return f"{100 * share:.2g} %" if share < 1.0 else times(ratio)


def _range(points: Sequence[PointComparison]) -> str:
    ratios = sorted(point.ratio for point in points if point.ratio is not None)
    low, high = times(ratios[0]), times(ratios[-1])
    return low if low == high else f"{low} to {high}"


def _named_range(points: Sequence[PointComparison]) -> str:
    """`0.62x (reduce 128 B) to 11.6x (all_reduce 512 MiB)`."""
    ends = min(points, key=lambda point: point.ratio or 0.0), max(points, key=lambda point: point.ratio or 0.0)
    named = [f"{times(point.ratio or 0.0)} ({point.collective} {format_size(point.message_bytes)})" for point in ends]
    return " to ".join(dict.fromkeys(named))


def _sizes(points: Sequence[PointComparison]) -> str:
    if len(points) == 1:
        return f"{points[0].collective} {format_size(points[0].message_bytes)}"
    sizes = [point.message_bytes for point in points]
    low, high = format_size(min(sizes)), format_size(max(sizes))
    collectives = {point.collective for point in points}
    what = f" of {collectives.pop()}" if len(collectives) == 1 else ""
    return f"{len(points)} sizes{what} ({low} to {high})" if low != high else f"{len(points)} points of {low}"


def _crossings(curves: Iterable[CurveComparison]) -> str:
    named = [
        f"{curve.text} {format_size_short(crossing.message_bytes)}" for curve in curves for crossing in curve.crossovers
    ]
    if not named:
        return ""
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    return f"; they cross at {', '.join(named[:_NAMED])}{more}"
