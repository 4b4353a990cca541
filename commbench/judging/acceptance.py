"""Sweeps held against a limits file: every question becomes a check, and the checks a verdict."""

from collections.abc import Iterator, Sequence

import msgspec

from commbench.judging.bounds import KINDS, Kind, Share, format_value
from commbench.judging.estimates import Estimate, Sureness
from commbench.judging.judged import Acceptance, Check, acceptance
from commbench.judging.launches import each_once
from commbench.judging.limits import Limit, Limits
from commbench.judging.node_spread import node_spreads, unmeasured
from commbench.judging.quantities import at_size, of_curve
from commbench.judging.soundness import (
    completeness_check,
    correctness_check,
    is_sub_world,
    machine_check,
    machine_text,
    named,
    path_check,
)
from commbench.judging.standing import stand
from commbench.judging.units import Unit, units_of, wanted_sizes
from commbench.modelling.links import NETWORK_PORT, host_peak, link_peak
from commbench.sweepfile.curves import CurveKey
from commbench.sweepfile.reader import Sweep
from commbench.sweepfile.records import Measurement
from commbench.units import format_size

_NAMED = 3
_UNITS: dict[Kind, str] = {"rate": "B/s", "time": "s", "bytes": "B", "share": "1"}


def accept(
    limits: Limits,
    sweeps: Sequence[Sweep],
    baseline: Sequence[Sweep] = (),
    extra: Sequence[Check] = (),
    notes: Sequence[str] = (),
) -> Acceptance:
    """Judge sweeps by limits.

    Args:
        baseline: the sweeps of `limits.baseline`.
        extra, notes: checks and remarks that others made (the history's).
    """
    units = units_of(each_once(sweeps))
    judged = [_Judged(unit, limits) for unit in units]
    good = [one for one in judged if one.ours]
    others = [one for one in judged if not one.ours]
    aside = [one for one in others if any(is_sub_world(one.unit, whole.unit) for whole in good)]
    asked = [*good, *(one for one in others if one not in aside)]
    reference = [one for one in (_Judged(unit, limits) for unit in units_of(each_once(baseline))) if one.ours]
    checks = [check for one in asked for check in one.checks(reference)]
    checks += [check for one in aside if (check := correctness_check(one.unit, ())).outcome == "fail"]
    for limit in limits.limits:
        if limit.quantity == "node_spread":
            checks += _node_checks(good, limit, limits)
    own = [f"not judged: {one.unit.name or 'a sweep'} among {one.unit.key.world_size} of the ranks" for one in aside]
    return acceptance(limits.name, machine_text(limits.cluster), [*checks, *extra], [*own, *notes])


class _Judged:
    """A unit while its questions are being answered."""

    def __init__(self, unit: Unit, limits: Limits) -> None:
        self.unit, self.limits = unit, limits
        self.sure = Sureness(limits.confidence, limits.single_value)
        self.machine = machine_check(unit, limits.cluster)
        self.seen: dict[int, Measurement] = {}
        data = (path_check(unit, limits.cluster), completeness_check(unit, ()))
        self.unsound = next((check.reason for check in data if check.outcome != "pass"), None)

    @property
    def ours(self) -> bool:
        """It is the machine that the limits are for."""
        return self.machine.outcome == "pass"

    def checks(self, reference: Sequence["_Judged"]) -> Iterator[Check]:
        """All checks of this unit; of another machine only what its data say of themselves."""
        answers: list[Check] = []
        for limit in self.limits.limits if self.ours else ():
            if limit.quantity == "node_spread":  # judged among the nodes; here only its data
                self._remember(members for _, _, members in self.measurements(limit))
            else:
                answers += self._answers(limit, reference)
        yield self.machine
        if self.ours:
            yield path_check(self.unit, self.limits.cluster)
        yield correctness_check(self.unit, list(self.seen.values()) if self.ours else self._all())
        yield completeness_check(self.unit, self.limits.limits)
        yield from answers

    def measurements(self, limit: Limit) -> Iterator[tuple[CurveKey, int, list[Measurement]]]:
        """The points of the limit's curves that were measured inside its sizes, or stand for its ends."""
        first, last = limit.sizes or (0, 1 << 63)
        for key in self.unit.curves(limit):
            near = {self.unit.size_near(key, size) for size in wanted_sizes(limit)}
            for size, members in sorted(self.unit.points[key].items()):
                if first <= size <= last or size in near:
                    yield key, size, members

    def _all(self) -> list[Measurement]:
        return [m for sweep in self.unit.sweeps for m in sweep.measurements]

    def _answers(self, limit: Limit, reference: Sequence["_Judged"]) -> Iterator[Check]:
        keys = self.unit.curves(limit)
        if not keys:
            yield self._unanswered(limit, None, None, self._why_none(limit))
        for key in keys:
            if limit.fitted:
                self._remember(members for _, _, members in self.measurements(limit))
                estimate = of_curve(limit.quantity, self.unit, key, limit.sizes, self.sure)
                yield self._answer(limit, key, None, estimate, reference)
                continue
            for size in wanted_sizes(limit):
                if self.unit.size_near(key, size) is None:
                    yield self._unanswered(limit, key, size, f"{format_size(size)} was not measured")
        if not limit.fitted:
            for key, size, members in self.measurements(limit):
                self._remember([members])
                estimate = at_size(limit.quantity, members, self.unit.key.world_size, self.sure, limit.launch_spread)
                yield self._answer(limit, key, size, estimate, reference)

    def _remember(self, some: "Sequence[list[Measurement]] | Iterator[list[Measurement]]") -> None:
        self.seen.update((id(m), m) for members in some for m in members)

    def _answer(
        self, limit: Limit, key: CurveKey, size: int | None, found: Estimate | str, reference: Sequence["_Judged"]
    ) -> Check:
        if isinstance(found, str):
            return self._unanswered(limit, key, size, found)
        bound, relative = limit.bound.value, found
        if limit.bound.of == "baseline":
            base = _baseline(limit, key, size, reference, self.unit.hosts)
            if isinstance(base, str):
                return self._unanswered(limit, key, size, base)
            relative = found.over(base)
        elif limit.bound.of is not None:
            peak = _peak(limit.bound.of, self.unit, self.limits)
            if peak is None:
                return self._unanswered(limit, key, size, f"no {limit.bound.of} is known for {self.unit.key.device}")
            bound *= peak
        bound *= 1.0 + limit.tolerance if limit.upper else 1.0 - limit.tolerance
        kind: Kind = "share" if limit.bound.of == "baseline" else KINDS[limit.quantity]
        return _judged_check(self._name(limit, key, size), limit, size, relative, bound, kind, self.sure)

    def _unanswered(self, limit: Limit, key: CurveKey | None, size: int | None, reason: str) -> Check:
        return Check(
            name=self._name(limit, key, size), limit=limit_text(limit), outcome="not_verified", reason=reason,
            because=limit.reason, collective=limit.collective, message_bytes=size, quantity=limit.quantity,
        )  # fmt: skip

    def _name(self, limit: Limit, key: CurveKey | None, size: int | None) -> str:
        return named(check_name(limit, key, size), self.unit)

    def _why_none(self, limit: Limit) -> str:
        others = sorted(
            {str(key) for key, sizes in self.unit.points.items() if key.collective == limit.collective and sizes}
        )
        return (
            f"no such measurement; there is {'; '.join(others[:3])}"
            if others
            else f"no measurement of {limit.collective}"
        )


def check_name(limit: Limit, key: CurveKey | None, size: int | None) -> str:
    """`all_reduce sum float32 in pipelined 1 GiB busbw`, what a test runner calls a check."""
    curve = str(key) if key is not None else limit.collective
    where = format_size(size) if size is not None else _sizes_text(limit)
    return " ".join(filter(None, (curve, where, limit.quantity)))


def limit_text(limit: Limit) -> str:
    """`busbw at least 75 % of peak, tolerance 2 %`."""
    word = "at most" if limit.upper else "at least"
    tolerance = f", tolerance {100 * limit.tolerance:g} %" if limit.tolerance else ""
    return f"{limit.quantity} {word} {limit.bound.text}{tolerance}"


def _sizes_text(limit: Limit) -> str:
    if limit.sizes is None:
        return ""
    first, last = map(format_size, limit.sizes)
    return first if first == last else f"{first} to {last}"


def _judged_check(
    name: str, limit: Limit, size: int | None, estimate: Estimate, bound: float, kind: Kind, sure: Sureness
) -> Check:
    standing = stand(estimate, bound, kind, upper=limit.upper, confidence=sure.confidence)
    assumed = estimate.basis == "assumed"
    return Check(
        name=name, limit=limit_text(limit), outcome=standing.outcome, reason=standing.reason,
        measured=estimate.value, interval=None if assumed else estimate.interval, bound=bound,
        unit=_UNITS[kind],  # type: ignore[arg-type]
        assumed=sure.single_value if assumed else None, basis=estimate.basis, margin=standing.margin,
        because=limit.reason, collective=limit.collective, message_bytes=size, quantity=limit.quantity,
        more_samples=standing.more_samples, more_launches=standing.more_launches,
    )  # fmt: skip


def _baseline(
    limit: Limit, key: CurveKey, size: int | None, reference: Sequence[_Judged], hosts: tuple[str, ...] | None
) -> Estimate | str:
    """What the baseline reaches: on the same hosts, where it was measured there. A bad one is none."""
    for one in sorted(reference, key=lambda judged: judged.unit.hosts != hosts):
        sizes = one.unit.points.get(key, {})
        first, last = limit.sizes or (0, 1 << 63)
        if limit.fitted:
            members = [m for measured, some in sizes.items() if first <= measured <= last for m in some]
        else:
            members = sizes.get(size or 0, [])
        if not members:
            continue
        if one.unsound is not None:
            return f"the baseline itself cannot be used: {one.unsound}"
        if any(m.correct is not True or m.wrong for m in members):
            return "the baseline's own results are wrong, or nobody checked them"
        if limit.fitted:
            return of_curve(limit.quantity, one.unit, key, limit.sizes, one.sure)
        return at_size(limit.quantity, members, one.unit.key.world_size, one.sure, limit.launch_spread)
    return "the baseline holds no such measurement of this machine"


def _peak(share: Share, unit: Unit, limits: Limits) -> float | None:
    device = unit.key.device or ""
    cluster = limits.cluster
    if share == "network":
        return NETWORK_PORT[cluster.network or ""] * (cluster.ports_per_host or 1)
    if share == "host":
        peak = host_peak(device)
        return peak.bytes_per_second if peak else None
    links = link_peak(device)
    if links is None:
        return None
    if share == "bridge":
        return links.bridge_bytes_per_second
    return links.bytes_per_second if share == "peak" else links.ring_bytes_per_second


def _node_checks(judged: Sequence[_Judged], limit: Limit, limits: Limits) -> Iterator[Check]:
    units = [one.unit for one in judged]
    found = list(node_spreads(units, limit, Sureness(limits.confidence, limits.single_value)))
    for key, size, names in unmeasured(units, limit) if found else ():
        where = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
        yield Check(
            name=check_name(limit, key, size), limit=limit_text(limit), outcome="not_verified",
            reason=f"{format_size(size)} was not measured on {where}", because=limit.reason,
            collective=limit.collective, message_bytes=size, quantity=limit.quantity,
        )  # fmt: skip
    if not found:
        yield Check(
            name=check_name(limit, None, None), limit=limit_text(limit), outcome="not_verified",
            reason="fewer than two nodes were measured by themselves (one sweep a node, or --groups)",
            because=limit.reason, collective=limit.collective, quantity=limit.quantity,
        )  # fmt: skip
    for one in found:
        bound = limit.bound.value * (1.0 + limit.tolerance if limit.upper else 1.0 - limit.tolerance)
        check = _judged_check(
            check_name(limit, one.key, one.message_bytes), limit, one.message_bytes, one.estimate, bound, "share",
            Sureness(limits.confidence, limits.single_value),
        )  # fmt: skip
        longer = format_value(one.estimate.value, "share")
        worst = f"{one.slowest}, the slowest of {one.nodes} nodes, takes {longer} longer than the median node"
        yield msgspec.structs.replace(check, reason=f"{worst}: {check.reason}")
