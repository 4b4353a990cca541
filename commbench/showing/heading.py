"""What stands above and below a table: where and how a sweep was measured, what was left out, notes."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from commbench.showing.columns import note_marks
from commbench.showing.peak import device_name
from commbench.showing.rows import Row
from commbench.sweepfile.reader import Sweep
from commbench.units import format_size

MODES = {
    "isolated": "all ranks start together, then one call at a time",
    "pipelined": "calls back to back; the time of one is the whole over their number",
    "graph": "calls captured in a CUDA graph and replayed; no host between them",
}
_PLACES = {"in": "in place", "out": "out of place"}

TIME = "us, median over samples of the slowest rank; ±% is half of its 95 % interval"
SHARES = "spread: middle half of the samples; gap: slowest minus fastest rank; both in % of the time"
RATES = "algbw = size / time, busbw = algbw x the collective's bus factor; 1 GB/s = 1e9 bytes/s, KiB = 1024 bytes"


def heading(sweep: Sweep, rows: Sequence[Row]) -> list[tuple[str, str]]:
    """(word, text) pairs that stand above the table."""
    lines = [("sweep", title(sweep)), ("path", path(sweep)), ("measured", constants(rows))]
    source = sweep.header.source
    if source.tool != "commbench":
        lines.append(("from", " ".join(part for part in (source.tool, source.version, source.file) if part)))
    lines += [(mode, text) for mode, text in MODES.items() if any(row.mode == mode for row in rows)]
    statistics = sorted({row.statistic for row in rows if row.statistic})
    lines.append(("time", f"us, as printed by the tool: {', '.join(statistics)}" if statistics else TIME))
    if any(row.spread is not None or row.gap is not None for row in rows):
        lines.append(("%", SHARES))
    lines.append(("rates", RATES))
    return [(word, text) for word, text in lines if text]


def title(sweep: Sweep) -> str:
    """`nvlink: nccl, 8 ranks on 1 host, NVIDIA H200, 2026-08-01`."""
    header = sweep.header
    if header.world_size is None:
        ranks = "number of ranks not stated"
    else:
        ranks = f"{header.world_size} rank{'s' if header.world_size > 1 else ''}"
        if header.groups:
            ranks = f"{len(header.groups)} groups at once of {ranks} each"
    if header.ranks_per_host:
        hosts = len(header.ranks_per_host)
        even = len(set(header.ranks_per_host)) == 1
        each = "" if hosts == 1 else f" ({'+'.join(map(str, header.ranks_per_host))})" if not even or hosts <= 4 else ""
        ranks += f" on {hosts} host{'s' if hosts > 1 else ''}{each}"
    parts = (header.backend, ranks, device_name(sweep), header.started_at.partition("T")[0])
    return (f"{header.label}: " if header.label else "") + ", ".join(part for part in parts if part)


def path(sweep: Sweep) -> str:
    """`P2P, proved` or `not proved`, with the setting that was asked for."""
    proved = sweep.proved
    settings = (sweep.header.transport, *({"setting": record.setting} for record in sweep.transports))
    setting = next((str(s["setting"]) for s in reversed(settings) if s.get("setting")), None)
    words = f"{', '.join(proved)} (proved)" if proved else "not proved"
    return f"{words}; setting {setting}" if setting else words


def constants(rows: Sequence[Row]) -> str:
    """What all rows share, as one line: `all_reduce, float32 sum, in place, isolated`."""
    parts = [_shared(row.collective for row in rows)]
    parts.append(
        " ".join(word for word in (_shared(row.dtype for row in rows), _shared(row.op for row in rows)) if word)
    )
    root = _shared("" if row.root is None else str(row.root) for row in rows)
    parts.append(f"root {root}" if root else "")
    parts.append(_PLACES.get(_shared(row.placement for row in rows), ""))
    parts.append(_shared(row.mode for row in rows))
    return ", ".join(part for part in parts if part)


def left_out(sweep: Sweep) -> list[str]:
    """One line for each reason: `all_reduce 8 GiB, 16 GiB: 24 GiB needed, 10 GiB free`."""
    sizes: dict[tuple[str, str], list[str]] = defaultdict(list)
    for point in sweep.left_out:
        what = [point.collective or "unknown", *(word for word in (point.dtype, point.op) if word)]
        what += [word for word in (_PLACES.get(point.placement or ""), point.mode) if word]
        known = sizes[" ".join(what), point.reason]
        if (size := format_size(point.message_bytes)) not in known:
            known.append(size)
    return [f"{what} {_few(known)}: {reason}" for (what, reason), known in sizes.items()]


def notes(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """(mark, note) pairs that stand below the table."""
    return [(mark, note) for note, mark in note_marks(rows).items()]


def clean(text: str) -> str:
    """One line of printable characters: what comes from a file may hold anything, and goes to a terminal."""
    return "".join(character if character.isprintable() else "?" for character in text)


def _few(sizes: list[str]) -> str:
    return ", ".join(sizes) if len(sizes) <= 4 else f"{sizes[0]} ... {sizes[-1]} ({len(sizes)} sizes)"


def _shared(values: Iterable[str | None]) -> str:
    """The value that all have, empty where they differ."""
    distinct = set(values)
    return (distinct.pop() or "") if len(distinct) == 1 else ""
