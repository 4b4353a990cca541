"""Where one latency and bandwidth ends and another begins: the cheapest cuts of a curve, for each number of segments.

Dynamic programming over all cuts (Bellman 1961; Jackson et al., "An algorithm for optimal partitioning of data on an
interval", 2005), for many versions of a curve at once: the one with all points, and those with one point left out.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from commbench.modelling.lines import lines

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

LEAST_POINTS = 3  # a line through two points explains nothing
MOST_SEGMENTS = 6  # NCCL has three protocols and a handful of algorithms; more would describe noise
MOST_PLACES = 48  # places where a cut may be; with more points than that, cuts fall between groups of neighbours

# Relative errors below this are print rounding (three or four digits) or a clock's grain, and never a reason to cut.
GRAIN = 0.004


class Cuts(NamedTuple):
    """The cheapest cuts of each version, for 1 ... MOST_SEGMENTS segments.

    Attributes:
        cost: (versions, segments): sum of weighted squared relative residuals, infinite where impossible.
        starts: for [version][segments - 1] the index of each segment's first point.
    """

    cost: Floats
    starts: list[list[tuple[int, ...]]]


def places(points: int) -> Ints:
    """Indices of first points of the cells that cuts fall between, and `points` at the end."""
    return np.unique(np.linspace(0, points, min(points, MOST_PLACES) + 1).astype(np.int64))


def cheapest_cuts(terms: Floats, kept: npt.NDArray[np.bool_]) -> Cuts:
    """The cheapest cuts.

    Args:
        terms: (points, 6), of `lines.terms`.
        kept: (versions, points): which points each version has.
    """
    edges = places(terms.shape[0])
    cells = len(edges) - 1
    first, behind = np.triu_indices(cells + 1, k=1)
    inside = (np.arange(cells) >= first[:, None]) & (np.arange(cells) < behind[:, None])
    of_cells = np.add.reduceat(terms * kept[:, :, None], edges[:-1], axis=1)
    counts = np.add.reduceat(kept.astype(np.float64), edges[:-1], axis=1)
    spans = inside.astype(np.float64)
    cost = np.where(counts @ spans.T >= LEAST_POINTS, lines(spans @ of_cells).cost, np.inf)
    square = np.full((kept.shape[0], cells + 1, cells + 1), np.inf)
    square[:, first, behind] = cost
    return _search(square, edges)


def _search(square: Floats, edges: Ints) -> Cuts:
    """`square`: (versions, first cell, behind the last cell), the cost of one segment."""
    versions, cells = square.shape[0], square.shape[1] - 1
    best, back = square[:, 0, :], []
    costs = [best[:, -1]]
    for _ in range(1, MOST_SEGMENTS):
        with_one_more = best[:, :, None] + square
        back.append(with_one_more.argmin(axis=1))
        best = with_one_more.min(axis=1)
        costs.append(best[:, -1])
    starts: list[list[tuple[int, ...]]] = []
    for version in range(versions):
        of_version = []
        for count in range(1, MOST_SEGMENTS + 1):
            end, cuts = cells, []
            for step in range(count - 1, 0, -1):
                end = int(back[step - 1][version, end])
                cuts.append(int(edges[end]))
            of_version.append((0, *reversed(cuts)))
        starts.append(of_version)
    return Cuts(np.stack(costs, axis=1), starts)


def penalised_count(cost: Floats, points: int) -> int:
    """How many segments pay: the least Bayesian information criterion, with three parameters a further segment.

    Args:
        cost: (segments,) of one version.
        points: how many it has.
    """
    counts = np.arange(1, len(cost) + 1)
    score = points * np.log(cost / points + GRAIN**2) + (3 * counts - 1) * np.log(points)
    return int(np.argmin(score)) + 1
