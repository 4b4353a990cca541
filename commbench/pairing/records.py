"""The records of a pairs file: who took part, one line a pair and round, and how it ended. Strict JSON Lines."""

from typing import Annotated, Any, Literal

import msgspec

FORMAT = 1

Path = Literal["between", "inside"]
Seconds = Annotated[float, msgspec.Meta(ge=0.0)]
Count = Annotated[int, msgspec.Meta(ge=0)]
Positive = Annotated[int, msgspec.Meta(ge=1)]


class PairsHeader(msgspec.Struct, frozen=True, kw_only=True, tag_field="record", tag="pairs"):
    """The first record.

    Attributes:
        hosts, local_ranks: of each rank.
        tolerance: share by which a path may be slower than the others and still count as healthy.
        all_pairs: every pair was asked for, not only O(log n) rounds.
        expected_bytes_per_second: what healthy pairs should carry in each direction; None where nobody said.
    """

    pairs: str
    started_at: str
    world_size: Positive
    hosts: tuple[str, ...]
    local_ranks: tuple[Count, ...]
    message_bytes: Positive
    samples: Positive
    small_bytes: Positive = 1024
    tolerance: Annotated[float, msgspec.Meta(gt=0.0, lt=10.0)]
    format: int = FORMAT
    backend: str | None = None
    collective: str = "all_reduce"
    dtype: str = "float32"
    all_pairs: bool = False
    expected_bytes_per_second: Annotated[float, msgspec.Meta(gt=0.0, le=1e30)] | None = None
    source: dict[str, Any] = {}
    environment: dict[str, Any] = {}

    def __post_init__(self) -> None:
        if not len(self.hosts) == len(self.local_ranks) == self.world_size:
            raise ValueError("`hosts` and `local_ranks` need an entry for each rank")


class PairRecord(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag_field="record", tag="pair"):
    """One pair in one round.

    Attributes:
        path: between two hosts, or inside one.
        seconds: of each of both ranks, its own time of the call in every sample, taken at once.
        small_seconds: the same of a message of `small_bytes`, in which no bandwidth shows; None when not measured.
        wrong: wrong elements that each of both ranks found; None when nobody looked.
        retest: taken because something looked suspicious before.
    """

    round: Count
    path: Path
    ranks: tuple[Count, Count]
    seconds: tuple[tuple[Seconds, ...], tuple[Seconds, ...]]
    small_seconds: tuple[tuple[Seconds, ...], tuple[Seconds, ...]] | None = None
    wrong: tuple[Count, Count] | None = None
    retest: bool = False

    def __post_init__(self) -> None:
        for samples in (self.seconds, self.small_seconds):
            if samples is not None and (not samples[0] or len(samples[0]) != len(samples[1])):
                raise ValueError("`seconds` needs as many samples of both ranks, at least one")
        if self.ranks[0] == self.ranks[1]:
            raise ValueError("`ranks` are two different ones")


class PairsEnd(msgspec.Struct, frozen=True, kw_only=True, tag_field="record", tag="end"):
    """The last record; a file without one was aborted."""

    finished_at: str
    status: Literal["complete", "timed-out", "aborted"]
    reason: str | None = None


PairsFileRecord = PairsHeader | PairRecord | PairsEnd
