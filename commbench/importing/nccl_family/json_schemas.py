"""Read the JSON that nccl-tests and rccl-tests write with -J: schemas 1 to 3, misspelt, cut, with nan in it.

The file holds the whole environment of the program, secrets included: only allow-listed variables leave it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

from commbench.importing.figures import LARGEST
from commbench.importing.foreign import NOTHING_STATED, Line, Reading, Reject, Run, Skipped, Stated
from commbench.importing.json_pieces import Document, documents
from commbench.importing.nccl_family.banner import TOO_SLOW, Banner, Device, library_version, settings_of
from commbench.importing.nccl_family.kinds import Figures, Kind
from commbench.importing.nccl_family.layout import Layout
from commbench.importing.nccl_family.runs import reading_of
from commbench.importing.nccl_family.table import Table
from commbench.measuring.facts import allowed_variables

NAME = "nccl-tests JSON"
MARKS = ('"nccl_version"', '"results"')

_LAYOUT = Layout(("size", "count", "type", "redop", "root"), ("time", "algbw", "busbw", "#wrong"), ("out", "in"))
_CPU_LAYOUT = replace(_LAYOUT, columns=("cputime", "algbw", "busbw", "#wrong"))
_KEYS = frozenset({"results", "config", "nccl_version"})
_HALF = 5.1e-7  # the tool prints six decimals
_MOST_GPUS = 4096  # of one process
STATISTICS = {"0": "rank 0", "1": "mean over ranks", "2": "minimum over ranks", "3": "maximum over ranks"}
_ARGUMENT = re.compile(
    r"-{1,2}[A-Za-z_]{1,24}|-?\d{1,15}[KMGTkmgt]?(?:i?B)?|all|none|sum|prod|min|max|avg|mulsum|float|half|double|"
    r"bfloat16|u?int(?:8|32|64)|f8e[45]m[23]|fp8_e[45]m[23]"
)


def recognises(lines: Sequence[Line]) -> bool:
    """Whether the file holds such a document, alone or beside a text log: an object that names its results."""
    if not any(line.text.lstrip()[:1] in ("{", "[") for line in lines):
        return False
    text = "\n".join(line.text for line in lines)
    return '"results"' in text and ('"nccl_version"' in text or '"out_of_place"' in text or '"config"' in text)


def read(lines: Sequence[Line], stated: Stated) -> Reading:
    """All documents of a file."""
    return read_document("\n".join(line.text for line in lines), stated)


def read_document(text: str, stated: Stated = NOTHING_STATED) -> Reading:
    """All runs of a file's text. A row's line is the number of its result: the tool writes one long line."""
    runs: list[Run] = []
    rejects: list[Reject] = []
    warnings: list[str] = []
    found = [one for document in documents(text, "results") for one in _objects(document)]
    found = [one for one in found if one.cut or _KEYS & one.value.keys()] or found  # a log shipper's objects beside it
    for document in found:
        reading = _read(document, stated)
        runs += reading.runs
        rejects += reading.rejects
        warnings += reading.warnings
    if not found:
        rejects.append(Reject(None, "the JSON is no object with results"))
    return Reading(tuple(runs), tuple(rejects), tuple(warnings), by_line=False)


def _objects(document: Document) -> list[Document]:
    values = document.value if isinstance(document.value, list) else [document.value]
    return [Document(value, document.cut) for value in values if isinstance(value, dict)]


def _read(document: Document, stated: Stated) -> Reading:
    value: Mapping[str, Any] = document.value
    config = _mapping(value.get("config"))
    arguments = [word for word in _sequence(value.get("args")) if isinstance(word, str)]
    table = Table(layout=_LAYOUT, headed=True, first=1)
    results = _sequence(value.get("results"))
    table.last = max(1, len(results))
    for number, result in enumerate(results, 1):
        _take(table, number, result)
    if any(isinstance(side, Mapping) and "cpu_time" in side for side in _sides(results[:1])):
        table.layout = _CPU_LAYOUT
    _fill(table.banner, value, config, arguments)
    if document.cut:
        table.banner.ended = False
        table.rejects.append(Reject(None, f"the JSON is cut or broken after {len(results)} whole results"))
    statistic = STATISTICS.get(_option(arguments, "-a", "--average") or "1", "mean over ranks")
    table.rows.statistic = statistic if table.layout is _LAYOUT else f"CPU time, {statistic}"
    reading = reading_of([table], stated)
    return replace(reading, runs=tuple(_dressed(run, value, arguments) for run in reading.runs))


def _dressed(run: Run, value: Mapping[str, Any], arguments: list[str]) -> Run:
    """The run with what only the JSON says."""
    schema = value.get("version")
    variables = [word.partition("=") for word in _sequence(value.get("env")) if isinstance(word, str)]
    allowed = allowed_variables({name: content for name, _, content in variables})
    return replace(
        run,
        version=None,
        variant=f"{run.tool} JSON {schema if isinstance(schema, int) and 0 <= schema < 100 else '?'}",
        settings={**run.settings, "arguments": _shown(arguments)},
        environment={**run.environment, "variables": allowed},
        started_at=_time(value.get("start_time")),
        finished_at=_time(value.get("end_time")),
    )


def _fill(banner: Banner, value: Mapping[str, Any], config: Mapping[str, Any], arguments: list[str]) -> None:
    banner.program = arguments[0] if arguments else None
    banner.ended = isinstance(value.get("end_time"), str)
    banner.settings.update(settings_of(config))
    if config.get("blocking_collectives") in ("true", True) or _option(arguments, "-z", "--blocking") not in (
        None,
        "0",
    ):
        banner.settings["blocking"] = True
    if config.get("parallel_init") in ("true", True):
        banner.settings["parallel_init_enabled"] = True
    if config.get("per_iter_timing") in ("true", True):
        banner.settings["per_iteration_report"] = True
    version = value.get("nccl_version")
    if isinstance(version, int) and 1000 <= version < 10_000_000:
        banner.libraries["library"] = library_version(version)
    banner.devices += _devices(config)
    out = _mapping(value.get("out_of_bounds"))
    count = out.get("count")
    if isinstance(count, int) and 0 <= count <= LARGEST:
        okay = {"true": "OK", True: "OK", "false": "FAILED", False: "FAILED"}.get(_hashable(out.get("okay")))
        banner.out_of_bounds.append((count, okay))
    average = _mapping(value.get("average_bus_bandwidth", value.get("average_bus_bandwidith")))
    mean = _number(average.get("bandwidth", average.get("bandwidith")))
    if mean is not None:
        banner.averages.append(mean)
    if average.get("okay") in ("false", False):
        banner.notes.append(TOO_SLOW)
    banner.failures += [(0, text[:200]) for text in _sequence(value.get("errors")) if isinstance(text, str) and text]
    if any("hip_event_time" in _mapping(side) for side in _sides(_sequence(value.get("results"))[:1])):
        banner.tool = "rccl-tests"


def _devices(config: Mapping[str, Any]) -> list[Device]:
    """The device list with every GPU of each process: the file names the first of each only."""
    each = 1
    for name in ("nthreads", "ngpus"):
        count = config.get(name)
        each *= count if isinstance(count, int) and 0 < count <= _MOST_GPUS else 1
    if each > _MOST_GPUS:
        return []
    entries = _sequence(config.get("devices"))
    listed = {rank for entry in entries if isinstance(rank := _mapping(entry).get("rank"), int)}
    if any(rank + gpu in listed for rank in listed for gpu in range(1, each)):
        each = 1  # every GPU has an entry of its own here
    devices = []
    for entry in entries:
        entry = _mapping(entry)
        rank, group = entry.get("rank"), entry.get("group", 0)
        if not (isinstance(rank, int) and isinstance(group, int) and 0 <= rank < 1 << 22 and 0 <= group < 1 << 22):
            return []
        host, name = str(entry.get("hostname", ""))[:200], str(entry.get("device_info", ""))[:200]
        devices += [Device(rank + gpu, group, str(entry.get("pid")), host, name) for gpu in range(each)]
    return devices


def _take(table: Table, number: int, result: Any) -> None:
    result = _mapping(result)
    size, count = result.get("size"), result.get("count")
    if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size <= LARGEST:
        table.rejects.append(Reject(number, f"result {number} has no size"))
        return
    if size == 0:
        table.left_out.append(Skipped(number, 0, "a row of size 0: nothing was sent"))
        table.zero_busbw += sum(isinstance(side, Mapping) for side in _sides([result]))
        return
    known = isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= LARGEST
    root = str(result.get("root", "")).strip()
    kind = Kind(
        str(result.get("type", ""))[:40] or None,
        str(result.get("redop", ""))[:40] or None,
        int(root) if re.fullmatch(r"-?\d{1,9}", root, re.ASCII) else None,
    )
    kind_number = table.rows.kind_number(kind)
    cycle = table.seen.get((size, kind_number), 0)
    table.seen[size, kind_number] = cycle + 1
    sides = {"out": result.get("out_of_place"), "in": result.get("in_place")}
    if not any(isinstance(side, Mapping) for side in sides.values()):
        table.rejects.append(Reject(number, f"result {number}, {size} B, has neither placement"))
    for placement, side in sides.items():
        if not isinstance(side, Mapping):
            continue
        figures = _figures(side, _mapping(result.get(f"{placement}_of_place_per_iter", {}) if placement == "out" else
                                          result.get("in_place_per_iter", {})), result)  # fmt: skip
        if figures is None:
            where = "out of place" if placement == "out" else "in place"
            table.left_out.append(Skipped(number, size, f"{where}: its time is not a number"))
        else:
            table.rows.add(number, size, count if known else -1, kind_number, cycle, placement, figures)  # type: ignore[arg-type]


def _figures(side: Mapping[str, Any], per_iteration: Mapping[str, Any], result: Mapping[str, Any]) -> Figures | None:
    time = _number(side.get("time", side.get("cpu_time")))
    if time is None or not 0 <= time <= 1e15:
        return None
    algbw, busbw = _number(side.get("alg_bw")), _number(side.get("bus_bw"))
    wrong = _number(side.get("nwrong"))
    extra: dict[str, Any] = {
        name: value for name, value in per_iteration.items() if _number(value) is not None or _numbers(value)
    }
    for name, value in (("hip_event_time", side), ("actual_iterations", result)):
        if (number := _number(value.get(name))) is not None:
            extra[name] = number
    nan = float("nan")
    return Figures(
        float(f"{time!r}e-6") if "e" not in repr(time) else time / 1e6,
        nan if algbw is None else algbw,
        nan if busbw is None else busbw,
        _HALF / 1e6,
        _HALF,
        _HALF,
        None if wrong is None else min(max(0, round(wrong)), LARGEST),
        None if wrong is None else wrong == 0,
        extra or None,
    )


def _sides(results: Sequence[Any]) -> list[Any]:
    return [_mapping(result).get(side) for result in results for side in ("out_of_place", "in_place")]


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None


def _numbers(value: Any) -> bool:
    return isinstance(value, list) and all(
        _number(v) is not None or (isinstance(v, list) and _numbers(v)) for v in value
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _sequence(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _hashable(value: Any) -> Any:
    return value if isinstance(value, str | bool) else None


def _time(value: Any) -> str | None:
    return value if isinstance(value, str) and re.fullmatch(r"[\d :TZ+.-]{8,40}", value, re.ASCII) else None


def _option(arguments: list[str], short: str, long: str) -> str | None:
    """The value of an option of the program, None where it was not given."""
    for place, word in enumerate(arguments):
        name, equals, value = word.partition("=")
        if name in (short, long):
            return value if equals else arguments[place + 1] if place + 1 < len(arguments) else None
        if word.startswith(short) and not word.startswith("--") and word[2:].isdigit():
            return word[2:]
    return None


def _shown(arguments: list[str]) -> list[str]:
    """The command line without anything but the program's name, its options, numbers and the tool's own words."""
    words = [arguments[0].rsplit("/", 1)[-1][:60]] if arguments else []
    return words + [word for word in arguments[1:] if _ARGUMENT.fullmatch(word)]
