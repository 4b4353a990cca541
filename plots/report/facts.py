"""What the page's tables hold: machine, measurements, fits, comparison, training steps, acceptance."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from commbench.judging.compared import Comparison
from commbench.modelling.model import Interval, Model
from commbench.modelling.reference import reference
from commbench.showing.heading import clean
from commbench.showing.rows import Row, in_reading_order, rows
from commbench.sweepfile.sets import SweepSet
from commbench.training.predictions import StepPrediction
from commbench.units import (
    GIGABYTE_PER_SECOND,
    MICROSECOND,
    format_rate,
    format_seconds,
    format_size,
    format_size_short,
)
from plots.captions import machine, path
from plots.panels.interconnects import spelled
from plots.report.tables import Cell, Column, Table, said_once, without_empty

_PLACES = {"in": "in place", "out": "out of place"}
_CURVE = ("operator", "type", "place", "mode", "beside")
_SHARED_VARIABLES = 40  # of the environment, that a page bears


def facts(names: Sequence[str], sets: Sequence[SweepSet]) -> Table:
    """A column a setting: path, machine, when, status, variables."""
    lines: dict[str, list[str]] = {}
    for number, one in enumerate(sets):
        for name, value in _facts(one):
            lines.setdefault(name, [""] * len(sets))[number] = clean(value)
    heads = (Column("fact"), *(Column(clean(name)) for name in names))
    body = tuple((Cell(name), *map(Cell, values)) for name, values in lines.items())
    return Table("facts", "What was measured, and where", heads, body, plain=True)


def _facts(one: SweepSet) -> Iterator[tuple[str, str]]:
    first = one.sweeps[0].header
    yield "path", path(one.sweeps)
    yield "machine", machine(one.sweeps)
    status = sorted({sweep.status for sweep in one.sweeps})
    yield "sweeps", f"{len(one.sweeps)}, {', '.join(status)}"
    points = sum(len(sweep.measurements) for sweep in one.sweeps)
    left = sum(len(sweep.left_out) for sweep in one.sweeps)
    yield "points", f"{points}" + (f", {left} left out" if left else "")
    for name in ("host", "kernel", "cpu", "driver", "cuda", "torch", "mpi", "python"):
        if value := first.environment.get(name):
            yield name, str(value)
    if one.key.buffers:
        yield "buffers", one.key.buffers
    variables = first.environment.get("variables")
    if isinstance(variables, Mapping):
        for name in sorted(map(str, variables))[:_SHARED_VARIABLES]:
            if name.startswith(("NCCL_", "CUDA_", "GLOO_", "UCX_")):
                yield name, str(variables[name])


def measurements(key: str, name: str, one: SweepSet) -> Table:
    """A row a measured point."""
    columns = (
        Column("collective"), Column("operator"), Column("type"), Column("place"), Column("mode"), Column("beside"),
        Column("cycle", number=True), Column("size", number=True), Column("time", "µs", number=True),
        Column("±", "%", number=True), Column("spread", "%", number=True), Column("algbw", "GB/s", number=True),
        Column("busbw", "GB/s", number=True), Column("wrong", number=True), Column("bound"),
    )  # fmt: skip
    cycles = any(m.cycle for sweep in one.sweeps for m in sweep.measurements)
    body = tuple(_measurement(row, cycles) for sweep in one.sweeps for row in in_reading_order(rows(sweep)))
    made = Table(key, clean(f"Measurements of {name}"), columns, body, filters=True)
    return without_empty(said_once(made, (*_CURVE, "cycle")))


def _measurement(row: Row, cycles: bool) -> tuple[Cell, ...]:
    wrong = {"yes": Cell("0", 0.0), "not checked": Cell("N/A", -1.0)}.get(
        row.check, Cell(str(row.wrong or "WRONG"), float(row.wrong or 1), "bad")
    )
    return (
        Cell(row.collective or "unknown"), Cell(row.op or ""), Cell(row.dtype or ""),
        Cell(_PLACES.get(row.placement or "", "")), Cell(row.mode or ""), Cell(row.beside or ""),
        Cell(f"{row.cycle}" if cycles else "", row.cycle),
        Cell(format_size(row.message_bytes), row.message_bytes), _number(row.seconds / MICROSECOND, 2),
        _percent(row.half_width), _percent(row.spread), _rate(row.algbw), _rate(row.busbw), wrong,
        Cell(row.bound or ""),
    )  # fmt: skip


def fits(models: Sequence[Model]) -> Table:
    """A row a curve: latency and bandwidth with intervals, and how far off on sizes not seen."""
    columns = (
        Column("setting"), Column("collective"), Column("operator"), Column("type"), Column("place"), Column("mode"),
        Column("beside"), Column("latency", "µs", number=True), Column("95 %", "µs"),
        Column("bandwidth", "GB/s", number=True), Column("95 %", "GB/s"), Column("busbw", "GB/s", number=True),
        Column("of the link", "%", number=True), Column("half at", number=True), Column("error", "%", number=True),
        Column("interpolation", "%", number=True),
    )  # fmt: skip
    body = tuple(_fit(model) for model in models if model.refused is None)
    made = Table("fits", "Latency and bandwidth", columns, body, filters=len(body) > 12, notes=tuple(_refusals(models)))
    return without_empty(said_once(made, _CURVE), keep=2)


def _fit(model: Model) -> tuple[Cell, ...]:
    key, held, link = model.key, model.held_out, reference(model)
    share = link.share if link and model.proved else None
    return (
        Cell(clean(key.label or "")), Cell(key.collective), Cell(key.op or ""), Cell(key.dtype or ""),
        Cell(_PLACES.get(key.placement or "", "")), Cell(key.mode or ""), Cell(key.beside or ""),
        _number((model.latency_seconds or 0.0) / MICROSECOND, 2), _span(model.latency_interval, MICROSECOND),
        _rate(model.bytes_per_second), _span(model.bytes_per_second_interval, GIGABYTE_PER_SECOND),
        _rate(model.bus_bytes_per_second), _percent(share),
        Cell(format_size_short(model.half_bytes), model.half_bytes) if model.half_bytes else Cell(""),
        _percent(held.mean if held else None), _percent(held.interpolation_mean if held else None),
    )  # fmt: skip


def _refusals(models: Sequence[Model]) -> Iterator[str]:
    for model in models:
        if model.refused:
            yield clean(f"{model.key.label or 'a sweep'}, {model.key}: no model, {model.refused}")


def comparison(found: Comparison) -> Table:
    """A row a size of a curve and pair of sides."""
    columns = (
        Column("compared"), Column("collective"), Column("operator"), Column("type"), Column("place"), Column("mode"),
        Column("beside"), Column("size", number=True), Column("base", "µs", number=True),
        Column("other", "µs", number=True), Column("ratio", number=True), Column("95 %"), Column("verdict"),
    )  # fmt: skip
    tones = {"slower": "slow", "faster": "fast", "void": "bad"}
    body = tuple(
        (
            Cell(clean(f"{p.b} over {p.a}")), Cell(p.collective), Cell(p.op or ""), Cell(p.dtype or ""),
            Cell(_PLACES.get(p.placement or "", "")), Cell(p.mode or ""), Cell(p.beside or ""),
            Cell(format_size(p.message_bytes), p.message_bytes), _number(p.seconds[0] / MICROSECOND, 2),
            _number(p.seconds[1] / MICROSECOND, 2), Cell(spelled(p.ratio), p.ratio) if p.ratio else Cell(""),
            Cell(f"{p.interval[0]:.3f} to {p.interval[1]:.3f}") if p.interval else Cell(""),
            Cell(p.verdict, None, tones.get(p.verdict, "")),
        )
        for p in found.comparisons
    )  # fmt: skip
    made = Table("comparison", "Comparison, size by size", columns, body, filters=True,
                 notes=tuple(map(clean, found.notes)))  # fmt: skip
    return without_empty(said_once(made, ("compared", *_CURVE)))


def training(predictions: Sequence[StepPrediction]) -> Table:
    """A row a strategy and interconnect."""
    columns = (
        Column("strategy"), Column("variant"), Column("interconnect"), Column("ranks", number=True),
        Column("calls", number=True), Column("messages", number=True), Column("time", "ms", number=True),
        Column("95 %", "ms"), Column("latency", "%", number=True), Column("extrapolated", "calls", number=True),
        Column("memory", number=True),
    )  # fmt: skip
    notes = dict.fromkeys(f"{e.schedule.strategy} on {e.source}: {e.refused.wrong}" for e in predictions if e.refused)
    body = []
    for each in predictions:
        whole, priced = each.schedule, each.priced
        times = (
            (_number(1e3 * priced.seconds, 2), _span(priced.interval, 1e-3), _percent(priced.latency_share),
             Cell(str(len(priced.extrapolated)), len(priced.extrapolated)))
            if priced else (Cell("refused", None, "bad"), Cell(""), Cell(""), Cell(""))
        )  # fmt: skip
        body.append((
            Cell(whole.strategy), Cell(whole.variant), Cell(clean(each.source or "")),
            Cell(str(whole.world_size), whole.world_size), Cell(str(len(whole.calls)), len(whole.calls)),
            Cell(format_size_short(whole.message_bytes), whole.message_bytes), *times,
            Cell(format_size_short(each.memory.total), each.memory.total),
        ))  # fmt: skip
    said = clean(f"One optimizer step of {predictions[0].schedule.model}, calls one after the other")
    return Table("training-table", said, columns, tuple(body), notes=tuple(map(clean, notes)))  # fmt: skip


def acceptance(document: Mapping[str, Any]) -> Table:
    """A row a check of `commbench accept --json`, in its order (the worst first)."""
    tones = {"fail": "bad", "not_verified": "slow", "inconclusive": "slow", "pass": "fast"}
    columns = (
        Column("outcome"),
        Column("check"),
        Column("limit"),
        Column("measured", number=True),
        Column("95 %"),
        Column("reason"),
    )
    body = []
    for check in document["checks"]:
        unit, interval = check.get("unit"), check.get("interval")
        outcome = str(check.get("outcome", ""))
        value = check.get("measured")
        body.append((
            Cell(outcome.replace("_", " "), None, tones.get(outcome, "")), Cell(clean(str(check.get("name") or ""))),
            Cell(clean(str(check.get("limit") or ""))), Cell(_of_unit(value, unit), _float(value)),
            Cell(" to ".join(_of_unit(end, unit) for end in interval) if isinstance(interval, list) else ""),
            Cell(clean(str(check.get("reason") or ""))),
        ))  # fmt: skip
    notes = document.get("notes")
    made = Table("checks", "Checks, the worst first", columns, tuple(body), filters=len(body) > 12,
                 notes=tuple(clean(str(note)) for note in notes) if isinstance(notes, list) else ())  # fmt: skip
    return without_empty(made)


def _of_unit(value: object, unit: object) -> str:
    number = _float(value)
    if number is None:
        return "" if value is None else clean(str(value))
    if unit == "B/s":
        return format_rate(number)
    if unit == "s":
        return format_seconds(number)
    return format_size_short(number) if unit == "B" else f"{number:.4g}"


def _float(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _number(value: float, digits: int) -> Cell:
    return Cell(f"{value:.{digits}f}" if value < 1e7 else f"{value:.3g}", value)


def _rate(value: float | None) -> Cell:
    if value is None:
        return Cell("")
    rate = value / GIGABYTE_PER_SECOND
    return Cell(f"{rate:.4g}" if rate >= 0.01 else f"{rate:.2g}", rate)


def _percent(share: float | None) -> Cell:
    return Cell("") if share is None else Cell(f"{100 * share:.1f}", share)


def _span(interval: Interval | None, unit: float) -> Cell:
    return Cell(f"{interval[0] / unit:.4g} to {interval[1] / unit:.4g}") if interval else Cell("")
