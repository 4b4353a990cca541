"""The points of one sweep, measured in order and recorded at once."""

import time
from collections.abc import Collection
from statistics import median

from commbench.measuring.core import measure
from commbench.measuring.options import Options
from commbench.measuring.parts import Part
from commbench.measuring.plan import Point
from commbench.measuring.recorder import Recorder
from commbench.measuring.reporter import Reporter
from commbench.measuring.seam import Backend
from commbench.measuring.watch import Watch, describe
from commbench.sweepfile.records import LeftOut, Measurement
from commbench.sweepfile.resume import PointKey, point_key
from commbench.units import format_seconds


class Points:
    """The points of one part, measured in order."""

    def __init__(
        self,
        part: Part,
        backend: Backend,
        options: Options,
        watch: Watch,
        recorder: Recorder,
        sweep: str,
        reporter: Reporter,
    ) -> None:
        self._part, self._backend, self._options, self._watch = part, backend, options, watch
        self._recorder, self._sweep, self._reporter = recorder, sweep, reporter

    def measure(self, done: Collection[PointKey], begun: float) -> str | None:
        """Measure what is not in `done`; returns why it ended early, or None."""
        missing = [point for point in self._part.plan if self._key(point) not in done]
        self._reporter.begin(len(missing))
        for number, point in enumerate(missing):
            elapsed = float(self._backend.world.gather([time.monotonic() - begun]).max())
            if self._watch.time_is_up(elapsed):
                return f"the time limit (-T) passed with {len(missing) - number} of {len(missing)} points to go"
            what = describe(point.case)
            self._reporter.point(what)
            self._watch.enter("warm-up", point.case)
            reason = self._part.refused.get(point) or self._backend.refusal(point.case)
            record = self._left_out(point, reason) if reason else self._measured(point)
            self._recorder.add(record)
            self._reporter.finished(what, record, self._part.ranks)
        return None

    def _key(self, point: Point) -> PointKey:
        return point_key(self._left_out(point, ""))

    def _left_out(self, point: Point, reason: str) -> LeftOut:
        case = point.case
        return LeftOut(
            sweep=self._sweep, collective=case.collective, message_bytes=case.message_bytes, dtype=case.dtype,
            op=case.op, root=case.root, placement=case.placement, mode=case.mode, cycle=point.cycle, reason=reason,
            beside=case.beside,
        )  # fmt: skip

    def _measured(self, point: Point) -> Measurement:
        case = point.case
        measured = measure(self._backend, case, self._options.rule, self._watch)
        notes = list(self._backend.notes(case))
        groups = None
        if len(self._part.groups) > 1:
            groups = tuple(measured.of_group(group) for group in self._part.groups)
            notes += _slowest_group(groups, self._part.groups)
        return Measurement(
            sweep=self._sweep, collective=case.collective, message_bytes=case.message_bytes, dtype=case.dtype,
            op=case.op, root=case.root, placement=case.placement, mode=case.mode, cycle=point.cycle,
            clock=self._backend.clock, calls_per_sample=measured.calls, seconds=measured.seconds,
            fastest_seconds=measured.fastest_seconds, slowest_rank=measured.slowest_rank,
            fastest_rank=measured.fastest_rank, skew=measured.skew,
            correct=None if measured.wrong is None else measured.wrong == 0, wrong=measured.wrong,
            notes=tuple(notes), group_seconds=groups, beside=case.beside,
        )  # fmt: skip


def _slowest_group(groups: tuple[tuple[float, ...], ...], ranks: tuple[tuple[int, ...], ...]) -> list[str]:
    """Names the group that was slowest in most samples, if one was."""
    slowest = [max(range(len(groups)), key=lambda g: groups[g][sample]) for sample in range(len(groups[0]))]
    worst = max(set(slowest), key=slowest.count)
    if 2 * slowest.count(worst) <= len(slowest):
        return []
    members, middle = ranks[worst], format_seconds(median(groups[worst]))
    return [f"slowest group: {worst} (ranks {members[0]} to {members[-1]}), median {middle}"]
