"""Which collectives, on how many ranks, the printed algorithm and bus bandwidths of a table allow."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from commbench.importing.other_tools.printed import Printed, ranks_that_fit

SHARDING = ("all_gather", "reduce_scatter", "all_to_all")


class Fitting(NamedTuple):
    """The collectives that fit, and the ranks that fit any of them; None where only some do or no range is told."""

    collectives: tuple[str, ...]
    ranks: tuple[int, int] | None


def sole(names: Sequence[str]) -> str | None:
    """The name, where only one is left."""
    return names[0] if len(names) == 1 else None


def fitting(names: Sequence[str], figures: Iterable[tuple[Printed, Printed]], world_size: int | None = None) -> Fitting:
    """The collectives among `names` whose bus factor, for `world_size` ranks or for any, explains every row.

    Args:
        figures: (algorithm bandwidth, bus bandwidth) of each row.
    """
    pairs = list(figures)
    fits = {name: span for name in names if (span := ranks_that_fit(name, pairs)) is not None}
    if world_size is not None:
        fits = {name: span for name, span in fits.items() if span[0] <= world_size <= span[1]}
    spans = set(fits.values())
    return Fitting(tuple(fits), spans.pop() if len(spans) == 1 else None)
