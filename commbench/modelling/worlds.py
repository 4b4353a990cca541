"""A number of ranks and how they stand on hosts: what a law of scaling is asked about."""

from typing import NamedTuple

from commbench.modelling.laws import Law
from commbench.modelling.model import ModelKey


class World(NamedTuple):
    """Ranks on hosts; one host where a file does not say."""

    ranks: int
    hosts: int

    def steps(self, law: Law) -> tuple[float, float]:
        """The law's steps inside hosts, and between them: between n hosts, as many as the law has for n ranks."""
        everywhere = law.steps(self.ranks)
        between = min(everywhere, law.steps(self.hosts)) if self.hosts > 1 else 0.0
        return everywhere - between, between


def world_of(key: ModelKey) -> World:
    """The world that a model was measured in."""
    return World(key.world_size or 1, len(key.ranks_per_host or (0,)))


def grown(worlds: tuple[World, ...], ranks: int) -> World:
    """A world of so many ranks, on hosts as full as those of the largest measured one.

    Worlds of one host stay on one host: nothing was measured between hosts that could tell the cost of a second.
    """
    largest = worlds[-1]
    if largest.hosts == 1:
        return World(ranks, 1)
    return World(ranks, max(1, -(-ranks * largest.hosts // largest.ranks)))
