"""Each collective as one frozen value: what its size means, how many bytes cross the bus, what must come out.

`message_bytes` is always the whole, unsharded buffer of one rank, as in nccl-tests' size column: for all_gather
the output, for reduce_scatter the input. Bus factors are those of nccl-tests' doc/PERFORMANCE.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from commbench.errors import UsageError

Share = Literal["whole", "shard", "none"]
Placement = Literal["in", "out"]


@dataclass(frozen=True)
class Piece:
    """A run of elements that must stand in an output buffer.

    `rank` says whose payload it is, or None for the reduction over all ranks; `start` and `length` are elements
    of that rank's input.
    """

    rank: int | None
    start: int
    length: int


@dataclass(frozen=True)
class Collective:
    """One collective operation.

    Attributes:
        name: the word used in options, files and tables.
        aliases: other spellings users know, lower case, without `_`, `-` and a `_perf` suffix.
        reduces: takes an operator.
        rooted: takes a root rank.
        send, receive: what a rank's input and output buffer hold, as a share of the message; where only the root has
            that buffer (scatter's input, gather's output), what the root's holds.
        exchanges: every rank sends a shard of its whole message to every other (all_to_all).
        synchronises: no rank can leave before every rank has entered, so the fastest rank is the last to enter.
        bus: the factor from algorithm to bus bandwidth for n >= 2 ranks.
        output: the pieces that must stand in `rank`'s output; empty where nothing is specified.
    """

    name: str
    aliases: tuple[str, ...]
    output: Callable[[int, int, int, int], tuple[Piece, ...]]
    bus: Callable[[int], Fraction]
    send: Share = "whole"
    receive: Share = "whole"
    reduces: bool = False
    rooted: bool = False
    synchronises: bool = False
    exchanges: bool = False

    @property
    def sharded(self) -> bool:
        """The message is cut into one equal shard per rank."""
        return self.exchanges or "shard" in (self.send, self.receive)

    @property
    def moves(self) -> bool:
        """False for barrier, which has no message."""
        return self.receive != "none"

    def bus_factor(self, world_size: int) -> float:
        """Bus bandwidth over algorithm bandwidth; 0 for one rank, where nothing crosses a bus."""
        return float(self.bus(world_size)) if world_size > 1 else 0.0

    def expected(self, rank: int, world_size: int, root: int, elements: int) -> tuple[Piece, ...]:
        """What must stand in `rank`'s output for a message of `elements` elements, in order."""
        return self.output(rank, world_size, root, elements)

    def elements(self, message_bytes: int, element_bytes: int, world_size: int) -> int:
        """Elements of the message, rounded up to equal shards and never 0 (0 only for barrier)."""
        if not self.moves:
            return 0
        elements = max(1, -(-message_bytes // element_bytes))
        return -(-elements // world_size) * world_size if self.sharded else elements

    def buffer_elements(self, side: Literal["send", "receive"], elements: int, world_size: int) -> int:
        """Elements of a rank's send or receive buffer (the largest over ranks, which is the root's)."""
        share = self.send if side == "send" else self.receive
        return {"whole": elements, "shard": elements // world_size, "none": 0}[share]


def _allreduce(rank: int, n: int, root: int, elements: int) -> tuple[Piece, ...]:
    return (Piece(None, 0, elements),)


def _reduce(rank: int, n: int, root: int, elements: int) -> tuple[Piece, ...]:
    return (Piece(None, 0, elements),) if rank == root else ()


def _reduce_scatter(rank: int, n: int, root: int, elements: int) -> tuple[Piece, ...]:
    shard = elements // n
    return (Piece(None, rank * shard, shard),)


def _all_gather(rank: int, n: int, root: int, elements: int) -> tuple[Piece, ...]:
    return tuple(Piece(source, 0, elements // n) for source in range(n))


def _broadcast(rank: int, n: int, root: int, elements: int) -> tuple[Piece, ...]:
    return (Piece(root, 0, elements),)


def _all_to_all(rank: int, n: int, root: int, elements: int) -> tuple[Piece, ...]:
    shard = elements // n
    return tuple(Piece(source, rank * shard, shard) for source in range(n))


def _gather(rank: int, n: int, root: int, elements: int) -> tuple[Piece, ...]:
    return _all_gather(rank, n, root, elements) if rank == root else ()


def _scatter(rank: int, n: int, root: int, elements: int) -> tuple[Piece, ...]:
    shard = elements // n
    return (Piece(root, rank * shard, shard),)


def _send_recv(rank: int, n: int, root: int, elements: int) -> tuple[Piece, ...]:
    return (Piece((rank - 1) % n, 0, elements),)


def _nothing(rank: int, n: int, root: int, elements: int) -> tuple[Piece, ...]:
    return ()


def _one(n: int) -> Fraction:
    return Fraction(1)


def _shards(n: int) -> Fraction:
    return Fraction(n - 1, n)


def _twice_shards(n: int) -> Fraction:
    return Fraction(2 * (n - 1), n)


def _none(n: int) -> Fraction:
    return Fraction(0)


ALL_REDUCE = Collective(
    "all_reduce", ("allreduce", "allr", "ar"), _allreduce, _twice_shards, reduces=True, synchronises=True
)
REDUCE = Collective("reduce", ("red",), _reduce, _one, reduces=True, rooted=True)
REDUCE_SCATTER = Collective(
    "reduce_scatter", ("reducescatter", "reducescattertensor", "reducescattersingle", "redsct", "rs"),
    _reduce_scatter, _shards, receive="shard", reduces=True, synchronises=True,
)  # fmt: skip
ALL_GATHER = Collective(
    "all_gather", ("allgather", "allgatherintotensor", "allgathersingle", "allg", "ag"),
    _all_gather, _shards, send="shard", synchronises=True,
)  # fmt: skip
BROADCAST = Collective("broadcast", ("bcast",), _broadcast, _one, rooted=True)
ALL_TO_ALL = Collective(
    "all_to_all", ("alltoall", "alltoallsingle", "a2a"), _all_to_all, _shards, exchanges=True, synchronises=True
)
GATHER = Collective("gather", (), _gather, _shards, send="shard", rooted=True)
SCATTER = Collective("scatter", (), _scatter, _shards, receive="shard", rooted=True)
SEND_RECV = Collective("send_recv", ("sendrecv", "sendreceive", "p2p"), _send_recv, _one)
BARRIER = Collective("barrier", (), _nothing, _none, send="none", receive="none", synchronises=True)

_ALL = (ALL_REDUCE, REDUCE, REDUCE_SCATTER, ALL_GATHER, BROADCAST, ALL_TO_ALL, GATHER, SCATTER, SEND_RECV, BARRIER)
COLLECTIVES: dict[str, Collective] = {collective.name: collective for collective in _ALL}
DEFAULT_COLLECTIVES = ("all_reduce", "reduce", "reduce_scatter", "all_gather")
OPERATORS = ("sum", "avg", "min", "max", "prod")
_OPERATOR_ALIASES = {
    "mean": "avg",
    "average": "avg",
    "product": "prod",
    "add": "sum",
    "minimum": "min",
    "maximum": "max",
}


def collective_named(name: str) -> Collective:
    """Find a collective by any name users know: `all_reduce`, `AllReduce`, `allreduce_perf`, `allr`, `a2a` ...

    Raises:
        UsageError: for an unknown name.
    """
    word = name.lower().replace("-", "_").removesuffix("_perf").replace("_", "")
    for collective in COLLECTIVES.values():
        if word == collective.name.replace("_", "") or word in collective.aliases:
            return collective
    raise UsageError(
        "an unknown collective was asked for",
        expected=", ".join(COLLECTIVES),
        found=repr(name),
        fix="use one of these names (nccl-tests' and torch's spellings are understood too)",
    )


def operator_named(name: str) -> str:
    """Our name of a reduction operator. Raises UsageError if unknown."""
    word = name.lower().removeprefix("reduceop.")
    word = _OPERATOR_ALIASES.get(word, word)
    if word not in OPERATORS:
        raise UsageError(
            "an unknown reduction operator was asked for",
            expected=", ".join(OPERATORS),
            found=repr(name),
            fix="use one of these after -o",
        )
    return word
