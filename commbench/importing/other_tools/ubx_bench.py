"""Read ubx_bench, text and JSON: one table holds several libraries side by side, each becomes a run of its own."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from commbench.importing.figures import NOT_CHECKED, half_digit, number, whole
from commbench.importing.foreign import Line, Reading, Reject, Run, Skipped, Stated
from commbench.importing.json_pieces import documents
from commbench.importing.nccl_family.banner import program_of
from commbench.importing.nccl_family.kinds import Figures, Kind
from commbench.importing.nccl_family.layout import Layout
from commbench.importing.nccl_family.row_parsing import is_figure
from commbench.importing.nccl_family.runs import reading_of
from commbench.importing.nccl_family.table import Table

NAME = "ubx_bench"
MARKS = ("ubx_bench", '"backends"')

_TITLE = re.compile(r"#?\s*ubx_bench\s+(\w+)\s*\((\d{1,7}) GPUs?,\s*backends?=([\w.+-]+(?:,[\w.+-]+)*)\)")
_AVERAGE = re.compile(r"Avg bus bandwidth\s*:\s*(.*)")
_PAIR = re.compile(r"([\w.+-]+)=(\S+)")
_OUT_OF_BOUNDS = re.compile(r"Out of bounds values\s*:\s*(\d{1,18})\s*(OK|FAILED)?")
_LAYOUT = Layout(("size", "count", "type", "redop"), ("time", "algbw", "busbw", "#wrong"), (None,))


def recognises(lines: Sequence[Line]) -> bool:
    """Its title, or the keys of its JSON."""
    if any("ubx_bench" in line.text and _TITLE.match(line.text) for line in lines):
        return True
    return any('"backends"' in line.text for line in lines) and any("busbw_gbs" in line.text for line in lines)


def read(lines: Sequence[Line], stated: Stated) -> Reading:
    """Every backend of every table as a run."""
    first = next((line.text.lstrip() for line in lines if line.text.strip()), "")
    benches = _from_json(lines) if first[:1] in ("{", "[") else _from_text(lines)
    runs: list[Run] = []
    rejects = [reject for bench in benches for reject in bench.rejects]
    for bench in benches:
        for backend, table in bench.tables.items():
            reading = reading_of([table], stated)
            runs += [replace(run, tool=NAME, backend=backend, variant=bench.variant) for run in reading.runs]
            rejects += reading.rejects
    return Reading(tuple(runs), tuple(dict.fromkeys(sorted(rejects, key=lambda reject: reject.line or 0))))


@dataclass
class _Bench:
    """One title with its tables, one a backend."""

    variant: str
    tables: dict[str, Table] = field(default_factory=dict)
    rejects: list[Reject] = field(default_factory=list)
    done: bool = False


def _bench(variant: str, collective: str, ranks: int, backends: Sequence[str]) -> _Bench:
    bench = _Bench(variant)
    for backend in backends:
        table = bench.tables[backend] = Table(layout=_LAYOUT, headed=True)
        table.banner.program = program_of(collective)
        table.banner.counted = (ranks,)
    return bench


def _from_text(lines: Iterable[Line]) -> list[_Bench]:
    benches: list[_Bench] = []
    for line in lines:
        if title := _TITLE.match(line.text):
            benches.append(_bench("ubx_bench text", title[1], int(title[2]), title[3].split(",")))
        elif benches and not benches[-1].done:
            _take(benches[-1], line)
    return benches


def _take(bench: _Bench, line: Line) -> None:
    tokens = line.text.split()
    if tokens and tokens[0].isdigit():
        _row(bench, line.number, tokens)
    elif average := _AVERAGE.search(line.text):
        bench.done = True
        for backend, value in _PAIR.findall(average[1]):
            if backend in bench.tables and is_figure(value) and value not in NOT_CHECKED:
                bench.tables[backend].banner.averages.append(number(value))
    elif found := _OUT_OF_BOUNDS.search(line.text):
        for table in bench.tables.values():
            table.banner.out_of_bounds.append((int(found[1]), found[2]))


def _row(bench: _Bench, line: int, tokens: list[str]) -> None:
    figures_at = 2
    while figures_at < len(tokens) and not is_figure(tokens[figures_at]):
        figures_at += 1
    size, count = whole(tokens[0]), whole(tokens[1]) if len(tokens) > 1 else None
    figures, words = tokens[figures_at:], tokens[2:figures_at]
    if size is None or len(figures) != 3 * len(bench.tables) + 1 or not all(map(is_figure, figures)):
        bench.rejects.append(Reject(line, f"a row with {len(figures)} figures for {len(bench.tables)} backends"))
        return
    kind = Kind(words[0] if words else None, words[1] if len(words) > 1 else None, None)
    for place, table in enumerate(bench.tables.values()):
        group = figures[3 * place : 3 * place + 3]
        table.first, table.last = table.first or line, line
        if size == 0 or group[0] in NOT_CHECKED:
            reason = "a row of size 0: nothing was sent" if size == 0 else "this backend has no figures for it"
            table.left_out.append(Skipped(line, size, reason))
        else:
            _add(table, line, size, count, kind, group, figures[-1])


def _add(table: Table, line: int, size: int, count: int | None, kind: Kind, group: Sequence[str], wrong: str) -> None:
    number_of_kind = table.rows.kind_number(kind)
    cycle = table.seen.get((size, number_of_kind), 0)
    values = [float("nan") if token in NOT_CHECKED else number(token) for token in group]
    if not 0 <= values[0] <= 1e15:
        table.left_out.append(Skipped(line, size, f"its time is {group[0]}"))
        return
    table.seen[size, number_of_kind] = cycle + 1
    halves = [half_digit(token) if token not in NOT_CHECKED else 0.0 for token in group]
    checked = None if wrong in NOT_CHECKED else number(wrong)
    seconds = float(f"{group[0]}e-6") if "e" not in group[0].lower() else values[0] / 1e6
    known = checked is not None and checked == checked and checked < 9e18
    table.rows.add(
        line, size, -1 if count is None else count, number_of_kind, cycle, None,
        Figures(seconds, values[1], values[2], halves[0] * 1e-6, halves[1], halves[2],
                round(checked) if known and checked else 0 if known else None,
                checked == 0 if known else None, None),
    )  # fmt: skip


def _from_json(lines: Iterable[Line]) -> list[_Bench]:
    benches: list[_Bench] = []
    for document in documents("\n".join(line.text for line in lines), "results"):
        values = document.value if isinstance(document.value, list) else [document.value]
        benches += [_of_document(value, cut=document.cut) for value in values if isinstance(value, dict)]
    return benches


def _of_document(value: Mapping[str, Any], *, cut: bool) -> _Bench:
    results = value.get("results")
    results = results if isinstance(results, dict) else {}
    ranks = value.get("nranks")
    named = str(value.get("collective", ""))[:40]
    backends = [str(name)[:40] for name in results]
    bench = _bench("ubx_bench JSON", named, ranks if isinstance(ranks, int) and 0 < ranks < 1 << 22 else 0, backends)
    if cut:
        bench.rejects.append(Reject(None, "the JSON is cut or broken"))
    for backend, table in bench.tables.items():
        if not table.banner.counted[0]:
            table.banner.counted = ()
        table.banner.whole_file = not cut
        entries = results.get(backend)
        for place, entry in enumerate(entries if isinstance(entries, list) else [], 1):
            _entry(bench, table, place, entry if isinstance(entry, dict) else {})
    return bench


def _entry(bench: _Bench, table: Table, place: int, entry: Mapping[str, Any]) -> None:
    size = whole(str(entry.get("size_bytes", ""))[:30])
    group = [_token(entry.get(name)) for name in ("time_us", "algbw_gbs", "busbw_gbs")]
    if size is None or not all(map(is_figure, group)):
        bench.rejects.append(Reject(place, "a result without a size or figures"))
        return
    table.first, table.last = table.first or place, place
    if size == 0 or group[0] in NOT_CHECKED:
        table.left_out.append(Skipped(place, size, "nothing was sent, or there are no figures for it"))
        return
    words = [str(entry[name])[:40] if entry.get(name) else None for name in ("dtype", "redop")]
    count = whole(str(entry.get("count", ""))[:30])
    errors = _token(entry.get("errors"))
    _add(table, place, size, count, Kind(words[0], words[1], None), group, errors if is_figure(errors) else "N/A")


def _token(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return "N/A"
    return str(value)[:40]
