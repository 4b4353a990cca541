"""A sweep as nccl-tests would print it, so that tools which read nccl-tests read us.

One table per collective and mode. A data row has exactly 13 tokens in nccl-tests' widths; where only one placement was
measured its figures stand in both groups, and a comment says so. Rows that nccl-tests cannot express (no collective,
dtype, or number of ranks known; a barrier) are left out, and a comment counts them.

Layout: NVIDIA/nccl-tests 2.19, src/common.cu (header of three lines, row, footer).
"""

from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest
from math import fsum

from commbench import __version__
from commbench.showing.columns import fitted
from commbench.showing.heading import MODES, clean, left_out, title
from commbench.showing.rows import Row, in_reading_order, rows
from commbench.sweepfile.reader import Sweep
from commbench.units import GIGABYTE_PER_SECOND, MICROSECOND

_PROGRAMS = {"all_to_all": "alltoall", "send_recv": "sendrecv"}
_TYPES = {
    "float32": "float",
    "float16": "half",
    "float64": "double",
    "float8_e4m3": "f8e4m3",
    "float8_e5m2": "f8e5m2",
}
_TIMED = "     time   algbw   busbw  #wrong"
_UNITS = "     (us)  (GB/s)  (GB/s)        "
_HEADER = (
    f"#{'':62}out-of-place{'':23}in-place{'':10}",
    f"#       size         count      type   redop    root{_TIMED}{_TIMED} ",
    f"#        (B)    (elements){'':26}{_UNITS}{_UNITS} ",
)

_Pair = tuple[Row | None, Row | None]  # out of place, in place


def to_nccl_tests(sweeps: Sequence[Sweep]) -> str:
    """All tables of all sweeps."""
    return "".join(line + "\n" for sweep in sweeps for line in _sweep(sweep))


def row_text(out: Row | None, inside: Row | None) -> str:
    """One data row of 13 tokens; a missing placement shows the other's figures."""
    groups = (out or inside, inside or out)
    row = next(group for group in groups if group is not None)
    root = -1 if row.root is None else row.root
    dtype = _TYPES.get(row.dtype or "", row.dtype)
    left = f"{row.message_bytes:12d}  {row.count:12d}  {dtype:>8s}  {row.op or 'none':>6s}  {root:6d}"
    return left + "".join(_group(group) for group in groups if group is not None)


def _group(row: Row) -> str:
    time = fitted(row.seconds / MICROSECOND, 7)
    rates = (fitted((rate or 0.0) / GIGABYTE_PER_SECOND, 6) for rate in (row.algbw, row.busbw))
    wrong = "N/A" if row.check == "not checked" else f"{_wrong(row):g}"
    return f"  {time:>7s}" + "".join(f"  {rate:>6s}" for rate in rates) + f"  {wrong:>6s}"


def _wrong(row: Row) -> int:
    return 0 if row.check != "WRONG" else row.wrong or 1


def _sweep(sweep: Sweep) -> list[str]:
    known = [row for row in rows(sweep) if _expressible(row) and row.beside is None]
    lines = [f"# commbench {__version__}, shown as nccl-tests would: {clean(title(sweep))}"]
    if missing := len(sweep.measurements) - len(known):
        lines.append(f"# left out: {missing} rows that nccl-tests' columns cannot express (commbench show has them)")
    lines += [f"# left out: {clean(points)}" for points in left_out(sweep)]
    for collective, mode in dict.fromkeys((row.collective, row.mode) for row in in_reading_order(known)):
        lines += _table([row for row in known if (row.collective, row.mode) == (collective, mode)])
    return lines


def _expressible(row: Row) -> bool:
    return row.collective is not None and row.dtype is not None and row.count is not None and row.busbw is not None


def _table(table: Sequence[Row]) -> list[str]:
    collective, mode = table[0].collective or "", table[0].mode
    program = f"{_PROGRAMS.get(collective, collective)}_perf"
    pairs = _pairs(table)
    comments = [f"# mode: {mode} ({MODES[mode]})" if mode else "# mode: not stated", *_repeats(pairs)]
    return [
        f"# Collective test starting: {program}",
        *comments,
        "#",
        *_HEADER,
        *(row_text(*pair) for pair in pairs),
        *_footer(table),
        "#",
        f"# Collective test concluded: {program}",
        "#",
    ]


def _pairs(table: Sequence[Row]) -> list[_Pair]:
    """Both placements of a point side by side, curve by curve as nccl-tests goes; a point seen again, again."""
    points: dict[tuple[str, str, int, int, int], tuple[list[Row], list[Row]]] = {}
    for row in table:
        point = (row.dtype or "", row.op or "", -1 if row.root is None else row.root, row.cycle, row.message_bytes)
        points.setdefault(point, ([], []))[row.placement != "out"].append(row)
    return [pair for point in sorted(points) for pair in zip_longest(*points[point])]


def _repeats(pairs: Sequence[_Pair]) -> list[str]:
    """Comments on the rows whose two groups hold the same figures."""
    single = [out or inside for out, inside in pairs if out is None or inside is None]
    words = {"in": "measured in-place only", "out": "measured out-of-place only", None: "of a placement not stated"}
    counts = Counter(words[row.placement] for row in single if row is not None)
    return [f"# {n} of {len(pairs)} rows were {how}: those figures stand in both groups" for how, n in counts.items()]


def _footer(table: Sequence[Row]) -> list[str]:
    wrong = sum(_wrong(row) for row in table)
    unchecked = sum(row.check == "not checked" for row in table)
    lines = []
    if unchecked == len(table):
        lines.append("# not checked (-c 0): the next line proves nothing")
    elif unchecked:
        lines.append(f"# not checked: {unchecked} of {len(table)} measurements; the next line says nothing about them")
    lines.append(f"# Out of bounds values : {wrong} {'FAILED' if wrong else 'OK'}")
    lines.append("# the average depends on which sizes ran: it is here for old scripts, not for acceptance")
    average = fsum(row.busbw or 0.0 for row in table) / len(table) / GIGABYTE_PER_SECOND
    lines.append(f"# Avg bus bandwidth    : {average:g} ")
    return lines
