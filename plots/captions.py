"""What every figure says of itself: machine, number of ranks, library, mode, and the path that is proved."""

from collections.abc import Iterable, Iterator, Sequence

from commbench.showing.heading import MODES, clean
from commbench.showing.peak import device_name
from commbench.sweepfile.reader import Sweep
from plots.choosing import Line

UNPROVED = "path NOT proved"
UNITS = "KiB = 1024 bytes, GB/s = 1e9 bytes/s"
_PLACES = {"in": "in place", "out": "out of place"}
MOST_LISTED = 24  # characters of names in a title, which must not crowd out the words
_MANY = 4  # different paths that a caption names


def title_with_proof(title: str, lines: Sequence[Line]) -> tuple[str, bool]:
    """The title, and whether it says that a path is not proved."""
    names = list(dict.fromkeys(line.name for line in lines))
    unproved = [name for name in names if any(line.name == name and not line.proved for line in lines)]
    if not unproved:
        return clean(title), False
    listed = ", ".join(unproved)
    whose = listed if len(listed) <= MOST_LISTED else f"{len(unproved)} settings"
    whose = "" if len(unproved) == len(names) else f" of {whose}"
    return clean(f"{title} ({UNPROVED}{whose})"), True


def caption(lines: Sequence[Line], *more: str) -> tuple[str, ...]:
    """The lines below a figure of curves."""
    sweeps = _distinct(sweep for line in lines for sweep in line.sweeps)
    paths = dict.fromkeys(f"{line.name}: {path(line.sweeps)}" for line in lines)
    texts = (" · ".join(paths), f"{machine(sweeps)}; {method(lines)}", *unfinished(lines), "; ".join((*more, UNITS)))
    return tuple(clean(text) for text in texts if text)


def path(sweeps: Sequence[Sweep]) -> str:
    """`P2P/CUMEM (proved)`, with the very paths of the library's log where the file has them."""
    if not all(sweep.proved for sweep in sweeps):
        return UNPROVED
    exact = sorted({str(pair["path"]) for sweep in sweeps for pair in _pairs(sweep) if pair.get("path")})
    names = exact or sorted({name for sweep in sweeps for name in sweep.proved or ()})
    more = f" and {len(names) - _MANY} more" if len(names) > _MANY else ""
    return ", ".join(names[:_MANY]) + more + " (proved)"


def machine(sweeps: Sequence[Sweep]) -> str:
    """`NVIDIA H200, 2 ranks on 1 host, NCCL 2.28.9, measured by commbench 0.1.0, 2026-11-29`."""
    parts = (
        _all(_device(sweep) for sweep in sweeps),
        _all(_ranks(sweep) for sweep in sweeps),
        _all(library(sweep) for sweep in sweeps),
        "measured by " + _all(_tool(sweep) for sweep in sweeps),
        _all(sweep.header.started_at[:10] for sweep in sweeps),
    )
    return ", ".join(part for part in parts if part)


def method(lines: Sequence[Line]) -> str:
    """`float32 sum, in place; pipelined: calls back to back`."""
    keys = [line.curve.key for line in lines]
    what = " ".join(_all(words) for words in ((key.dtype or "" for key in keys), (key.op or "" for key in keys)))
    places = _all(_PLACES.get(key.placement or "", "") for key in keys)
    modes = list(dict.fromkeys(key.mode for key in keys))
    said = "; ".join(f"{mode}: {MODES[mode]}" if mode else "mode not stated" for mode in modes)
    launches = (launch for line in lines for point in line.curve.points for launch in point.launches)
    statistics = _all(launch.statistic or "" for launch in launches)
    return "; ".join(part for part in (", ".join(p for p in (what.strip(), places) if p), said, statistics) if part)


def library(sweep: Sweep) -> str:
    """The library that moved the bytes, with its version where the file says."""
    environment = sweep.header.environment
    backend = sweep.header.backend
    libraries = environment.get("libraries")
    foreign = libraries.get("library") if isinstance(libraries, dict) else None
    if backend == "nccl":
        version = environment.get("nccl") or foreign
        return f"NCCL {version}" if version else "NCCL"
    if backend == "mpi":
        return str(environment.get("mpi") or "MPI")
    if backend == "gloo":
        return f"gloo (torch {environment['torch']})" if environment.get("torch") else "gloo"
    return " ".join(str(part) for part in (backend, foreign) if part)


def unfinished(lines: Sequence[Line]) -> Iterator[str]:
    """A line for each setting whose sweep ended early."""
    for name in dict.fromkeys(line.name for line in lines):
        early = sorted({s.status for line in lines if line.name == name for s in line.sweeps} - {"complete"})
        if early:
            yield f"{name}: the sweep is {', '.join(early)}, so points may be missing"


def _pairs(sweep: Sweep) -> Iterator[dict[str, object]]:
    found = sweep.header.transport.get("pairs")
    for pair in [*(found if isinstance(found, list | tuple) else ()), *(p for t in sweep.transports for p in t.pairs)]:
        if isinstance(pair, dict):
            yield pair


def _device(sweep: Sweep) -> str:
    """The GPU, or which CPU."""
    device, cpu = device_name(sweep), sweep.header.environment.get("cpu")
    if device is None or device.upper() == "CPU":
        return cpu if isinstance(cpu, str) else device or ""
    return device


def _ranks(sweep: Sweep) -> str:
    header = sweep.header
    if header.world_size is None:
        return "number of ranks not stated"
    hosts = len(header.ranks_per_host or ())
    ranks = f"{header.world_size} rank{'s' if header.world_size > 1 else ''}"
    return ranks + (f" on {hosts} host{'s' if hosts > 1 else ''}" if hosts else "")


def _tool(sweep: Sweep) -> str:
    source = sweep.header.source
    return " ".join(part for part in (source.tool, source.version) if part)


def _all(words: Iterable[str]) -> str:
    """The different ones, in order; empty ones say nothing."""
    return " / ".join(dict.fromkeys(word for word in words if word))


def _distinct(sweeps: Iterable[Sweep]) -> list[Sweep]:
    return list({id(sweep): sweep for sweep in sweeps}.values())
