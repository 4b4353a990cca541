"""Predicted training steps for a person: strategies and interconnects side by side, then where the time goes."""

import io
from collections.abc import Collection, Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from commbench.showing.heading import clean
from commbench.training import memory, overlap
from commbench.training.call import Schedule
from commbench.training.predictions import StepPrediction, volume
from commbench.training.pricing import PricedStep, bus_bytes
from commbench.units import format_rate, format_seconds, format_size_short

WIDTH = 160  # wide enough for every column: the lines of a log are not wrapped

Cells = tuple[str, ...]


def draw(predictions: Sequence[StepPrediction], *, gpu_memory: int | None = None, compute: str | None = None) -> str:
    """The tables and the notes below them.

    Args:
        gpu_memory: bytes of a GPU, to say what does not fit.
        compute: how the time of the computation was found, in words.
    """
    parts = [*_heading(predictions, compute), "", page(_steps(predictions, gpu_memory))]
    if any(each.priced for each in predictions):
        parts += ["where the time goes (calls one after the other, nothing hidden)", "", page(_phases(predictions))]
    parts += _notes(predictions, overlapped=compute is not None)
    return "\n".join(parts) + "\n"


def draw_schedule(schedule: Schedule, priced: PricedStep | None = None) -> str:
    """The calls of a step in order, with their times where they are known."""
    times = [format_seconds(each.seconds) for each in priced.calls] if priced else [""] * len(schedule.calls)
    rows: list[Cells] = [
        (
            str(number), call.phase, str(call.micro_step), call.collective, call.op or "", call.dtype,
            str(call.elements), str(call.message_bytes), f"{call.group.name} {call.group.size}", time, call.carries,
        )
        for number, (call, time) in enumerate(zip(schedule.calls, times, strict=True))
    ]  # fmt: skip
    head = ("#", "phase", "pass", "collective", "redop", "type", "elements", "bytes", "group", "time", "carries")
    title = f"{schedule.strategy} {schedule.variant}: {schedule.framework} {schedule.version}, {schedule.source}"
    return clean(title) + "\n\n" + page(filled(head, rows, right={0, 2, 6, 7, 9}, drop_constant={2})) + "\n"


def _heading(predictions: Sequence[StepPrediction], compute: str | None) -> list[str]:
    first = predictions[0].schedule
    ranks = ", ".join(map(str, dict.fromkeys(each.schedule.world_size for each in predictions)))
    lines = [f"one optimizer step of {clean(first.model)}: {first.parameters:,} parameters (Ψ), ranks: {ranks}"]
    modes = {each.source: each.priced.mode for each in predictions if each.priced}
    lines += [f"{clean(name or '')}: priced in mode {mode or 'not stated'}" for name, mode in modes.items()]
    return [*lines, f"computation: {compute}"] if compute else lines


def _steps(predictions: Sequence[StepPrediction], gpu_memory: int | None) -> Table:
    head = (
        "strategy", "variant", "interconnect", "calls", "volume\nΨ", "messages", "over each\nlink", "time", "±\n%",
        "latency\n%", "beyond\ncalls", "exposed", "step", "scaling\n%", "break-even\nbusbw", "memory", "fits",
    )  # fmt: skip
    rows = [(*_what(each), *_time(each), *_hidden(each), *_memory(each, gpu_memory)) for each in predictions]
    return filled(head, rows, right=set(range(3, 17)), drop_empty=True)


def _what(each: StepPrediction) -> Cells:
    schedule = each.schedule
    over_link = sum(bus_bytes(call) for call in schedule.calls)
    return (
        schedule.strategy, schedule.variant, each.source or "", str(len(schedule.calls)), f"{volume(schedule):.2f}",
        format_size_short(schedule.message_bytes), format_size_short(over_link),
    )  # fmt: skip


def _time(each: StepPrediction) -> Cells:
    if each.priced is None:
        return ("refused" if each.refused else "", "", "", "")
    low, high = each.priced.interval
    share = each.priced.latency_share
    width = 50 * (high - low) / each.priced.seconds if each.priced.seconds else 0.0
    beyond = len(each.priced.extrapolated)
    return (
        format_seconds(each.priced.seconds), f"{width:.0f}", "" if share is None else f"{100 * share:.1f}",
        str(beyond) if beyond else "",
    )  # fmt: skip


def _hidden(each: StepPrediction) -> Cells:
    hidden = each.overlap
    if hidden is None:
        return ("", "", "", "")
    efficiency, even = hidden.scaling_efficiency, hidden.break_even_bytes_per_second
    return (
        format_seconds(hidden.exposed_seconds), format_seconds(hidden.step_seconds),
        "" if efficiency is None else f"{100 * efficiency:.1f}", "" if even is None else format_rate(even),
    )  # fmt: skip


def _memory(each: StepPrediction, gpu_memory: int | None) -> Cells:
    fits = "" if gpu_memory is None else "yes" if each.memory.total <= gpu_memory else "NO"
    return format_size_short(each.memory.total), fits


def _phases(predictions: Sequence[StepPrediction]) -> Table:
    """A row a phase and collective, a column an interconnect."""
    priced = [each.priced for each in predictions if each.priced]
    names = list(dict.fromkeys(step.source for step in priced))
    rows: dict[Cells, dict[str, str]] = {}
    for step in priced:
        whole = step.schedule
        for total in step.phases:
            key = (
                whole.strategy, whole.variant, str(whole.world_size), total.phase, total.collective, str(total.calls),
                format_size_short(total.message_bytes),
            )  # fmt: skip
            rows.setdefault(key, {})[step.source] = format_seconds(total.seconds)
    head = ("strategy", "variant", "ranks", "phase", "collective", "calls", "messages", *names)
    cells = [(*key, *(times.get(name, "") for name in names)) for key, times in rows.items()]
    return filled(head, cells, right={2, 5, 6, *range(7, len(head))}, drop_constant={2})


def _notes(predictions: Sequence[StepPrediction], *, overlapped: bool) -> list[str]:
    lines: dict[str, None] = {}
    for each in predictions:
        name = f"{each.schedule.strategy} {each.schedule.variant}"
        if each.refused is not None:
            lines[f"{name} on {each.source}: {each.refused.wrong} ({each.refused.found})"] = None
        if each.priced is not None:
            lines |= dict.fromkeys(f"{name} on {each.source}: {words}" for words in _beyond(each.priced))
        if each.overlap is not None and each.overlap.measured_beside_compute:
            beside = each.overlap.measured_beside_compute
            lines[f"{name} on {each.source}: {beside} calls that overlap are priced beside computation"] = None
    grouped: list[tuple[str, Iterable[str]]] = [
        ("notes", lines),
        ("priced by their bytes (no curve of that dtype, operator or mode)", _by_strategy(predictions)),
        ("assumptions", _assumptions(predictions, overlapped=overlapped)),
    ]
    printed: list[str] = []
    for title, texts in grouped:
        if shown := [f"  - {clean(text)}" for text in texts]:
            printed += [title, *shown]
    return printed


def _beyond(priced: PricedStep) -> Iterable[str]:
    if beyond := priced.extrapolated:
        sizes = [each.call.message_bytes for each in beyond]
        farthest = max(each.extrapolated for each in beyond)
        span = format_size_short(min(sizes)) + (f" to {format_size_short(max(sizes))}" if len(set(sizes)) > 1 else "")
        yield (
            f"{len(beyond)} of {len(priced.calls)} calls ({span}) are extrapolated, up to {farthest:.3g} times beyond "
            "what was measured"
        )


def _by_strategy(predictions: Sequence[StepPrediction]) -> Iterable[str]:
    """What stood in for what, with the strategies that needed it."""
    needed: dict[str, dict[str, None]] = {}
    for each in predictions:
        for words in each.priced.stands_in if each.priced else {}:
            needed.setdefault(words, {})[each.schedule.strategy] = None
    return [f"{words} ({', '.join(strategies)})" for words, strategies in needed.items()]


def _assumptions(predictions: Sequence[StepPrediction], *, overlapped: bool) -> Iterable[str]:
    found = dict.fromkeys(words for each in predictions if each.priced for words in each.priced.assumptions)
    for each in predictions:
        found |= dict.fromkeys(f"{each.schedule.strategy}: {words}" for words in each.schedule.assumptions)
    return [*found, *memory.ASSUMPTIONS, *(overlap.ASSUMPTIONS if overlapped else ())]


def filled(
    head: Cells,
    rows: Sequence[Cells],
    *,
    right: Collection[int],
    drop_empty: bool = False,
    drop_constant: Collection[int] = (),
) -> Table:
    """A table without columns that say nothing."""
    columns = list(zip(*rows, strict=True)) or [()] * len(head)
    kept = [
        number for number, cells in enumerate(columns)
        if (any(cells) or not drop_empty) and not (number in drop_constant and len(set(cells)) == 1)
    ]  # fmt: skip
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, collapse_padding=True)
    for number in kept:
        table.add_column(Text(clean_lines(head[number])), justify="right" if number in right else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(clean(row[number])) for number in kept))
    return table


def clean_lines(text: str) -> str:
    """Text of several lines without characters that a terminal would obey."""
    return "\n".join(clean(line) for line in text.split("\n"))


def page(table: Table) -> str:
    page = io.StringIO()
    console = Console(file=page, width=1000, color_system=None, force_terminal=False, legacy_windows=False)
    console.print(table, crop=False)
    return "\n".join(line.rstrip() for line in page.getvalue().splitlines()) + "\n"
