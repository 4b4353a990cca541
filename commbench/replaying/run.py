"""One replay on all ranks: meet, find out what can be issued, predict, issue the calls in order, compare."""

from collections.abc import Sequence
from statistics import median

import numpy as np

from commbench.errors import UsageError
from commbench.measuring.continuing import on_rank_0
from commbench.measuring.core import measure
from commbench.measuring.launched import Launched
from commbench.measuring.seam import Backend, Case, Operation, World
from commbench.measuring.stopping import Rule
from commbench.measuring.sweeping import look, memory_of
from commbench.replaying.issuing import as_issued, case_of, differs, open_backends, possible
from commbench.replaying.options import ReplayOptions
from commbench.training.call import Schedule
from commbench.training.pricing import PricedStep, price
from commbench.training.replayed import Floats, Replay
from commbench.training.sources import Source, read_sources

SHORT = Rule(samples=3, warm_up=2, check=False)  # before each of five replays, so 15 samples in all


def replay(options: ReplayOptions, launched: Launched, world: World) -> Replay:
    """Replay the step that was asked for. Collective; every rank gets the same result, but for `priced`.

    Raises:
        CommbenchError: the step makes no sense on these ranks, does not fit, or the sweep does not answer.
    """
    session, watch = launched.session, launched.watch
    members = look(session, world, launched.identity, options.sweep)
    (asked,) = options.steps.schedules(world.size)
    if not asked.calls:
        raise UsageError("this step has no collectives to replay", expected="two ranks or more",
                         found=f"{asked.strategy} on {world.size} rank", fix="start more ranks")  # fmt: skip
    cases = [case_of(call, asked.strategy, session.placements, options.mode) for call in asked.calls]
    memory = memory_of(session, world, members, options.sweep)
    backends = open_backends(session, world, asked.calls, cases, memory)
    of_call = [backends[call.group] for call in asked.calls]
    runnable: dict[tuple[int, Case], Case] = {}
    for backend, case in zip(of_call, cases, strict=True):
        if (id(backend), case) not in runnable:
            watch.enter("warm-up", case)
            runnable[id(backend), case] = possible(backend, case)
    cases = [runnable[id(backend), case] for backend, case in zip(of_call, cases, strict=True)]
    schedule = _as_issued(asked, cases)
    watch.enter("waiting")
    priced = on_rank_0(world, lambda: _priced(options, schedule)) if options.sweeps else None
    given: list[float] | None = world.exchange([each.seconds for each in priced.calls] if priced else None)[0]
    wrong, times, measured = _issued(of_call, cases, options, launched, given)
    origin = f"{', '.join(options.sweeps)}" if options.sweeps else "the step's own sizes, measured before each replay"
    notes = [differs(call, issued) for call, issued in zip(asked.calls, schedule.calls, strict=True)]
    return Replay(
        schedule, session.backend_name(), options.mode, times, tuple(given or measured), origin,
        tuple(dict.fromkeys(note for note in notes if note)), wrong, priced,
    )  # fmt: skip


def _as_issued(asked: Schedule, cases: Sequence[Case]) -> Schedule:
    from dataclasses import replace

    return replace(asked, calls=tuple(as_issued(call, case) for call, case in zip(asked.calls, cases, strict=True)))


def _priced(options: ReplayOptions, schedule: Schedule) -> PricedStep:
    """From the sweeps, in the mode of the replay. Raises RefusedModelError or UsageError."""
    sources: tuple[Source, ...] = read_sources(options.sweeps)
    if len(sources) != 1:
        raise UsageError("a replay runs on one interconnect", expected="sweeps of one label",
                         found=", ".join(source.name for source in sources) or "no sweep",
                         fix="give the sweep that was measured as the replay runs")  # fmt: skip
    return price(schedule, sources[0], modes=(options.mode,))


def _issued(
    of_call: Sequence[Backend],
    cases: Sequence[Case],
    options: ReplayOptions,
    launched: Launched,
    predicted: Sequence[float] | None,
) -> tuple[int | None, Floats, list[float]]:
    """Issue the calls, again and again.

    Without a prediction each kind of call is measured before each replay, as a sweep measures it: both sides then see
    the same machine, whatever else runs on it.

    Returns:
        Wrong elements of one checked call of each kind; seconds of the calls, shape (runs, ranks, calls); and their
        seconds as measured alone (median over the runs), empty where they were predicted.
    """
    watch, kinds = launched.watch, list(zip(map(id, of_call), cases, strict=True))
    prepared: dict[tuple[int, Case], Operation] = {}
    backends = dict(zip(kinds, of_call, strict=True))
    for (number, case), backend in backends.items():
        watch.enter("warm-up", case)
        prepared[number, case] = backend.prepare(case)
    watch.enter("check", cases[0])
    wrong = sum(operation.wrong() for operation in prepared.values()) if options.check else None
    operations, first = [prepared[kind] for kind in kinds], of_call[0]
    alone: dict[tuple[int, Case], list[float]] = {kind: [] for kind in prepared}
    times = []
    for _ in range(options.warm_up + options.runs):
        if predicted is None:
            for kind, backend in backends.items():
                alone[kind].append(median(measure(backend, kind[1], SHORT, watch).seconds))
        watch.enter("timed", cases[0], expected=sum(predicted or [alone[kind][-1] for kind in kinds]))
        if options.mode == "pipelined":
            seconds = first.time_in_order(operations)
        else:
            seconds = [operation.time(1) for operation in operations]
        times.append(first.world.gather(seconds))
    for operation in prepared.values():
        operation.close()
    found = int(first.world.gather([wrong or 0]).sum())
    measured = [] if predicted else [median(alone[kind][options.warm_up :]) for kind in kinds]
    return (found if options.check else None), np.stack(times[options.warm_up :]), measured
