"""Fitted models for a person: latency and bandwidth of each curve, its segments, and what to know about them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby

from commbench.modelling.model import Interval, Model
from commbench.modelling.reference import reference
from commbench.showing.grid import Cells, grid
from commbench.showing.heading import clean
from commbench.showing.scaling_table import scaling_pages
from commbench.units import GIGABYTE_PER_SECOND, MICROSECOND, format_size_short

_HEAD = (
    "collective", "redop", "type", "place", "mode", "beside", "latency\nus", "95 %\nus", "bandwidth\nGB/s",
    "95 %\nGB/s", "busbw\nGB/s", "n-half", "seg-\nments", "error\n%", "median\n%", "worst\n%", "interp.\n%",
    "1 line\n%", "plain\n%", "launch\n%",
)  # fmt: skip
_ERRORS = (
    "error: mean error of predicted sizes that the fit had not seen (median, worst), beside those of log-log\n"
    "interpolation, of one line by relative and by plain least squares; launch: on launches it had not seen"
)
_REFERENCE = ("link", "peak\nGB/s", "reached\n%")
_PLACES = {"in": "in place", "out": "out of place"}
_KINDS = ("refused", "note", "link")
_NAMED = 2  # models that a note names; of more, the first
_WORDS = 6  # columns of words


def draw(models: Sequence[Model], *, with_reference: bool = False) -> str:
    """The tables of all sets, each below its heading, and what to know about its models."""
    pages = [
        _set_page(title, list(of_set), with_reference=with_reference) for title, of_set in groupby(models, key=_title)
    ]
    return "\n".join([*pages, *scaling_pages(models)])


def _set_page(title: str, models: Sequence[Model], *, with_reference: bool) -> str:
    fitted = [model for model in models if model.refused is None]
    parts = [clean(title), ""]
    if fitted:
        head = (*_HEAD, *_REFERENCE) if with_reference else _HEAD
        rows = [_row(model) + (_reference(model) if with_reference else ()) for model in fitted]
        same, rows = _said_by_all(rows)
        parts = [", ".join([clean(title), *same]), ""]
        parts += [grid(head, rows, left={*range(_WORDS), len(_HEAD)}), _ERRORS, "", *_segments(fitted)]
    parts += _notes(models, with_reference=with_reference)
    return "\n".join(parts).rstrip("\n") + "\n"


def _title(model: Model) -> str:
    key = model.key
    ranks = (
        "number of ranks not stated"
        if key.world_size is None
        else f"{key.world_size} rank{'s' if key.world_size > 1 else ''}"
    )
    hosts = (
        f" on {len(key.ranks_per_host)} host{'s' if len(key.ranks_per_host) > 1 else ''}" if key.ranks_per_host else ""
    )
    path = f"{', '.join(model.proved)} (proved)" if model.proved else "path not proved"
    parts = (key.label, model.backend if model.backend != key.label else None, ranks + hosts, model.device, path)
    return ", ".join(part for part in parts if part)


def _row(model: Model) -> Cells:
    key, errors = model.key, model.held_out
    latency, rate = model.latency_seconds or 0.0, model.bytes_per_second or 0.0
    bus = model.bus_bytes_per_second
    return (
        key.collective, key.op or "", key.dtype or "", key.placement or "", key.mode or "", key.beside or "",
        _number(latency / MICROSECOND), _range(model.latency_interval, MICROSECOND),
        _number(rate / GIGABYTE_PER_SECOND), _range(model.bytes_per_second_interval, GIGABYTE_PER_SECOND),
        _number(bus / GIGABYTE_PER_SECOND) if bus else "",
        format_size_short(model.half_bytes) if model.half_bytes else "", str(len(model.segments)),
        *(_percent(share) for share in (
            (errors.mean, errors.median, errors.worst, errors.interpolation_mean, errors.relative_mean,
             errors.plain_mean, errors.launch_mean)
            if errors else (None,) * 7
        )),
    )  # fmt: skip


def _said_by_all(rows: Sequence[Cells]) -> tuple[list[str], list[Cells]]:
    """Words that all rows share, for the heading, and the rows without them."""
    shared = [number for number in range(1, _WORDS) if len({row[number] for row in rows}) == 1]
    words = [_PLACES.get(rows[0][number], rows[0][number]) for number in shared if rows[0][number]]
    return words, [tuple("" if number in shared else cell for number, cell in enumerate(row)) for row in rows]


def _reference(model: Model) -> Cells:
    found = reference(model)
    if found is None:
        return ("unknown", "", "")
    return (
        found.link,
        _number(found.bytes_per_second / GIGABYTE_PER_SECOND),
        "" if found.share is None else f"{100 * found.share:.0f}",
    )


def _segments(models: Sequence[Model]) -> Iterable[str]:
    """The ranges of models that have more than one."""
    rows = [
        (
            _curve(model), format_size_short(segment.from_bytes), format_size_short(segment.to_bytes),
            _number(segment.latency_seconds / MICROSECOND),
            _number(segment.bytes_per_second / GIGABYTE_PER_SECOND) if segment.bytes_per_second else "flat",
        )
        for model in models if len(model.segments) > 1 for segment in model.segments
    ]  # fmt: skip
    if rows:
        yield "segments: t = latency + size / bandwidth holds from one size to another"
        yield ""
        yield grid(("model", "from", "to", "latency\nus", "bandwidth\nGB/s"), _said_once(rows), left={0})


def _said_once(rows: Sequence[Cells]) -> list[Cells]:
    before = ("", *(row[0] for row in rows))
    return [("" if row[0] == last else row[0], *row[1:]) for last, row in zip(before, rows, strict=False)]


def _notes(models: Sequence[Model], *, with_reference: bool) -> list[str]:
    """Refusals, doubts and what a link's share means; what several models share is said once."""
    said: dict[tuple[str, str], list[str]] = defaultdict(list)
    for model in models:
        if model.refused:
            said["refused", model.refused].append(_curve(model))
        for warning in model.warnings:
            said["note", warning].append(_curve(model))
        found = reference(model) if with_reference and model.refused is None else None
        if found and found.note:
            said["link", found.note].append(_curve(model))
    lines = []
    for (kind, text), curves in sorted(said.items(), key=lambda one: _KINDS.index(one[0][0])):
        whose = ", ".join(curves) if len(curves) <= _NAMED else f"{curves[0]} and {len(curves) - 1} others"
        lines.append(clean(f"{kind:<8} {whose}: {text}"))
    return lines


def _curve(model: Model) -> str:
    key = model.key
    words = (key.collective, key.op, key.dtype, key.placement, key.mode, key.beside)
    return " ".join(word for word in words if word)


def _number(value: float) -> str:
    """Four digits, as many as a fit can mean."""
    return f"{value:.4g}" if abs(value) < 10_000 else f"{value:.0f}"


def _range(interval: Interval | None, unit: float) -> str:
    return "" if interval is None else f"{_number(interval[0] / unit)} - {_number(interval[1] / unit)}"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f}" if share < 9.995 else f"{100 * share:.0f}"
