"""Tonight against earlier nights of the same machine: steps and drifts, since when, and what changed that night.

Nights are the sound sweeps in a folder (right machine and path, right results, finished) and tonight's. At each size a
night is compared with the median night; small and large messages of each curve make one series each.
"""

from collections.abc import Iterator, Sequence
from math import expm1
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from commbench.errors import SweepFileError, UsageError
from commbench.intervals import Floats
from commbench.judging.judged import Check
from commbench.judging.launches import each_once
from commbench.judging.limits import Limits
from commbench.judging.soundness import completeness_check, machine_check, named, path_check
from commbench.judging.steps import FALSE_ALARMS, FEWEST_NIGHTS, Change, changes
from commbench.judging.units import Unit, units_of
from commbench.sweepfile.curves import CurveKey
from commbench.sweepfile.reader import Sweep, read_sweeps
from commbench.sweepfile.records import Header

NOTICEABLE = 0.02
"""A machine that became slower by less than this share is only remarked on."""

_LARGE = 64 << 10  # bytes: below, latency rules a message, above, bandwidth
_LIMIT = "no slower than in earlier nights"


class _Night(NamedTuple):
    """One launch: its place in time."""

    started_at: str
    sweep: str
    cycle: int


class _Series(NamedTuple):
    """A curve's small or large messages: the mean logarithm of (time / the median night's time), a value a night."""

    key: CurveKey
    large: bool
    nights: tuple[_Night, ...]
    values: Floats

    @property
    def name(self) -> str:
        return f"history of {self.key}, {'large' if self.large else 'small'} messages"


def judge_history(limits: Limits, sweeps: Sequence[Sweep], folder: str) -> tuple[tuple[Check, ...], tuple[str, ...]]:
    """Checks and remarks about how tonight's sweeps stand to the nights in `folder`.

    Raises:
        UsageError: it is no folder.
    """
    ours = each_once(sweeps)
    tonight = {sweep.header.sweep for sweep in ours}
    stored, notes = _stored(folder)
    earlier = [sweep for sweep in each_once([*ours, *stored]) if sweep.header.sweep not in tonight]
    sound = [sweep for unit in units_of(earlier) for sweep in _sound(unit, limits)]
    if len(sound) < len(earlier):
        unused = f"{len(earlier) - len(sound)} of {len(earlier)} sweeps in {_printed(folder)}"
        notes.append(f"history: {unused} are not used: another machine or path, wrong results, or not finished")
    units = [unit for unit in units_of([*sound, *ours]) if tonight & {sweep.header.sweep for sweep in unit.sweeps}]
    right = [unit for unit in units if machine_check(unit, limits.cluster).outcome == "pass"]
    every = [(unit, series) for unit in right for series in _all_series(unit)]
    long = [pair for pair in every if len(pair[1].nights) >= FEWEST_NIGHTS]
    notes += [
        f"{named(series.name, unit)}: {_nights(series)}, fewer than the {FEWEST_NIGHTS} that show a change"
        for unit, series in every
        if len(series.nights) < FEWEST_NIGHTS
    ]
    checks = [_check(series, unit, len(long)) for unit, series in long]
    return tuple(checks), tuple(_shortened(notes))


def keep(sweeps: Sequence[Sweep], folder: str) -> None:
    """Store accepted sweeps in the folder, a file each; one that is there already stays.

    Raises:
        SweepFileError: the folder cannot be written.
    """
    try:
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        for sweep in sweeps:
            safe = "".join(
                letter if letter.isalnum() else "-" for letter in f"{sweep.header.started_at}-{sweep.header.sweep}"
            )
            file = place / f"{safe[:100]}.jsonl"
            if not file.exists():
                beside = file.with_suffix(".unfinished")
                beside.write_bytes(_encoded(sweep))
                beside.replace(file)
    except (OSError, ValueError) as error:
        raise SweepFileError(
            "an accepted sweep cannot be kept", expected="a folder after --history that can be written",
            found=f"{folder}: {getattr(error, 'strerror', None) or error}", fix="name another folder",
        ) from None  # fmt: skip


def _printed(name: str) -> str:
    """A file's name as text: one that is no UTF-8 would fit in no document."""
    return name.encode(errors="backslashreplace").decode()


def _nights(series: _Series) -> str:
    count = len(series.nights)
    return f"{count} night{'s' if count > 1 else ''}"


def _encoded(sweep: Sweep) -> bytes:
    records = [sweep.header, *sweep.measurements, *sweep.left_out, *sweep.transports, *sweep.states]
    records += [sweep.end] if sweep.end is not None else []
    return b"".join(msgspec.json.encode(record) + b"\n" for record in (*records, *sweep.voids))


def _stored(folder: str) -> tuple[list[Sweep], list[str]]:
    """The sweeps of the folder, and a remark about each file that cannot be read."""
    place = Path(folder)
    try:
        files = sorted(place.rglob("*.jsonl")) if place.is_dir() else []
        if place.exists() and not place.is_dir():
            raise UsageError("--history names no folder", expected="a folder of sweep files",
                             found=f"{folder} is a file",
                             fix="--history DIR")  # fmt: skip
    except (OSError, ValueError) as error:
        raise UsageError("the history cannot be read", expected="a folder of sweep files", found=f"{folder}: {error}",
                         fix="--history DIR") from None  # fmt: skip
    stored: list[Sweep] = []
    damaged: list[str] = []
    for file in files:
        try:
            stored += read_sweeps(file)
        except SweepFileError as error:  # one bad night must not hide all the others
            damaged.append(f"history: {_printed(str(file))} is not used: {error.wrong}, {error.found}")
    return stored, damaged


def _sound(unit: Unit, limits: Limits) -> Iterator[Sweep]:
    if machine_check(unit, limits.cluster).outcome != "pass":
        return
    for sweep in unit.sweeps:
        alone = Unit(unit.key, unit.hosts, (sweep,))
        wrong = any(m.correct is False or m.wrong for m in sweep.measurements)
        checks = (path_check(alone, limits.cluster), completeness_check(alone, ()))
        if not wrong and all(check.outcome == "pass" for check in checks):
            yield sweep


def _all_series(unit: Unit) -> Iterator[_Series]:
    started = {sweep.header.sweep: sweep.header.started_at for sweep in unit.sweeps}
    for key, sizes in unit.points.items():
        if key.beside is not None:
            continue
        for large in (False, True):
            some = [members for size, members in sizes.items() if (size >= _LARGE) == large]
            found = sorted({_Night(started[m.sweep], m.sweep, m.cycle) for members in some for m in members})
            if not found:
                continue
            places = {(night.sweep, night.cycle): place for place, night in enumerate(found)}
            yield _Series(key, large, tuple(found), _levels(some, places))


def _levels(sizes: Sequence[Sequence[Any]], places: dict[tuple[str, int], int]) -> Floats:
    """Per night, the mean over its sizes of the logarithm of (time / the median night's time)."""
    total, count = np.zeros(len(places)), np.zeros(len(places))
    for members in sizes:
        where = np.array([places[m.sweep, m.cycle] for m in members])
        times = np.array([m.seconds[0] if len(m.seconds) == 1 else float(np.median(m.seconds)) for m in members])
        logs = np.log(np.maximum(times, 1e-9))  # 0: less than the clock can tell
        np.add.at(total, where, logs - np.median(logs))
        np.add.at(count, where, 1.0)
    levels: Floats = total / np.maximum(count, 1.0)
    return levels


def _check(series: _Series, unit: Unit, of: int) -> Check:
    headers = {sweep.header.sweep: sweep.header for sweep in unit.sweeps}
    found = changes(series.values, of)
    net = expm1(_level_now(series, found))
    slower = [change for change in found if change.size > 0.0]
    fails = bool(slower) and net >= NOTICEABLE
    words = [_told(change, series, headers) for change in found]
    reason = "; ".join(words) if words else f"{len(series.nights)} nights, no step and no drift"
    return Check(
        name=named(series.name, unit), limit=_LIMIT, outcome="fail" if fails else "pass", reason=reason,
        measured=net, bound=NOTICEABLE, unit="1", margin=(NOTICEABLE - net) / NOTICEABLE,
        because=f"chance shows a change in at most {100 * FALSE_ALARMS:g} % of histories",
        collective=series.key.collective, quantity="history",
    )  # fmt: skip


def _level_now(series: _Series, found: Sequence[Change]) -> float:
    """How much slower the nights since the last change are than those before the first one (logarithm)."""
    if not found:
        return 0.0
    if found[-1].kind == "drift" and len(found) == 1:
        return found[0].size
    last, first = found[-1], found[0]
    before = series.values[: first.at] if first.at else series.values[first.at : first.at + 1]
    return float(series.values[last.at :].mean() - before.mean())


def _told(change: Change, series: _Series, headers: dict[str, Header]) -> str:
    share = expm1(change.size)
    word = f"{100 * abs(share):.2g} % {'slower' if share > 0.0 else 'faster'}"
    since = series.nights[change.at].started_at
    if change.kind == "drift":
        return f"drifted {word} from {since} to {series.nights[change.until - 1].started_at}"
    before, after = series.nights[change.at - 1], series.nights[change.at]
    differs = list(_what_changed(headers[before.sweep], headers[after.sweep]))
    changed = f" (changed that night: {', '.join(differs[:4])})" if differs else " (nothing stated in the file changed)"
    return f"{word} since {since}{changed}"


def _what_changed(before: Header, after: Header) -> Iterator[str]:
    old, new = _facts(before), _facts(after)
    for name in (*old, *(name for name in new if name not in old)):
        if old.get(name) != new.get(name):
            yield f"{name} {old.get(name, 'not stated')} -> {new.get(name, 'not stated')}"


def _facts(header: Header) -> dict[str, str]:
    facts: dict[str, str] = {"commbench": str(header.source.version)}
    for name, value in header.environment.items():
        if isinstance(value, str | int | float):
            facts[name] = str(value)
        elif isinstance(value, dict) and name in ("variables", "libraries"):
            facts.update({str(inner): str(one) for inner, one in value.items()})
    return facts


def _shortened(notes: Sequence[str]) -> list[str]:
    most = 5
    return [*notes[:most], *([f"history: {len(notes) - most} more such remarks"] if len(notes) > most else [])]
