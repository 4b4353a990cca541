"""Where one side stops being the faster one."""

from collections.abc import Sequence
from itertools import pairwise
from math import exp, log

from commbench.judging.compared import Crossover, PointComparison


def crossovers(points: Sequence[PointComparison], a: str, b: str) -> tuple[Crossover, ...]:
    """Each change of the significantly faster side along a curve (ascending sizes).

    Between the two sizes that show it the ratio may cross 1 several times; the middle of the crossings, in log size,
    is given.
    """
    shown = [place for place, point in enumerate(points) if point.significant and point.ratio]
    found = []
    for before, after in pairwise(shown):
        below, above = points[before], points[after]
        if below.verdict == above.verdict:
            continue
        found.append(
            Crossover(
                between=(below.message_bytes, above.message_bytes),
                message_bytes=_crossing(points[before : after + 1]),
                faster_below=a if below.verdict == "slower" else b,
                faster_above=a if above.verdict == "slower" else b,
            )
        )
    return tuple(found)


def _crossing(points: Sequence[PointComparison]) -> float:
    known = [(log(point.message_bytes), log(point.ratio)) for point in points if point.ratio]
    crossings = [
        x + (x2 - x) * (y / (y - y2)) for (x, y), (x2, y2) in pairwise(known) if (y > 0.0) != (y2 > 0.0) and y != y2
    ]
    middle = sum(crossings) / len(crossings) if crossings else (known[0][0] + known[-1][0]) / 2.0
    return exp(middle)
