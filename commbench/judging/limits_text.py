"""Derived limits written as a limits file that a person can read, check and edit."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from commbench.judging.units import Unit
from commbench.sweepfile.curves import CurveKey
from commbench.units import MICROSECOND, format_size

_LATENCY = 64 << 10  # bytes: below, a limit is a time; above, a bus bandwidth


class Rates(NamedTuple):
    """What derived limits promise; see `baseline.make_baseline`."""

    launches: int
    false_alarms: float
    detect: float
    confidence: float


class DerivedLimit(NamedTuple):
    """One limit from launches.

    Attributes:
        seconds, bound_seconds: the mean over launches, and the longest time that is allowed.
        spread, freedom: standard deviation of a launch to come around that mean, and how well it is known.
        least_detected: the smallest slow-down (a share) that these launches can tell from chance.
    """

    key: CurveKey
    message_bytes: int
    seconds: float
    bound_seconds: float
    spread: float
    freedom: float
    least_detected: float
    bus_factor: float


def limits_text(
    name: str, unit: Unit, kept: Sequence[DerivedLimit], left_out: Sequence[DerivedLimit], rates: Rates
) -> str:
    """The whole file."""
    first = _comment(min(sweep.header.started_at for sweep in unit.sweeps))
    last = _comment(max(sweep.header.started_at for sweep in unit.sweeps))
    missed = 100 * (1 - rates.confidence) / 2
    lines = [
        f"# Derived from {rates.launches} launches ({first} to {last}) by commbench accept --make-baseline.",
        f"# A healthy launch fails at most {100 * rates.false_alarms:g} % of the time, all limits together.",
        f"# A machine that is {100 * rates.detect:g} % slower at any of them passes at most {missed:g} % of the time.",
        *(f"# No limit for {one.key} {format_size(one.message_bytes)}: {_why(one)}" for one in left_out),
        "format = 1",
        f"name = {_string(name)}",
        f'source = "{rates.launches} launches, {first} to {last}"',
        "",
        *_cluster(unit),
        "",
        "[certainty]",
        f'confidence = "{100 * rates.confidence:g} %"',
        *(line for one in kept for line in _limit(one, rates)),
        "",
    ]
    return "\n".join(lines)


def _why(one: DerivedLimit) -> str:
    return f"launches differ so much that {100 * one.least_detected:.2g} % is the least that shows"


def _cluster(unit: Unit) -> Iterator[str]:
    key = unit.key
    proved = [set(sweep.proved or ()) for sweep in unit.sweeps]
    everywhere = set.intersection(*proved)
    yield "[cluster]"
    yield f"world_size = {key.world_size}"
    yield f"ranks_per_host = [{', '.join(map(str, key.ranks_per_host or ()))}]"
    yield f"device = {_string(key.device or '')}"
    if key.backend is not None:
        yield f"backend = {_string(key.backend)}"
    if not everywhere:
        yield 'path = "any"  # nothing proves the path of these launches: any path would pass'
        return
    yield f"path = [{', '.join(map(_string, sorted(everywhere)))}]"
    if beside := set.union(*proved) - everywhere:
        yield f"also_allowed = [{', '.join(map(_string, sorted(beside)))}]"


def _limit(one: DerivedLimit, rates: Rates) -> Iterator[str]:
    key = one.key
    yield ""
    yield "[[limit]]"
    yield f"collective = {_string(key.collective)}"
    for field in ("op", "dtype", "placement", "mode"):
        if (value := getattr(key, field)) is not None:
            yield f"{field} = {_string(value)}"
    yield f'size = "{one.message_bytes}"'
    if one.message_bytes < _LATENCY or not one.bus_factor:
        mean = f"{one.seconds / MICROSECOND:.4g} us"
        yield 'quantity = "time"'
        yield f'at_most = "{_digits(one.bound_seconds / MICROSECOND)} us"'
    else:
        scale = one.message_bytes * one.bus_factor / 1e9
        mean = f"{scale / one.seconds:.4g} GB/s"
        yield 'quantity = "busbw"'
        yield f'at_least = "{_digits(scale / one.bound_seconds)} GB/s"'
    yield f'launch_spread = "{_digits(100 * one.spread)} %"'
    yield f"launch_freedom = {one.freedom:.3g}" if one.freedom < 1e4 else "launch_freedom = 10000.0"
    yield (
        f'reason = "{rates.launches} launches reach {mean} at {format_size(one.message_bytes)}; '
        f'{100 * rates.detect:g} % slower is too slow"'
    )


def _digits(value: float) -> str:
    """Five digits, never with an exponent."""
    text = f"{value:.5g}"
    return text if "e" not in text else f"{value:.12f}".rstrip("0").rstrip(".")


def _string(text: str) -> str:
    """A basic string of TOML."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f\ud800-\udfff]", " ", escaped) + '"'


def _comment(text: str) -> str:
    return re.sub(r"[^\w:.+ -]", "", text)[:40]
