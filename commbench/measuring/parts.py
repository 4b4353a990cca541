"""The parts of a run: a sweep for each world size asked for, each with its points, its memory and its groups."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from commbench.collectives import Placement
from commbench.errors import UsageError
from commbench.measuring.groups import groups_of
from commbench.measuring.options import Options
from commbench.measuring.plan import Memory, Point, expected_seconds, points
from commbench.measuring.session import Buffers
from commbench.units import format_seconds, format_size_short


@dataclass(frozen=True)
class Part:
    """The sweep of the first `size` ranks. `refused` are points whose buffers do not fit, with the reason."""

    size: int
    groups: tuple[tuple[int, ...], ...]
    plan: tuple[Point, ...]
    refused: Mapping[Point, str]
    buffers: Buffers

    @property
    def ranks(self) -> int:
        """Ranks of one collective."""
        return len(self.groups[0])


def parts(
    options: Options, placements: Mapping[str, tuple[Placement | None, ...]], world_size: int, memory: Memory
) -> tuple[Part, ...]:
    """Plan every part of the run, before anything is allocated.

    Raises:
        UsageError: a world size, group or root that these ranks cannot give.
    """
    sizes = options.world_sizes or (world_size,)
    if max(sizes) > world_size:
        raise UsageError("a world size is larger than the world", expected=f"at most {world_size} ranks",
                         found=f"--world-sizes with {max(sizes)}", fix="start more ranks")  # fmt: skip
    return tuple(_part(options, placements, size, memory) for size in sizes)


def _part(options: Options, placements: Mapping[str, tuple[Placement | None, ...]], size: int, memory: Memory) -> Part:
    groups = groups_of(options.groups, size)
    ranks = len(groups[0])
    if options.choices.root >= ranks:
        raise UsageError("the root is not a rank of this collective", expected=f"-r from 0 to {ranks - 1}",
                         found=f"-r {options.choices.root}", fix="choose a root among the ranks")  # fmt: skip
    plan = tuple(points(options.choices, ranks, placements))
    too_large = memory.refusals((point.case for point in plan), ranks)
    refused = {point: too_large[point.case] for point in plan if point.case in too_large}
    fitting = [point.case for point in plan if point not in refused]
    send, receive = memory.slabs(fitting, ranks)
    return Part(size, groups, plan, refused, Buffers(send, receive, memory.rotate))


def describe_plan(all_parts: Sequence[Part], options: Options) -> str:
    """Points, memory and expected time, as `--plan` prints them."""
    lines = []
    for part in all_parts:
        fitting = [point for point in part.plan if point not in part.refused]
        seconds = sum(expected_seconds(point.case, options.rule.limit, options.rule.samples) for point in fitting)
        sent, received = map(format_size_short, (part.buffers.send_bytes, part.buffers.receive_bytes))
        groups = f" in {len(part.groups)} groups of {part.ranks}" if len(part.groups) > 1 else ""
        lines += [
            f"{part.size} rank{'s' * (part.size > 1)}{groups}: {len(fitting)} points",
            f"  buffers per rank: {sent} to send, {received} to receive",
            f"  expected time: about {format_seconds(seconds)}, if large messages move at 1 GiB/s",
        ]
        for (name, placement, mode, dtype, op), sizes in _summary(fitting).items():
            kind = ", ".join(word for word in (dtype, op, placement, mode) if word)
            lines.append(f"  {name} ({kind}): {len(sizes)} sizes, {sizes[0]} … {sizes[-1]} bytes")
        lines += [f"  left out: {point.case.collective} {point.case.message_bytes} bytes: {reason}"
                  for point, reason in part.refused.items()]  # fmt: skip
    return "\n".join(lines)


def _summary(plan: Sequence[Point]) -> dict[tuple[str | None, ...], list[int]]:
    kinds: dict[tuple[str | None, ...], list[int]] = {}
    for point in sorted(plan, key=lambda point: point.case.elements):
        case = point.case
        sizes = kinds.setdefault((case.collective, case.placement, case.mode, case.dtype, case.op), [])
        if sizes[-1:] != [case.message_bytes]:  # another cycle has it already
            sizes.append(case.message_bytes)
    return kinds
