"""One run: look at the world, plan, open the file, measure every point that is still missing, record it at once."""

import os
import socket
import time
from collections.abc import Sequence
from typing import Any

import msgspec

from commbench.errors import LaunchError
from commbench.launching.identity import Identity
from commbench.launching.worlds import Member, check_members, describe_world
from commbench.measuring.continuing import Stored, on_rank_0, stored_in, to_continue
from commbench.measuring.device_state import device_states
from commbench.measuring.header import header
from commbench.measuring.interfaces import Counters, HostTraffic, counters, crossed, proved_by
from commbench.measuring.options import Options, continued, with_default_modes
from commbench.measuring.parts import Part, parts, plan_document
from commbench.measuring.plan import Memory
from commbench.measuring.points import Points
from commbench.measuring.rank_variables import differing
from commbench.measuring.recorder import Recorder
from commbench.measuring.reporter import Reporter
from commbench.measuring.seam import World
from commbench.measuring.session import Session
from commbench.measuring.watch import Watch
from commbench.sweepfile.records import Header, MachineState, Record, Transport
from commbench.sweepfile.writer import SweepWriter

BYTES_PER_POINT = 12_000  # a record with about 250 samples of two ranks' times


def look(session: Session, world: World, identity: Identity, options: Options) -> list[Member]:
    """Who is here: every rank's card, checked. Collective.

    Raises:
        LaunchError: on every rank alike.
    """
    mine = Member(
        rank=identity.rank, host=socket.gethostname(), pid=os.getpid(), local_rank=identity.local_rank,
        device=session.device.unique, launcher=identity.launcher, promised_size=identity.world_size,
    )  # fmt: skip
    members: list[Member] = world.exchange(mine)
    check_members(members, shared_device_allowed=options.shared_device)
    return members


def memory_of(session: Session, world: World, members: list[Member], options: Options) -> Memory:
    """What each rank may use: its device's or host's free memory shared out, the least over all ranks. Collective."""
    me = members[world.rank]
    sharing = sum((member.host, member.device) == (me.host, me.device) for member in members)
    free = float(world.gather([session.device.free_bytes / sharing]).min())
    cache = float(world.gather([session.device.cache_bytes]).max())
    return Memory(int(free), int(cache), options.rotate, session.copied)


class Run:
    """The run of all parts on all ranks. Every method is collective.

    Args:
        facts: of this rank's host, for the header.
    """

    def __init__(
        self,
        session: Session,
        world: World,
        identity: Identity,
        options: Options,
        watch: Watch,
        reporter: Reporter,
        facts: dict[str, Any],
    ) -> None:
        self._session, self._world = session, world
        self._watch, self._reporter, self._facts = watch, reporter, facts
        self._begun = time.monotonic()
        self.members = look(session, world, identity, options)
        _refuse_compute_on_cpus(session, options)
        apart = differing(world.exchange(facts.get("variables", {})))
        self._facts = {**facts, "variables_differ": apart} if apart else facts
        self._stored = self._read(options)
        if self._stored:
            options = continued(options, self._stored[0].header.settings.get("arguments", options.arguments))
        self._options = options = with_default_modes(options, session.default_modes)
        memory = memory_of(session, world, self.members, options)
        self.parts = parts(options, session.placements, world.size, memory)
        reporter.tell(describe_world(self.members, session.device.name))
        reporter.tell(self._describe_run())

    def _describe_run(self) -> str:
        """Backend, versions and modes; and what one rank means, before anybody waits for its figures."""
        versions = ", ".join(f"{name} {version}" for name, version in self._session.facts().items()
                             if isinstance(version, str))  # fmt: skip
        modes = ", ".join(self._options.choices.modes)
        count = sum(len(part.plan) for part in self.parts)
        lines = [f"backend: {self._session.backend_name()} ({versions}); mode: {modes}; {count} points"]
        if not (self._options.file or self._options.resume or self._options.plan_only):
            lines.append("no sweep file: samples are lost when this ends; -J FILE keeps them")
        if self._world.size == 1:
            lines.append("warning: one rank has nobody to talk to: times are launches and copies, busbw is 0")
        return "\n".join(lines)

    def plan(self) -> dict[str, Any]:
        """What --plan prints, as a document."""
        return plan_document(self.parts, self._options)

    def measure(self) -> Recorder:
        """Measure all parts; returns the recorder, whose sweeps rank 0 has."""
        recorder = Recorder(active=self._world.rank == 0, writer=on_rank_0(self._world, self._open))
        self._watch.on_leave, self._watch.file = recorder.abort, self._options.resume or self._options.file
        for part in self.parts:
            world = self._session.part(self._world, part.size, part.groups)
            if world is not None:
                self._measure_part(part, world, recorder)
            self._watch.enter("waiting")
            self._world.exchange(None)
        recorder.close()
        return recorder

    def _read(self, options: Options) -> tuple[Stored, ...]:
        """What the file that is resumed holds; only rank 0's host need have it."""
        stored = on_rank_0(self._world, lambda: stored_in(options.resume) if options.resume else ())
        shared: tuple[Stored, ...] = self._world.exchange(stored)[0]
        return shared

    def _open(self) -> SweepWriter | None:
        """The file that rank 0 writes, after proving that there is room for it."""
        room = BYTES_PER_POINT * sum(len(part.plan) for part in self.parts)
        if self._options.resume:
            return SweepWriter.append(self._options.resume, room)
        return SweepWriter.create(self._options.file, room) if self._options.file else None

    def _measure_part(self, part: Part, world: World, recorder: Recorder) -> None:
        backend = self._session.open(world, part.groups, part.buffers)
        resolution = float(world.gather([backend.resolution()]).max())
        proved = self._transport("", world)
        mine = header(part, self._options, self._session, self.members, self._facts, resolution, proved)
        new: Header = world.exchange(mine)[0]
        earlier = to_continue(self._stored, new, may_add=bool(self._options.world_sizes))
        sweep = earlier.header.sweep if earlier else new.sweep
        recorder.begin(None if earlier else new, sweep)
        recorder.add(self._state("before", sweep, world))
        traffic, first = counters(), len(recorder.records)
        points = Points(part, backend, self._options, self._watch, recorder, sweep, self._reporter)
        status = points.measure(done=earlier.finished if earlier else frozenset(), begun=self._begun)
        later = self._transport(sweep, world)
        later = self._with_traffic(later, traffic, world, recorder.records[first:])
        if later.pairs or later.interfaces:
            recorder.add(later)
        recorder.add(self._state("after", sweep, world))
        if status is None:
            recorder.end("complete")
        else:
            recorder.end("timed-out", status)

    def _transport(self, sweep: str, world: World) -> Transport:
        """The paths of all pairs of ranks that the library has logged since the last time this was asked."""
        logs = [log for log in world.exchange(self._session.new_links()) if log is not None]
        found = sorted({link for log in logs for link in log})
        return Transport(
            sweep=sweep, setting=self._options.label,
            proved=tuple(sorted({link.kind for link in found})) if found else None,
            pairs=tuple({"from": link.source, "to": link.target, "path": link.path} for link in found),
        )  # fmt: skip

    def _with_traffic(
        self, transport: Transport, before: Counters, world: World, records: Sequence[Record]
    ) -> Transport:
        """With what crossed each host's network interfaces; that proves the path of a library that logs none."""
        here = socket.gethostname()
        first = min(member.rank for member in self.members if member.host == here)
        mine = HostTraffic(here, before, counters()) if world.rank == first else None
        hosts = [host for host in world.exchange(mine) if host is not None]
        silent = transport.proved is None and self._session.backend_name() == "gloo"
        return msgspec.structs.replace(
            transport, interfaces=crossed(hosts), proved=proved_by(hosts, records) if silent else transport.proved
        )

    def _state(self, moment: str, sweep: str, world: World) -> MachineState:
        """Every device's clocks, temperature, throttling, errors and other processes."""
        index = self._session.device.index
        own = [member.pid for member in self.members]
        mine = device_states([index], own_pids=own) if index is not None else ()
        everyone = [state for states in world.exchange(mine) for state in states]
        return MachineState(sweep=sweep, moment="before" if moment == "before" else "after", devices=tuple(everyone))


def _refuse_compute_on_cpus(session: Session, options: Options) -> None:
    """Raises LaunchError where --with-compute has no GPU to keep busy."""
    if options.choices.with_compute and session.device.index is None:
        raise LaunchError(
            "--with-compute needs GPUs",
            expected="a GPU a rank, on which a matrix product runs while collectives are timed",
            found=f"{session.backend_name()} on {session.device.name}s, where both would share the cores",
            fix="leave --with-compute away, or measure NCCL on a machine with GPUs",
        )
