"""The three tests of a table: algbw = size / time, busbw = factor x size / time, and the printed average."""

from math import isfinite

import numpy as np
from numpy.typing import NDArray

from commbench.collectives import COLLECTIVES
from commbench.importing.figures import printed_factor
from commbench.importing.nccl_family.layout import Layout
from commbench.importing.nccl_family.proof import Proof
from commbench.importing.nccl_family.rows import RowTable

_GIGA = 1e9
_SLACK = 1e-6
_MOST = 0.5  # of the rows, from which on it is the table's meaning and not a row's fault
_FEW = 0.1  # of the rows, that may still be faulty
_GIB = 1.073741824


def convert_units(rows: RowTable, layout: Layout) -> list[str]:
    """Find units that the header got wrong, of times or of bandwidths, and put them right. Returns what to say."""
    if "cputime" in layout.columns or not algbw_mismatches(rows).any():
        return []
    return _convert_times(rows) + _convert_bandwidths(rows)


def _convert_times(rows: RowTable) -> list[str]:
    ratio = _algbw_ratio(rows)
    if ratio is None:
        return []
    for factor, words in ((1e-3, "a thousandth of"), (1e3, "a thousand times")):
        if abs(ratio * factor - 1) < 0.05:
            rows.scale_seconds(factor)
            return [f"by its bandwidths every time is {words} what the column's unit says: converted"]
    return []


def _convert_bandwidths(rows: RowTable) -> list[str]:
    if algbw_mismatches(rows).mean() <= _MOST:
        return []
    if _mismatches(rows, 1 / _GIB).mean() >= _FEW:
        return []
    rows.scale_bandwidths(_GIB)
    return ["its bandwidths are GiB/s although they are labelled GB/s: converted"]


def note_algbw(rows: RowTable, layout: Layout, proof: Proof) -> list[str]:
    """Test algbw against size / time and note the rows that fail, or what the whole table means by it."""
    if "cputime" in layout.columns:
        return ["the time column is CPU time; its bandwidths come from the wall time, which is not printed"]
    wrong = algbw_mismatches(rows)
    if not wrong.any():
        return []
    ranks = proof.world_size
    if wrong.mean() > _MOST and ranks and ranks > 1:
        share = (ranks - 1) / ranks
        if _mismatches(rows, share).mean() < _FEW:
            return [f"its algbw is {ranks - 1}/{ranks} of size / time, as old versions define it; the times are right"]
    for place in np.flatnonzero(wrong)[:1000]:
        rows.note(int(place), "its algbw is not size / time within rounding")
    return [f"the algbw of {int(wrong.sum())} of {len(rows)} rows is not size / time within rounding"]


def note_busbw(rows: RowTable, proof: Proof) -> list[str]:
    """Test busbw against factor x size / time for the proved world size, and note the rows that fail."""
    name = {"hypercube": "all_gather", "alltoallv": "all_to_all"}.get(proof.collective or "", proof.collective)
    if name is None or name not in COLLECTIVES or proof.world_size is None:
        return []
    factor = printed_factor(name, proof.world_size)
    wrong = _mismatches(rows, factor, "busbw")
    for place in np.flatnonzero(wrong)[:1000]:
        rows.note(int(place), f"its busbw is not {factor:.4g} x size / time within rounding")
    if not wrong.any():
        return []
    where = f"{proof.collective} over {proof.world_size} ranks"
    return [f"the busbw of {int(wrong.sum())} of {len(rows)} rows is not {factor:.4g} x size / time ({where})"]


def is_average_of(rows: RowTable, printed: float, zero_rows: int) -> bool:
    """Whether a printed average is the mean of the printed bus bandwidths, within their rounding.

    Args:
        zero_rows: placements of rows of size 0, which count with 0.
    """
    busbw, half = rows.column("busbw"), rows.column("busbw_half")
    known = np.isfinite(busbw)
    for zeros in {zero_rows, 0}:  # forks leave them out of the mean
        number = int(known.sum()) + zeros
        if number:
            mean, tolerance = float(busbw[known].sum()) / number, float(half[known].sum()) / number
            if abs(mean - printed) <= tolerance + 1e-5 * max(abs(printed), abs(mean)) + 5e-7:
                return True
    return False


def mean_busbw(rows: RowTable) -> float | None:
    """The plain mean of the printed bus bandwidths (GB/s)."""
    busbw = rows.column("busbw")
    mean = float(busbw[np.isfinite(busbw)].mean()) if np.isfinite(busbw).any() else float("nan")
    return mean if isfinite(mean) else None


def algbw_mismatches(rows: RowTable) -> NDArray[np.bool_]:
    """For each row, whether its algbw is not size / time within rounding."""
    return _mismatches(rows, 1.0)


def _mismatches(rows: RowTable, factor: float, column: str = "algbw") -> NDArray[np.bool_]:
    low, high = rows.algbw_range
    printed, half = rows.column(column), rows.column(column + "_half")
    with np.errstate(all="ignore"):  # nan is what was not printed or moved nothing: no comparison with it holds
        below = (printed + half) * (1 + _SLACK) < factor * np.where(low < np.inf, low, 0.0)
        above = printed - half > factor * high * (1 + _SLACK) + 1e-12
    found: NDArray[np.bool_] = (below | above) & (rows.column("size") > 0)
    return found


def _algbw_ratio(rows: RowTable) -> float | None:
    """The median of printed algbw over size / time, over rows that show three digits of it."""
    seconds, size, printed = rows.column("seconds"), rows.column("size"), rows.column("algbw")
    with np.errstate(all="ignore"):
        ratio = printed * _GIGA * seconds / size
        usable = np.isfinite(ratio) & (printed > 20 * rows.column("algbw_half")) & (size > 0)
    return float(np.median(ratio[usable])) if usable.any() else None
