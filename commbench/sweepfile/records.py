"""The records of a sweep file, frozen and checked on creation. One JSON object a line; see `commbench schema`.

Format versions:
    1  the first.

Seconds, bytes and counts only: everything that can be computed (bandwidths, medians, intervals) is computed by
readers and never stored. A reader skips record kinds and fields it does not know.
"""

from typing import Annotated, Any, Literal

import msgspec

FORMAT = 1

Mode = Literal["isolated", "pipelined", "graph"]
Placement = Literal["in", "out"]
Clock = Literal["device", "host"]
Status = Literal["complete", "aborted", "timed-out"]
Skew = Literal["entry", "exit"]
Beside = Literal["compute"]

# Upper bounds keep every sum, ratio and array of a reader finite, whatever a damaged file says.
_LARGEST = (1 << 63) - 1  # what numpy's int64 holds
_LONGEST = 1e9  # seconds, about 30 years

Count = Annotated[int, msgspec.Meta(ge=0, le=_LARGEST)]
Positive = Annotated[int, msgspec.Meta(ge=1, le=_LARGEST)]
Seconds = Annotated[float, msgspec.Meta(ge=0, le=_LONGEST)]
Object = dict[str, Any]


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """Which tool produced the numbers, and from which file they were imported."""

    tool: str
    version: str | None = None
    file: str | None = None


class Header(msgspec.Struct, frozen=True, kw_only=True, tag_field="record", tag="sweep"):
    """The first record of a sweep: what was asked for, where it ran, and along which path.

    Attributes:
        sweep: the sweep's id, repeated in each of its records.
        label: the user's name of the setting ("nvlink", "host"), or None.
        world_size: ranks of one collective, None where a foreign file does not say.
        ranks_per_host: ranks on each host, in the order of the hosts' first ranks.
        groups: the global ranks of each group when disjoint groups ran at once, else None.
        settings: how it was measured; sweeps with different settings are never mixed.
        environment: machine, libraries and allow-listed variables.
        transport: {"setting": name or None, "proved": list of paths or None}.
    """

    sweep: str
    started_at: str
    world_size: Positive | None
    source: Source
    format: int = FORMAT
    label: str | None = None
    backend: str | None = None
    ranks_per_host: tuple[Count, ...] | None = None
    groups: tuple[tuple[Count, ...], ...] | None = None
    settings: Object = {}
    environment: Object = {}
    transport: Object = {}


# gc=False: a record from JSON is part of no cycle, and the collector would walk a million of them again and again.
class Measurement(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag_field="record", tag="measurement"):
    """One measured point.

    Attributes:
        message_bytes: the whole, unsharded buffer of one rank, after rounding to equal shards.
        seconds: per sample, the time of one call on the slowest rank of that sample.
        fastest_seconds: per sample, the time of one call on the fastest rank.
        slowest_rank, fastest_rank: the rank that was so in most samples, None when no rank was.
        skew: where such ranks of a collective that synchronises are apart: they enter it, or leave it, at different
            times. None when they hardly are, or nobody looked.
        correct: True, False, or None when it was not checked. None is never True.
        wrong: wrong elements over all ranks, None when not checked.
        group_seconds: with groups, the samples of each group (its slowest rank), in the header's order.
        reported: a foreign tool's own printed figures, by its column names.
        statistic: what a foreign single value is ("mean over ranks" ...), None for our own samples.
        beside: "compute" when a matrix product ran on every device meanwhile, None when the device had nothing else.
    """

    sweep: str
    collective: str | None
    message_bytes: Count
    seconds: tuple[Seconds, ...]
    dtype: str | None = None
    op: str | None = None
    root: Count | None = None
    placement: Placement | None = None
    mode: Mode | None = None
    clock: Clock | None = None
    calls_per_sample: Positive | None = None
    fastest_seconds: tuple[Seconds, ...] | None = None
    slowest_rank: Count | None = None
    fastest_rank: Count | None = None
    skew: Skew | None = None
    correct: bool | None = None
    wrong: Count | None = None
    cycle: Count = 0
    notes: tuple[str, ...] = ()
    group_seconds: tuple[tuple[Seconds, ...], ...] | None = None
    statistic: str | None = None
    reported: Object | None = None
    beside: Beside | None = None

    def __post_init__(self) -> None:
        if not self.seconds:
            raise ValueError("`seconds` is empty: a measurement holds at least one sample")
        if self.fastest_seconds is not None and len(self.fastest_seconds) != len(self.seconds):
            raise ValueError("`fastest_seconds` and `seconds` differ in length")
        if self.correct is True and self.wrong:
            raise ValueError("`correct` is true although `wrong` is above 0")


class LeftOut(msgspec.Struct, frozen=True, kw_only=True, tag_field="record", tag="left_out"):
    """A point that was planned and not measured, with the reason."""

    sweep: str
    collective: str | None
    message_bytes: Count
    reason: str
    dtype: str | None = None
    op: str | None = None
    root: Count | None = None
    placement: Placement | None = None
    mode: Mode | None = None
    cycle: Count = 0
    beside: Beside | None = None


class Transport(msgspec.Struct, frozen=True, kw_only=True, tag_field="record", tag="transport"):
    """Paths that became known after the header. `proved` None: nothing says which path was taken.

    `interfaces`: bytes that crossed each network interface of each host while the points of this run were measured.
    """

    sweep: str
    setting: str | None = None
    proved: tuple[str, ...] | None = None
    pairs: tuple[Object, ...] = ()
    interfaces: tuple[Object, ...] = ()


class MachineState(msgspec.Struct, frozen=True, kw_only=True, tag_field="record", tag="machine_state"):
    """Clocks, temperatures, throttle reasons, error counters and other processes of each device at one moment."""

    sweep: str
    moment: Literal["before", "after"]
    devices: tuple[Object, ...] = ()


class Void(msgspec.Struct, frozen=True, kw_only=True, tag_field="record", tag="void"):
    """Nothing in this sweep may be compared: what it was measured for did not happen. It stands after the end record.

    Attributes:
        setting: the interconnect setting that was asked for.
        expected, found: what would prove it, and what the file holds instead.
    """

    sweep: str
    reason: str
    setting: str | None = None
    expected: str | None = None
    found: str | None = None


class End(msgspec.Struct, frozen=True, kw_only=True, tag_field="record", tag="end"):
    """The last record. None in a file means the sweep was aborted; after a resume the last one counts."""

    sweep: str
    finished_at: str
    status: Status
    reason: str | None = None


Record = Header | Measurement | LeftOut | Transport | MachineState | Void | End
