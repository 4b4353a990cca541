"""An estimate held against a bound: pass, fail, or what would decide."""

from math import ceil, exp, inf, log, log2
from typing import NamedTuple

from commbench.judging.bounds import Kind, format_value
from commbench.judging.estimates import Estimate, quantile
from commbench.judging.judged import Outcome

_MOST = 100_000_000  # more samples or launches than this is no advice
_PLENTY = 200  # launches: whoever needs more is better told that the value lies on the limit


class Standing(NamedTuple):
    """How an estimate stands to its bound; see `judged.Check` for the fields."""

    outcome: Outcome
    reason: str
    margin: float | None
    more_samples: int | None = None
    more_launches: int | None = None


def stand(estimate: Estimate, bound: float, kind: Kind, *, upper: bool, confidence: float) -> Standing:
    """Pass where the whole interval keeps the bound, fail where none of it does, else inconclusive.

    Args:
        bound: with its tolerance in it, in the unit of the estimate.
        upper: the bound is the most that is allowed, else the least.
    """
    word = "at most" if upper else "at least"
    limit = f"{word} {format_value(bound, kind)}"
    value = format_value(estimate.value, kind)
    margin = (bound - estimate.value) / bound if upper else (estimate.value - bound) / bound
    if estimate.interval is None:
        return Standing("inconclusive", f"{value} against {limit}: nothing says how sure that value is", margin)
    low, high = estimate.interval
    shown = f"{value} ({format_value(low, kind)} to {format_value(high, kind)}{_basis(estimate)})"
    if (high <= bound) if upper else (low >= bound):
        return Standing("pass", f"{shown}, {limit}", margin)
    if (low > bound) if upper else (high < bound):
        return Standing("fail", f"{shown} misses {limit} by {_percent(-margin)}", margin)
    samples, launches = _needed(estimate, bound, confidence)
    return Standing(
        "inconclusive",
        f"{shown} lies across {limit}: {_advice(estimate, samples, launches)}",
        margin,
        samples,
        launches,
    )


def _basis(estimate: Estimate) -> str:
    return {
        "samples": f"; {estimate.samples} samples",
        "launches": f"; {estimate.launches} launches",
        "launch spread": f"; as launches differ, {estimate.launches} of them",
        "fit": "; of the fit",
        "assumed": "; assumed, one value has no interval" if estimate.samples == 1 else "; assumed, too few samples",
    }[estimate.basis]


def _needed(estimate: Estimate, bound: float, confidence: float) -> tuple[int | None, int | None]:
    """How many more samples (or launches) make the interval end at the bound, if the value stays where it is."""
    if estimate.interval is None or estimate.value <= 0.0 or bound <= 0.0 or estimate.basis == "fit":
        return None, None
    if estimate.basis == "assumed":  # so many give an interval at all; one value may be all that a tool prints
        fewest = ceil(1.0 - log2(1.0 - confidence))
        return (max(1, fewest - estimate.samples), None) if estimate.samples > 1 else (None, None)
    distance = log(estimate.value / bound)
    end = estimate.interval[0] if distance > 0.0 else estimate.interval[1]
    reach = abs(log(end / estimate.value)) if end > 0.0 else inf
    if not distance or reach == inf or reach / abs(distance) > exp(9.0):  # 1e4 squared is _MOST
        return None, None
    if estimate.basis == "samples":
        needed = estimate.samples * (reach / distance) ** 2
        return (max(1, ceil(needed) - estimate.samples), None) if needed < _MOST else (None, None)
    if estimate.basis == "launch spread":  # how launches differ is known already: only their number counts
        more = ceil(estimate.launches * (reach / distance) ** 2) - estimate.launches
        return None, max(1, more) if more < _PLENTY else None
    freedom = max(1, estimate.launches - 1)
    error = reach / quantile(freedom, confidence) * estimate.launches**0.5
    for count in range(estimate.launches + 1, _PLENTY):
        if quantile(count - 1, confidence) * error / count**0.5 <= abs(distance):
            return None, count - estimate.launches
    return None, None


def _advice(estimate: Estimate, samples: int | None, launches: int | None) -> str:
    if estimate.basis == "assumed" and samples is not None:
        return f"at least {samples} more samples would give an interval (-n {estimate.samples + samples})"
    if estimate.basis == "assumed":
        return "measure with samples (commbench.sweep), or state certainty.single_value as you know it"
    if estimate.basis == "fit":
        return "more sizes or samples would narrow the fit"
    if samples is not None:
        return f"about {samples} more samples would decide, if the value stays (-n {estimate.samples + samples})"
    if launches is not None:
        return f"about {launches} more launch{'es' if launches > 1 else ''} would decide, if the value stays"
    return "the value lies so close to the limit that no number of samples decides"


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 1.0 else f"{100 * share:.0f} %"
