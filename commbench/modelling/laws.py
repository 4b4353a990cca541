"""How the time of a collective grows with the number of ranks: one law for each way of doing it.

    t(p, m) = launch + steps(p) x hop + share(p) x m / link

`steps` is how many messages follow each other on the longest path, `share` how much of the message crosses the
busiest link. Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH", IJHPCA
19(1), 2005; Rabenseifner, "Optimization of Collective Reduction Operations", ICCS 2004; NCCL 2.30,
src/graph/tuning.cc (steps of a ring: 2(p-1) for all-reduce, p-1 for reduce-scatter and all-gather, of which those
between hosts cost a hop of their own).
"""

from collections.abc import Callable
from math import log2
from typing import NamedTuple

from commbench.collectives import COLLECTIVES

Growth = Callable[[int], float]


class Law(NamedTuple):
    """One way of doing a collective: `steps` and `share` of the number of ranks."""

    name: str
    steps: Growth
    share: Growth


def _logarithm(factor: float) -> Growth:
    return lambda ranks: factor * log2(ranks)


def _linear(factor: float) -> Growth:
    return lambda ranks: factor * (ranks - 1)


def _constant(value: float) -> Growth:
    return lambda _: value


def laws_of(collective: str) -> tuple[Law, ...]:
    """The laws that a collective may follow, the commonest first."""
    bus = COLLECTIVES[collective].bus_factor
    match collective:
        case "all_reduce":
            return (
                Law("ring", _linear(2.0), bus),
                Law("tree", _logarithm(2.0), _constant(2.0)),
                Law("halving and doubling", _logarithm(2.0), bus),
                Law("recursive doubling", _logarithm(1.0), _logarithm(1.0)),
                Law("flat", _constant(0.0), _constant(1.0)),
            )
        case "reduce_scatter" | "all_gather":
            return (
                Law("ring", _linear(1.0), bus),
                Law("halving and doubling", _logarithm(1.0), bus),
                Law("flat", _constant(0.0), bus),
            )
        case "reduce" | "broadcast":
            return (
                Law("pipelined chain", _linear(1.0), bus),
                Law("tree", _logarithm(1.0), bus),
                Law("binomial tree", _logarithm(1.0), _logarithm(1.0)),
                Law("halving and doubling", _logarithm(2.0), COLLECTIVES["all_reduce"].bus_factor),
                Law("flat", _constant(0.0), bus),
            )
        case "send_recv":
            return (Law("flat", _constant(0.0), bus),)
        case "barrier":
            return (Law("tree", _logarithm(1.0), _constant(0.0)), Law("ring", _linear(2.0), _constant(0.0)))
    return (
        Law("one after the other", _linear(1.0), bus),
        Law("tree", _logarithm(1.0), bus),
        Law("flat", _constant(0.0), bus),
    )
