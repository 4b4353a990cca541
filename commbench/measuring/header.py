"""The first record of a sweep: how it was asked for, and on what it ran."""

from collections.abc import Sequence
from typing import Any

from commbench import __version__
from commbench.launching.worlds import Member, hosts_in_order, ranks_per_host
from commbench.measuring.options import Options
from commbench.measuring.parts import Part
from commbench.measuring.recorder import new_id, now
from commbench.measuring.session import Device, Session
from commbench.sweepfile.records import Header, Source, Transport


def header(
    part: Part,
    options: Options,
    session: Session,
    members: Sequence[Member],
    facts: dict[str, Any],
    resolution: float,
    transport: Transport,
) -> Header:
    """The header of a part's sweep.

    Args:
        members: all ranks of the launch.
        facts: of the machine, from rank 0's host.
        resolution: of the clock that times the calls (s).
        transport: what the library's log has proved so far; its sweep is not yet known.
    """
    mine = [member for member in members if member.rank < part.size]
    return Header(
        sweep=new_id(),
        started_at=now(),
        world_size=part.ranks,
        source=Source(tool="commbench", version=__version__),
        label=options.label,
        backend=session.backend_name(),
        ranks_per_host=ranks_per_host(mine),
        groups=part.groups if len(part.groups) > 1 else None,
        settings=settings(options, session.device, resolution),
        environment={"hosts": list(hosts_in_order(mine)), "device": session.device.name, **session.facts(), **facts},
        transport={"setting": options.label, "proved": transport.proved, "pairs": transport.pairs},
    )


def settings(options: Options, device: Device, resolution: float) -> dict[str, Any]:
    """Everything that was asked for, and the two measured facts that the numbers depend on."""
    choices, rule = options.choices, options.rule
    return {
        "arguments": list(options.arguments),
        "collectives": list(choices.collectives),
        "sizes": list(choices.sizes),
        "dtypes": list(choices.dtypes),
        "operators": list(choices.operators),
        "root": choices.root,
        "placements": list(choices.placements) if choices.placements else None,
        "modes": list(choices.modes),
        "cycles": choices.cycles,
        "shuffle": choices.shuffle,
        "with_compute": choices.with_compute,
        "calls_in_graph": choices.calls_in_graph if "graph" in choices.modes else None,
        "samples": rule.samples,
        "target": rule.target,
        "limit": rule.limit,
        "calls": rule.calls,
        "warm_up": rule.warm_up,
        "check": rule.check,
        "replays": rule.replays,
        "buffers": "rotate" if options.rotate else "same",
        "time_limit": options.time_limit,
        "shared_device": options.shared_device,
        "clock_resolution": resolution,
        "cache_bytes": device.cache_bytes,
        **options.own,
    }
