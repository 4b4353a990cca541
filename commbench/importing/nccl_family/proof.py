"""What a table of the nccl-tests family proves about itself: which collective, over how many ranks.

Most logs name neither. The columns of a row (operator, root), the ratio of size to count, which half was checked and
the bus factor each rule something out; what is left is stated, or several candidates are, and nothing is guessed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from commbench.collectives import COLLECTIVES
from commbench.importing.figures import ranks_allowed
from commbench.importing.nccl_family.banner import Banner
from commbench.importing.nccl_family.layout import Layout
from commbench.importing.nccl_family.rows import Floats, RowTable
from commbench.importing.stating import BY_USER

_GIGA = 1e9
BY_COMMAND = "command line"
_LIKE = {"hypercube": "all_gather", "alltoallv": "all_to_all"}  # whose bus factor they print
_NOT_CHECKED_IN_PLACE = frozenset({"all_to_all", "send_recv", "alltoallv"})


@dataclass(frozen=True)
class Proof:
    """What is known, how, and what else would fit."""

    collective: str | None = None
    candidates: tuple[str, ...] = ()
    collective_basis: str | None = None
    world_size: int | None = None
    world_size_basis: str | None = None
    world_size_range: tuple[int, int] | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Evidence:
    """What speaks about a table besides its rows."""

    banner: Banner
    layout: Layout
    named: str | None = None
    named_basis: str = "named"
    listed: int | None = None
    at_least: int = 1
    counted: tuple[int, ...] = ()
    logged: tuple[int, ...] = ()
    launched: int | None = None
    stated_ranks: int | None = None
    stated_collective: str | None = None


def prove(rows: RowTable, evidence: Evidence) -> Proof:
    """Everything that can be said about the collective and the ranks of a table with rows."""
    low, high = factor_range(rows)
    ratio = count_ratio(rows)
    listed = evidence.listed or (None if evidence.counted else evidence.stated_ranks)
    possible = _possible(rows, evidence, ratio, 1 if high < 0.3 and low == 0.0 else listed)
    fitting = [name for name in possible if _fits(name, low, high, listed, evidence.at_least)]
    if not fitting and evidence.listed is None:  # what the user states rules out no collective that the rows prove
        listed = None
        fitting = [name for name in possible if _fits(name, low, high, None, evidence.at_least)]
    collective, basis, notes = _collective(evidence, fitting, (low, high), listed)
    proof = Proof(collective, () if collective else tuple(fitting or possible), basis, notes=notes)
    return _with_ranks(proof, evidence, fitting if collective is None else [collective], ratio, (low, high))


def factor_range(rows: RowTable) -> tuple[float, float]:
    """The bus factors that most rows allow: printed busbw over size/time, both with their rounding.

    A few rows that disagree (a misprint, a damaged line) do not widen or empty the range; they are found later.
    """
    low, high = row_factors(rows)
    if not len(low):
        return 0.0, inf
    best = float(low.max()), float(high.min())
    if best[0] <= best[1]:
        return best
    points = np.concatenate([low, high])
    order = np.argsort(np.concatenate([low, high * (1 + 1e-15)]), kind="stable")
    depth = np.cumsum(np.concatenate([np.ones_like(low), -np.ones_like(high)])[order])
    place = int(np.argmax(depth))
    after = min(place + 1, len(order) - 1)  # a row may contradict itself, and then no range is left
    return float(points[order[place]]), float(points[order[after]])


def row_factors(rows: RowTable, *, every: bool = False) -> tuple[Floats, Floats]:
    """For each row with a bus bandwidth, or `every` row, the smallest and largest factor that its print allows."""
    busbw, busbw_half, size = rows.column("busbw"), rows.column("busbw_half"), rows.column("size")
    algbw_low, algbw_high = rows.algbw_range
    with np.errstate(all="ignore"):
        low = np.maximum(busbw - busbw_half, 0) / algbw_high * (1 - 1e-6)
        high = (busbw + busbw_half) / algbw_low * (1 + 1e-6)
    usable = np.isfinite(low) & np.isfinite(high) & (size > 0)
    if every:
        return np.where(usable, low, 0.0), np.where(usable, high, inf)
    return low[usable], high[usable]


def count_ratio(rows: RowTable) -> int | None:
    """Size over the bytes of `count` elements where every row agrees: the ranks, or 1."""
    ratios = set()
    widths = [kind.element_bytes for kind in rows.kinds]
    for size, count, kind in set(zip(rows.sizes, rows.counts, rows.kind_numbers, strict=True)):
        width = widths[kind]
        if width is None or count <= 0:
            return None
        ratios.add((size // (count * width), size % (count * width)))
        if len(ratios) > 1:
            return None
    ratio, rest = next(iter(ratios), (0, 0))
    return ratio if ratio and not rest else None


def _possible(rows: RowTable, evidence: Evidence, ratio: int | None, ranks: int | None) -> list[str]:
    """The collectives whose program prints such columns."""
    kind, layout = rows.used_kinds[0], evidence.layout
    if not layout.has_type:
        return []
    has_op = kind.our_op is not None
    rooted = kind.root is not None and kind.root >= 0
    sharded = None if ratio is None or ranks == 1 else ratio > 1
    if has_op and rooted:
        names = ["reduce"]
    elif has_op:
        names = ["all_reduce", "reduce_scatter", "send_recv"]
    elif rooted:
        names = ["broadcast", "gather", "scatter"]
    elif layout.error_is_magnitude and "redop" in layout.preamble:
        names = ["all_to_all"]
    else:
        names = ["all_gather", "all_to_all", "send_recv", "hypercube"]
    if layout.error_is_magnitude:  # then only all_to_all had an empty operator, and send_recv none
        names = [name for name in names if not (has_op and name == "send_recv")]
        if not has_op and "redop" not in layout.preamble:
            names = [name for name in names if name != "all_to_all"]
    if "hypercube" in names and not (_same_bandwidths(rows) and (layout.error_is_magnitude or kind.op in (None, ""))):
        names.remove("hypercube")
    if sharded is not None:
        names = [name for name in names if _is_sharded(name) == sharded]
    elif ranks == 1 and len(names) > 1:
        names = [name for name in names if name != "send_recv"] or names
    return _by_checks(names, rows, evidence)


def _is_sharded(name: str) -> bool:
    return name in _LIKE or COLLECTIVES[name].sharded


def _by_checks(names: list[str], rows: RowTable, evidence: Evidence) -> list[str]:
    """All-to-all and send-receive are never checked in place, everything else is (when anything is)."""
    if evidence.layout.error_is_magnitude or set(rows.placements) != {1, 2} or not rows.checked("out"):
        return names
    checked = rows.checked("in")
    left = [name for name in names if (name in _NOT_CHECKED_IN_PLACE) != checked]
    return left or names


def _same_bandwidths(rows: RowTable) -> bool:
    return bool(np.array_equal(rows.column("algbw"), rows.column("busbw")))


def _fits(name: str, low: float, high: float, ranks: int | None, at_least: int) -> bool:
    allowed = ranks_allowed(_LIKE.get(name, name), low, high)
    if allowed is None:
        return False
    return allowed[0] <= ranks <= allowed[1] if ranks is not None else allowed[1] >= at_least


def _collective(
    evidence: Evidence, fitting: Sequence[str], factors: tuple[float, float], ranks: int | None
) -> tuple[str | None, str | None, tuple[str, ...]]:
    said: tuple[str, ...] = ()
    if evidence.named is not None and evidence.stated_collective not in (None, evidence.named):
        said = (f"--collective {evidence.stated_collective} is not used: the log says {evidence.named}",)
    for name, basis in (
        (evidence.named, evidence.named_basis),
        (evidence.stated_collective, BY_USER),
    ):
        if name is None:
            continue
        if name in COLLECTIVES and not _fits(name, *factors, ranks, evidence.at_least):
            others = f"; they fit {' or '.join(fitting)}" if fitting else ""
            if basis == BY_COMMAND:  # it may be another's, above these rows by chance
                said = (*said, f"the command line above runs {name}, which the bandwidths do not fit{others}")
                continue
            said = (*said, f"its bandwidths do not fit the {name} that is {basis}{others}")
        return name, basis, said
    return (fitting[0], "columns", said) if len(fitting) == 1 else (None, None, said)


def _with_ranks(
    proof: Proof, evidence: Evidence, names: Sequence[str], ratio: int | None, factors: tuple[float, float]
) -> Proof:
    """Add the world size: listed, stated, counted, logged, launched or from the factor, in this order."""
    ranges = [found for name in names if (found := ranks_allowed(_LIKE.get(name, name), *factors))]
    allowed = (min(r[0] for r in ranges), max(r[1] for r in ranges)) if ranges else None
    if allowed and allowed[0] < evidence.at_least <= allowed[1]:
        allowed = (evidence.at_least, allowed[1])
    decisive = allowed is not None and allowed[1] < 1 << 22 and any(_tells_ranks(name) for name in names)
    by_count = ratio if ratio is not None and ratio > 1 and (not names or any(map(_is_sharded, names))) else None
    notes = list(proof.notes)

    def tested(ranks: int, basis: str) -> Proof:
        if names and (allowed is None or not allowed[0] <= ranks <= allowed[1]):
            source = basis if basis == BY_USER else f"of the {basis}"
            notes.append(f"the bus bandwidths do not fit the {ranks} ranks {source}{_instead(allowed)}")
        return replace(proof, world_size=ranks, world_size_basis=basis, notes=tuple(notes))

    if evidence.listed is not None:
        if evidence.stated_ranks not in (None, evidence.listed):
            notes.append(
                f"--world-size {evidence.stated_ranks} is not used: the device list has {evidence.listed} ranks"
            )
        return tested(evidence.listed, "device list")
    if evidence.counted and evidence.stated_ranks not in (None, *evidence.counted):
        notes.append(f"--world-size {evidence.stated_ranks} is not used: the log says {evidence.counted[0]} ranks")
    elif evidence.stated_ranks is not None:
        better = _known_better(evidence.stated_ranks, allowed if decisive else None, by_count)
        if better is None:
            return tested(evidence.stated_ranks, BY_USER)
        notes.append(f"--world-size {evidence.stated_ranks} is not used: {better}")
    if evidence.counted:
        fitting = [n for n in evidence.counted if allowed is None or allowed[0] <= n <= allowed[1]]
        return tested((fitting or list(evidence.counted))[0], "field")
    inside = [n for n in evidence.logged if allowed is None or allowed[0] <= n <= allowed[1]]
    if by_count is not None:
        if allowed is None or allowed[0] <= by_count <= allowed[1]:
            basis = "count + factor" if decisive else "count"
            return replace(proof, world_size=by_count, world_size_basis=basis, notes=tuple(notes))
        notes.append(f"size / count says {by_count} ranks, which the bus bandwidths do not fit{_instead(allowed)}")
    if len(set(inside)) == 1:
        basis = "log line + factor" if decisive else "log line"
        return replace(proof, world_size=inside[0], world_size_basis=basis, notes=tuple(notes))
    if evidence.logged and not inside:
        notes.append(f"the log speaks of {max(evidence.logged)} ranks, which the bus bandwidths do not fit")
    if evidence.launched is not None and not inside:
        if allowed is None or allowed[0] <= evidence.launched <= allowed[1]:
            basis = "command line + factor" if decisive else "command line"
            return replace(proof, world_size=evidence.launched, world_size_basis=basis, notes=tuple(notes))
        notes.append(
            f"the command line starts {evidence.launched} ranks, which the bus bandwidths do not fit{_instead(allowed)}"
        )
    if decisive and allowed and allowed[0] == allowed[1]:
        return replace(proof, world_size=allowed[0], world_size_basis="factor", notes=tuple(notes))
    return replace(proof, world_size_range=allowed if decisive else None, notes=tuple(notes))


def _known_better(stated: int, allowed: tuple[int, int] | None, by_count: int | None) -> str | None:
    """What the rows say about the ranks where it is not what the user states; None where they allow it."""
    if by_count not in (None, stated) and (allowed is None or allowed[0] <= by_count <= allowed[1]):
        return f"size / count says {by_count} ranks"
    if allowed is not None and not allowed[0] <= stated <= allowed[1]:
        low, high = allowed
        return f"the bus bandwidths fit {low if low == high else f'{low} to {high}'} ranks"
    return None


def _tells_ranks(name: str) -> bool:
    name = _LIKE.get(name, name)
    return COLLECTIVES[name].bus_factor(2) != COLLECTIVES[name].bus_factor(3)


def _instead(allowed: tuple[int, int] | None) -> str:
    if allowed is None:
        return ""
    low, high = allowed
    return f"; they fit {low}" if low == high else f"; they fit {low} to {high}" if high < 1 << 22 else ""


def ranks_in(values: Iterable[int]) -> tuple[int, ...]:
    """Distinct numbers of ranks that a log speaks of, sorted."""
    return tuple(sorted(set(values)))
