"""A test of pairs on all ranks: meet in rounds, judge after the first look, test again what is not decided."""

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol, cast

from commbench import __version__
from commbench.errors import UsageError
from commbench.judging.findings import Verdict
from commbench.measuring.continuing import on_rank_0
from commbench.measuring.facts import machine_facts
from commbench.measuring.launched import Launched
from commbench.measuring.seam import Case, World
from commbench.measuring.session import Buffers, Session
from commbench.measuring.sweeping import look
from commbench.pairing.judged import judged
from commbench.pairing.options import CPU_MESSAGE, GPU_MESSAGE, PairsOptions
from commbench.pairing.reading import Pairs
from commbench.pairing.records import PairRecord, PairsHeader
from commbench.pairing.schedule import Places, Step, first_look, second_look
from commbench.pairing.writing import PairsWriter, now

CYCLES = 3  # of retests; `judging.endpoints.LOOKS` counts on it
BYTES_PER_SAMPLE = 100  # of a record: two ranks' times as text

Tell = Callable[[str], None]


class Regrouping(Session, Protocol):
    """A session whose ranks can change groups without waiting for each other."""

    def regroup(self, world: World, groups: tuple[tuple[int, ...], ...]) -> World:
        """The same ranks in other groups, one of which each rank is in. All ranks call it equally often."""


def measure_pairs(options: PairsOptions, launched: Launched, world: World, tell: Tell) -> tuple[Pairs, Verdict] | None:
    """Run the whole test. Collective; only rank 0 gets a result.

    Args:
        tell: prints a line of progress on rank 0.

    Raises:
        CommbenchError: one rank only, or the file cannot be written.
    """
    session = cast(Regrouping, launched.session)
    members = look(session, world, launched.identity, options.sweep)
    places = Places([member.host for member in members])
    steps = first_look(places, options.paths, all_pairs=options.all_pairs)
    if not steps:
        raise UsageError(
            "there are no pairs to test", expected="two ranks or more, on two nodes for pairs between them",
            found=f"{world.size} rank(s) on {len(places.nodes)} node(s), --only {' and '.join(options.paths)}",
            fix="start more ranks",
        )  # fmt: skip
    on_gpu = session.device.index is not None
    header = PairsHeader(
        pairs=str(uuid.uuid4()), started_at=now(), world_size=world.size, hosts=places.hosts,
        local_ranks=tuple(places.ranks[places.node_of[rank]].index(rank) for rank in range(world.size)),
        message_bytes=options.message_bytes or (GPU_MESSAGE if on_gpu else CPU_MESSAGE), samples=options.samples,
        tolerance=options.tolerance, expected_bytes_per_second=options.expected, all_pairs=options.all_pairs,
        backend=session.backend_name(),
        source={"tool": "commbench", "version": __version__},
        environment={**machine_facts(launched.environ), "device": session.device.name, "libraries": session.facts()},
    )  # fmt: skip
    room = BYTES_PER_SAMPLE * options.samples * sum(len(step.pairs) for step in steps)
    writer = on_rank_0(world, lambda: PairsWriter(options.file, room))
    if writer is not None:
        writer.begin(header)
        launched.watch.on_leave = writer.abort
    tell(f"{world.size} ranks on {len(places.nodes)} node(s), {session.backend_name()}: {len(steps)} rounds of pairs")
    whole = session.part(world, world.size, (tuple(range(world.size)),))
    assert whole is not None, "every rank is in the whole world"
    return _Rounds(options, launched, session, whole, header, places, writer, tell).run(steps)


class _Rounds:
    """The rounds of a run, with what they share."""

    def __init__(
        self, options: PairsOptions, launched: Launched, session: Regrouping, world: World, header: PairsHeader,
        places: Places, writer: PairsWriter | None, tell: Tell,
    ) -> None:  # fmt: skip
        self._options, self._watch, self._session, self._world = options, launched.watch, session, world
        self._places, self._writer, self._tell = places, writer, tell
        self._case = Case("all_reduce", header.message_bytes // 4, "float32", "sum", None, "in", "isolated")
        self._small = replace(self._case, elements=header.small_bytes // 4)
        self._begun = time.monotonic()
        self._done = 0
        self._out_of_time = False

    def run(self, steps: Sequence[Step]) -> tuple[Pairs, Verdict] | None:
        self._measure(steps)
        verdict = self._judge()
        for cycle in range(CYCLES):
            again = second_look(self._places, verdict, self._options.paths, cycle) if verdict else ()
            shared: tuple[Step, ...] = self._world.exchange(again)[0]
            if not shared or self._out_of_time:
                break
            self._tell(f"not decided yet: {len(shared)} more rounds")
            self._measure(shared)
            verdict = self._judge()
        if self._writer is None or verdict is None:
            return None
        self._writer.end(*(("timed-out", "the time limit (-T) passed") if self._out_of_time else ("complete", None)))
        return self._writer.pairs, verdict

    def _judge(self) -> Verdict | None:
        self._watch.enter("waiting")
        return judged(self._writer.pairs) if self._writer else None

    def _measure(self, steps: Sequence[Step]) -> None:
        for step in steps:
            elapsed = float(self._world.gather([time.monotonic() - self._begun]).max())
            if self._watch.time_is_up(elapsed):
                self._out_of_time = True
                return
            tests = self._round(step)
            self._done += 1
            if self._writer is not None:
                self._writer.add(tests)
            self._tell(f"round {self._done}: {len(step.pairs)} pairs {step.path}" + (", again" if step.retest else ""))

    def _round(self, step: Step) -> list[PairRecord]:
        """All pairs of a round at once; who sits out is alone in a group."""
        self._watch.enter("warm-up", self._case)
        busy = {rank for pair in step.pairs for rank in pair}
        groups = (*step.pairs, *((rank,) for rank in range(self._world.size) if rank not in busy))
        self._world = self._session.regroup(self._world, groups)
        size = max(self._case.message_bytes, self._small.message_bytes)
        backend = self._session.open(self._world, groups, Buffers(size, size, rotate=False))
        small = backend.prepare(self._small)
        try:
            swift = [small.time(1) for _ in range(1 + self._options.samples)][1:]
        finally:
            small.close()
        operation = backend.prepare(self._case)
        try:
            wrong = operation.wrong() if self._options.check else 0
            spent = [operation.time(1) for _ in range(max(1, self._options.warm_up))]
            slowest = float(self._world.gather([spent[-1]]).max())
            self._watch.enter("timed", self._case, expected=slowest * self._options.samples)
            times = [operation.time(1) for _ in range(self._options.samples)]
        finally:
            operation.close()
        shared = self._world.gather([wrong, *swift, *times])
        first = 1 + len(swift)
        return [
            PairRecord(
                round=self._done, path=step.path, ranks=(a, b), retest=step.retest,
                seconds=(tuple(shared[a, first:].tolist()), tuple(shared[b, first:].tolist())),
                small_seconds=(tuple(shared[a, 1:first].tolist()), tuple(shared[b, 1:first].tolist())),
                wrong=(int(shared[a, 0]), int(shared[b, 0])) if self._options.check else None,
            )
            for a, b in step.pairs
        ]  # fmt: skip
