"""The parts of a run: a sweep for each world size asked for, each with its points, its memory and its groups."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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


def plan_document(all_parts: Sequence[Part], options: Options) -> dict[str, Any]:
    """The plan for programs: bytes and seconds, a kind of points an entry. `--plan --json` prints it."""
    return {"plan": [_document(part, options) for part in all_parts]}


def _document(part: Part, options: Options) -> dict[str, Any]:
    fitting = [point for point in part.plan if point not in part.refused]
    return {
        "ranks": part.size,
        "groups": [list(group) for group in part.groups] if len(part.groups) > 1 else None,
        "points": len(fitting),
        "send_bytes": part.buffers.send_bytes,
        "receive_bytes": part.buffers.receive_bytes,
        "expected_seconds": sum(
            expected_seconds(point.case, options.rule.limit, options.rule.samples) for point in fitting
        ),
        "kinds": [
            {
                "collective": name,
                "dtype": dtype,
                "op": op,
                "placement": placement,
                "mode": mode,
                "beside": beside,
                "message_bytes": sizes,
            }
            for (name, placement, mode, dtype, op, beside), sizes in _summary(fitting).items()
        ],
        "left_out": [
            {"collective": point.case.collective, "message_bytes": point.case.message_bytes, "reason": reason}
            for point, reason in part.refused.items()
        ],
    }


def describe_plan(document: dict[str, Any]) -> str:
    """Points, memory and expected time, as `--plan` prints them."""
    lines = []
    for part in document["plan"]:
        sent, received = map(format_size_short, (part["send_bytes"], part["receive_bytes"]))
        groups = f" in {len(part['groups'])} groups of {len(part['groups'][0])}" if part["groups"] else ""
        seconds = format_seconds(part["expected_seconds"])
        lines += [
            f"{part['ranks']} rank{'s' * (part['ranks'] > 1)}{groups}: {part['points']} points",
            f"  buffers per rank: {sent} to send, {received} to receive",
            f"  expected time: about {seconds}, if a call takes 200 us and 1 s per GiB; starting up comes on top",
        ]
        for kind in part["kinds"]:
            words = ", ".join(kind[key] for key in ("dtype", "op", "placement", "mode") if kind[key])
            words += f", beside {kind['beside']}" if kind["beside"] else ""
            sizes = kind["message_bytes"]
            lines.append(f"  {kind['collective']} ({words}): {len(sizes)} sizes, {sizes[0]} … {sizes[-1]} bytes")
        lines += [f"  left out: {left['collective']} {left['message_bytes']} bytes: {left['reason']}"
                  for left in part["left_out"]]  # fmt: skip
    return "\n".join(lines)


def _summary(plan: Sequence[Point]) -> dict[tuple[str | None, ...], list[int]]:
    kinds: dict[tuple[str | None, ...], list[int]] = {}
    for point in sorted(plan, key=lambda point: point.case.elements):
        case = point.case
        sizes = kinds.setdefault((case.collective, case.placement, case.mode, case.dtype, case.op, case.beside), [])
        if sizes[-1:] != [case.message_bytes]:  # another cycle has it already
            sizes.append(case.message_bytes)
    return kinds
