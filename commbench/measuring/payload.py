"""What is sent and what must come out: payloads that depend on rank and position, as numpy tables.

A payload repeats with a prime period, so a table of one period describes a buffer of any size, and no two shards
of equal power-of-two length hold the same numbers. All values are small whole numbers: sums over the ranks are
exact in every dtype as long as they fit its integers, and then the check is exact; where they cannot fit (a bf16
sum over more than 256 ranks, any average) it uses a tolerance made from the dtype's rounding.

Tables are int64 or float64; a backend casts them to its own type. fp8 is moved as bytes and never reduced.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from math import floor, inf, log, log2, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from commbench.collectives import Piece

PERIOD = 65521  # the largest prime below 2**16: coprime to every shard length but its own multiples
_RANK_STEP = 7919  # a prime: ranks below 65521 all start at different positions
_SEED = 2311_03687
_TWOS = 6  # a product holds at most six factors of two: 64 fits every dtype

# largest N such that all whole numbers up to N are exact, relative rounding, largest finite value
_FLOATS = {
    "float16": (2**11, 2.0**-10, 65504.0),
    "bfloat16": (2**8, 2.0**-7, 3.3e38),
    "float32": (2**24, 2.0**-23, 3.4e38),
    "float64": (2**53, 2.0**-52, 1.7e308),
}
_INTEGERS = {
    "int8": (8, True), "uint8": (8, False), "int32": (32, True), "uint32": (32, False), "int64": (64, True),
    "uint64": (64, False),
}  # fmt: skip
_MOVED = {"int8": 127, "uint8": 251, "float8_e4m3": 251, "float8_e5m2": 251, "bfloat16": 251, "float16": 2039}

Table = npt.NDArray[Any]


@dataclass(frozen=True)
class Payload:
    """The payload of one collective call on `ranks` ranks; `op` None for collectives that only move data.

    `wraps`: a sum of integers that passes their largest wraps around. Where it may do something else (Open MPI's
    vectorised sums saturate, github.com/open-mpi/ompi/issues/8045), sums are kept from passing it.
    `start`: the element of the period that comes first, see `telling`.
    """

    dtype: str
    op: str | None
    ranks: int
    wraps: bool = True
    start: int = 0

    @property
    def values(self) -> int:
        """Payload values are 0 … values - 1 (1 and 2 for a product)."""
        moved = _MOVED.get(self.dtype, PERIOD)
        if self.op == "sum" and self.dtype in _FLOATS:
            return max(2, min(moved, _FLOATS[self.dtype][0] // self.ranks))
        if self._counts:
            return max(2, min(moved, (self._countable + 1) // self.ranks))
        return moved

    def table(self, rank: int) -> Table:
        """One period of `rank`'s input; element i of a buffer is table[i % PERIOD]."""
        return np.roll(self._table(rank), -self.start)

    def telling(self, root: int | None) -> "Payload":
        """The same payload, begun where most ranks (and the root) hold something else than the result.

        A message of one element is then wrong when the collective did nothing in place.
        """
        return self if self.op is None or self.ranks == 1 else replace(self, start=_telling(self, root or 0))

    def _table(self, rank: int) -> Table:
        if self.op == "prod":
            return 1 + self._chosen(rank, _TWOS)
        if self._counts and self.dtype in _INTEGERS and self.ranks > self._countable:
            return self._chosen(rank, self._countable)
        return np.roll(_noise(), -rank * _RANK_STEP) % self.values

    @property
    def _counts(self) -> bool:
        """Whether sums must stay within `_countable`."""
        return self.op == "avg" or (self.op == "sum" and not self.wraps)

    @property
    def _countable(self) -> int:
        """The largest whole number up to which sums are exact and do not wrap around."""
        bits, signed = _INTEGERS.get(self.dtype, (0, False))
        return 2 ** (bits - signed) - 1 if bits else _FLOATS[self.dtype][0]

    def _chosen(self, rank: int, most: int) -> Table:
        """1 where `rank` is among those chosen for an element, else 0: from none up to `most` ranks for each."""
        chosen = (_noise() + rank) % self.ranks < (_noise() // self.ranks) % (min(most, self.ranks) + 1)
        numbers: Table = chosen.astype(np.int64)
        return numbers

    def expected(self, piece: Piece) -> Table:
        """One period of what must stand where `piece` says, starting at the piece's first element."""
        table = self._reduced() if piece.rank is None else self.table(piece.rank)
        return np.roll(table, -piece.start)

    def _reduced(self) -> Table:
        result = self.table(0)
        for rank in range(1, self.ranks):
            other = self.table(rank)
            match self.op:
                case "sum" | "avg":
                    result = result + other
                case "min":
                    result = np.minimum(result, other)
                case "max":
                    result = np.maximum(result, other)
                case "prod":
                    result = result * other
        if self.op == "avg":
            return result // self.ranks if self.dtype in _INTEGERS else result / self.ranks
        if self.op == "sum" and self.dtype in _INTEGERS:
            return _wrapped(result, *_INTEGERS[self.dtype])
        return result

    @property
    def tolerance(self) -> float:
        """Relative error that rounding alone may cause; 0 where the result is exact in any order of the ranks.

        eps (2 + 2 sqrt(n)) is above the worst case of n - 1 roundings up to 16 ranks and several standard
        deviations of their random walk beyond.
        """
        if self.dtype not in _FLOATS or self.op in (None, "min", "max", "prod"):
            return 0.0
        exact, epsilon, _ = _FLOATS[self.dtype]
        if self.op == "sum" and self.ranks * (self.values - 1) <= exact:
            return 0.0
        return min(0.5, epsilon * (2.0 + 2.0 * sqrt(self.ranks)))

    @property
    def timed(self) -> "Payload":
        """What buffers hold while they are timed: one payload for all collectives of a dtype where values allow."""
        if self.dtype.startswith("float8") or self.op == "prod":
            return replace(self, start=0)
        return Payload(self.dtype, "sum", self.ranks, self.wraps)

    @property
    def calls_in_place(self) -> float:
        """In-place calls on one buffer before its values could pass the dtype's largest (inf if never).

        Integers wrap around, as every backend's do, and so never overflow into something else.
        """
        if self.dtype not in _FLOATS or self.ranks == 1 or self.op not in ("sum", "prod"):
            return inf
        largest = _FLOATS[self.dtype][2]
        if self.op == "sum":
            return max(1, floor(log(largest / self.values) / log(self.ranks)))
        return max(1, 1 + floor(log(log2(largest) / _TWOS) / log(self.ranks)))


@lru_cache(maxsize=64)
def _telling(payload: Payload, root: int) -> int:
    result = payload.expected(Piece(None, 0, PERIOD))
    differ = sum((payload.table(rank) != result).astype(np.int64) for rank in range(payload.ranks))
    return int(np.argmax(differ * (payload.table(root) != result)))


@lru_cache(maxsize=1)
def _noise() -> npt.NDArray[np.int64]:
    return np.random.default_rng(_SEED).integers(0, 2**31, PERIOD)


def _wrapped(values: Table, bits: int, signed: bool) -> Table:
    """Whole numbers as a `bits`-wide integer type holds them after wrapping around."""
    if bits == 64:
        return values
    wrapped = values.astype(np.int64) % 2**bits
    signed_values: Table = np.where(wrapped >= 2 ** (bits - 1), wrapped - 2**bits, wrapped)
    return signed_values if signed else wrapped
