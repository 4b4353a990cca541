"""What is asked of every unit, whatever its limits: the right machine, the right path, right data, nothing missing."""

from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

from commbench.judging.judged import Check, Outcome
from commbench.judging.limits import Cluster, Limit
from commbench.judging.units import Unit
from commbench.sweepfile.reader import Sweep
from commbench.sweepfile.records import LeftOut, Measurement

_NAMED = 3
_LONGEST_NAME = 80


def machine_check(unit: Unit, cluster: Cluster) -> Check:
    """Is this the machine that the limits are for? Another one, or one that is not stated, is not verified."""
    differs = list(_differences(unit, cluster))
    if unit.key.world_size == 1:
        differs.append("a single rank, so nothing crossed a link")
    if any(sweep.header.settings.get("shared_device") is True for sweep in unit.sweeps):
        differs.append("several ranks shared a device, so the times are no link's")
    return _check(
        unit, "machine", machine_text(cluster), "not_verified" if differs else "pass",
        "; ".join(differs) if differs else "as the limits say",
    )  # fmt: skip


def path_check(unit: Unit, cluster: Cluster) -> Check:
    """Every sweep must prove each required path, and no other one."""
    if not cluster.paths:
        return _check(unit, "path", "path any", "pass", "no path is asked for")
    limit = f"path {', '.join(cluster.paths)}"
    paths = [_paths(sweep) for sweep in unit.sweeps]
    unproved = sum(not some for some in paths)
    taken = sorted(set().union(*paths))
    other = [path for path in taken if not _is_one_of(path, (*cluster.paths, *cluster.also_allowed))]
    if other:
        return _check(unit, "path", limit, "fail", f"{_list(other)} was taken (proved)")
    if unproved:
        which = "the path" if len(unit.sweeps) == 1 else f"the path of {unproved} of {len(unit.sweeps)} sweeps"
        return _check(unit, "path", limit, "not_verified", f"nothing proves {which}")
    missing = [name for name in cluster.paths for some in paths if not any(_is_one_of(path, (name,)) for path in some)]
    if missing:
        return _check(unit, "path", limit, "fail", f"{_list(missing)} was not taken; proved: {_list(taken)}")
    return _check(unit, "path", limit, "pass", f"{_list(taken)} (proved)")


def correctness_check(unit: Unit, judged: Sequence[Measurement]) -> Check:
    """Any wrong element in any repetition fails; a judged point that nobody checked is not verified."""
    limit = "every result right, and checked"
    rows = wrong = 0
    first = ""
    for sweep in unit.sweeps:
        for m in sweep.measurements:
            rows += 1
            if m.correct is False or m.wrong:
                wrong += 1
                first = first or f"{m.collective or 'a row'} of {m.message_bytes} B"
        footer = sweep.header.settings.get("footer")
        bad = footer.get("out_of_bounds") if isinstance(footer, dict) else None
        if isinstance(bad, int) and bad > 0 and not wrong:
            return _check(unit, "correctness", limit, "fail", f"the tool's own footer counts {bad} wrong")
    if wrong:
        return _check(unit, "correctness", limit, "fail", f"wrong results in {wrong} of {rows} rows (first: {first})")
    unchecked = sum(m.correct is None for m in judged)
    if not judged:
        return _check(unit, "correctness", limit, "not_verified", "there is no result that the limits are about")
    if unchecked:
        return _check(
            unit, "correctness", limit, "not_verified",
            f"nobody checked the results of {unchecked} of {len(judged)} rows that the limits are about",
        )  # fmt: skip
    return _check(unit, "correctness", limit, "pass", f"{len(judged)} rows checked, none wrong")


def completeness_check(unit: Unit, limits: Sequence[Limit]) -> Check:
    """Every sweep must have come to its end, with no point left out that a limit is about."""
    limit = "whole sweeps"
    found: list[str] = []
    for sweep in unit.sweeps:
        if sweep.voids:
            found.append(f"it is void: {sweep.voids[0].reason}")
        if sweep.status != "complete":
            found.append(f"a sweep is {sweep.status}: {_why(sweep)}")
        footer = sweep.header.settings.get("footer")
        if isinstance(footer, dict) and footer.get("average_is_of_these_rows") is False:
            found.append("the printed average is not that of these rows")
        missing = [one for one in sweep.left_out if any(_is_about(limit, one) for limit in limits)]
        if missing:
            found.append(f"{len(missing)} points were left out ({missing[0].collective}: {missing[0].reason})")
    if found:
        return _check(unit, "complete", limit, "not_verified", "; ".join(list(dict.fromkeys(found))[:_NAMED]))
    return _check(unit, "complete", limit, "pass", f"{len(unit.sweeps)} finished")


def is_sub_world(unit: Unit, whole: Unit) -> bool:
    """It was measured among the first ranks of the same launch (`--world-sizes`)."""
    small, large = unit.key, whole.key
    fewer = 1 < (small.world_size or 0) < (large.world_size or 0)
    same = (small.label, small.tool, small.backend, small.device) == (
        large.label,
        large.tool,
        large.backend,
        large.device,
    )
    # Where no hosts are stated, nothing says that it is the same machine.
    return fewer and same and bool(unit.hosts) and set(unit.hosts or ()) <= set(whole.hosts or ())


def machine_text(cluster: Cluster) -> str:
    """The cluster of a limits file in a line."""
    per_host = cluster.ranks_per_host
    hosts = cluster.world_size // per_host if isinstance(per_host, int) else len(per_host)
    each = str(per_host) if isinstance(per_host, int) else "+".join(map(str, per_host))
    mode = f", {cluster.mode}" if cluster.mode else ""
    return f"{cluster.world_size} ranks on {hosts} host{'s' if hosts > 1 else ''} ({each}), {cluster.device}{mode}"


def _differences(unit: Unit, cluster: Cluster) -> Iterator[str]:
    key = unit.key
    if key.world_size != cluster.world_size:
        yield _differs("the number of ranks", key.world_size, f"{key.world_size} ranks, not {cluster.world_size}")
    per_host = cluster.ranks_per_host
    wanted = (
        (per_host,) * (cluster.world_size // per_host) if isinstance(per_host, int) else tuple(per_host)
    )  # of each host
    if key.ranks_per_host is None or sorted(key.ranks_per_host) != sorted(wanted * key.groups):
        found = None if key.ranks_per_host is None else "+".join(map(str, key.ranks_per_host))
        asked = "+".join(map(str, wanted[:_NAMED])) + "+…" * (len(wanted) > _NAMED)
        yield _differs("the ranks of each host", found, f"{str(found)[:_LONGEST_NAME]} ranks per host, not {asked}")
    if key.device is None or not fnmatchcase(key.device.upper(), _pattern(cluster.device.upper())):
        yield _differs("the device", key.device, f"device {str(key.device)[:_LONGEST_NAME]}, not {cluster.device}")
    if cluster.backend is not None and (key.backend or "").lower() != cluster.backend.lower():
        yield _differs("the backend", key.backend, f"backend {str(key.backend)[:_LONGEST_NAME]}, not {cluster.backend}")


def _pattern(device: str) -> str:
    """For fnmatch: `*` stands for any characters, and everything else for itself."""
    return device.replace("[", "[[]").replace("?", "[?]")


def _differs(what: str, found: object, how: str) -> str:
    return f"the file does not state {what}" if found is None else how


def _paths(sweep: Sweep) -> set[str]:
    """The proved paths, each as exactly as the file has it (`NET/IB/0` beside `NET`)."""
    proved = set(sweep.proved or ())
    pairs = [*_list_of(sweep.header.transport.get("pairs")), *(pair for one in sweep.transports for pair in one.pairs)]
    exact = {str(pair["path"]) for pair in pairs if isinstance(pair, dict) and isinstance(pair.get("path"), str)}
    return {path for path in proved if not any(_is_one_of(one, (path,)) for one in exact)} | (
        exact if proved else set()
    )


def _list_of(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else []


def _is_one_of(path: str, names: Sequence[str]) -> bool:
    """`NET/IB/0` is `NET/IB` and `NET`."""
    lowered = path.lower()
    return any(lowered == name.lower() or lowered.startswith(f"{name.lower()}/") for name in names)


def _is_about(limit: Limit, point: LeftOut) -> bool:
    """A point that the library does not have at all (`torch.distributed has no ...`) is not missing."""
    asked = (
        (limit.op, point.op),
        (limit.dtype, point.dtype),
        (limit.placement, point.placement),
        (limit.mode, point.mode),
    )
    first, last = limit.sizes or (1, point.message_bytes)
    return (
        point.collective == limit.collective
        and point.beside is None
        and point.message_bytes > 0
        and first <= point.message_bytes <= last
        and all(wanted is None or is_ is None or wanted == is_ for wanted, is_ in asked)
        and " has no " not in point.reason
    )


def _why(sweep: Sweep) -> str:
    return (sweep.end.reason if sweep.end and sweep.end.reason else "it has no end record")[:200]


def _list(names: Iterable[str]) -> str:
    unique = list(dict.fromkeys(names))
    return ", ".join(unique[:_NAMED]) + (f" and {len(unique) - _NAMED} more" if len(unique) > _NAMED else "")


def _check(unit: Unit, name: str, limit: str, outcome: Outcome, reason: str) -> Check:
    return Check(name=named(name, unit), limit=limit, outcome=outcome, reason=reason)


def named(name: str, unit: Unit) -> str:
    """The name of a check of a unit."""
    return f"{name} @ {unit.name}" if unit.name else name
