"""When ZeRO-3 gathers and frees parameters: DeepSpeed's coordinator, run on module names instead of tensors.

Copied from DeepSpeed 0.19.6, runtime/zero/partitioned_param_coordinator.py (fetch_sub_module, release_sub_module,
__params_to_release, reset_step). It knows the modules in the order of a whole forward and backward pass, fetches what
a module needs, prefetches what later ones need, and keeps what is used again soon. Sizes are elements.
"""

from collections import deque
from dataclasses import dataclass
from itertools import count

from commbench.training.shapes import Parameter, Shapes
from commbench.training.trace import passes


@dataclass(frozen=True)
class Limits:
    """What bounds fetching ahead and keeping.

    Attributes:
        prefetch: elements to prefetch at most at one module.
        live: elements to hold at most when prefetching.
        reuse: a parameter that is used again within so many elements is kept.
        persistent: names of parameters that are never freed in use.
    """

    prefetch: int
    live: int
    reuse: int
    persistent: frozenset[str]


@dataclass(frozen=True)
class Gather:
    """Parameters that are gathered by one fetch.

    Attributes:
        parameters: in order of registration.
        at: the place in the trace of the module that is about to run.
        needed: the place of the first module that needs one of them; equal to `at` where that module waits.
    """

    parameters: tuple[Parameter, ...]
    at: int
    needed: int


class Coordinator:
    """The state of one rank's parameters over the passes of a run.

    Args:
        model: its modules and parameters.
        limits: of fetching and keeping.

    Attributes:
        trace: the modules of a forward and backward pass; fetching acts at each of them, with parameters or without.
    """

    def __init__(self, model: Shapes, limits: Limits) -> None:
        self.trace = passes(model)
        self._order = {parameter.name: place for place, parameter in enumerate(model.parameters)}
        self._uses: dict[str, list[int]] = {}
        for place, visit in enumerate(self.trace):
            for parameter in visit.parameters:
                self._uses.setdefault(parameter.name, []).append(place)
        self._limits = limits
        self._available: set[str] = set()
        self._kept: dict[int, frozenset[str]] = {}  # by place: the answer of the first complete pass is reused
        self._recorded = False

    def after_step(self) -> None:
        """Every parameter is partitioned again, and the persistent ones are gathered."""
        self._available = set(self._limits.persistent)

    def run_pass(self) -> list[list[Gather]]:
        """One forward and backward pass; the first of a run only records the order of modules.

        Returns:
            What is gathered at each place of `trace`, before its module runs.
        """
        issued: list[list[Gather]] = []
        live = 0
        queue = deque(
            (parameter, place)
            for place, visit in enumerate(self.trace)
            for parameter in sorted(visit.parameters, key=lambda each: self._order[each.name])
        )
        fetched_for: dict[str, int] = {}
        for place, visit in enumerate(self.trace):
            parameters = visit.parameters
            gathers = self._gather(parameters, place, place)
            live += sum(parameter.elements for gather in gathers for parameter in gather.parameters)
            if self._recorded:
                pending = {each.name for each in parameters if fetched_for.get(each.name, -1) < place}
                while queue and pending:
                    parameter, used_at = queue.popleft()
                    fetched_for[parameter.name] = used_at
                    pending.discard(parameter.name)
                ahead = self._prefetched(queue, fetched_for, min(self._limits.live - live, self._limits.prefetch))
                prefetches = self._gather(ahead, place, min((self._next_use(each, place) for each in ahead), default=0))
                live += sum(parameter.elements for gather in prefetches for parameter in gather.parameters)
                gathers += prefetches
            issued.append(gathers)
            kept = self._kept_after(place, fetched_for) if self._recorded else frozenset()
            for parameter in parameters:
                if parameter.name in self._available and parameter.name not in kept:
                    self._available.discard(parameter.name)
                    live -= parameter.elements
        if self._recorded:
            self._available &= self._limits.persistent
        self._recorded = True
        return issued

    def _gather(self, parameters: tuple[Parameter, ...], at: int, needed: int) -> list[Gather]:
        missing = [parameter for parameter in parameters if parameter.name not in self._available]
        self._available.update(parameter.name for parameter in missing)
        missing.sort(key=lambda parameter: self._order[parameter.name])
        return [Gather(tuple(missing), at, needed)] if missing else []

    def _prefetched(
        self, queue: deque[tuple[Parameter, int]], fetched_for: dict[str, int], most: int
    ) -> tuple[Parameter, ...]:
        """Take from the queue what is to be fetched ahead; what is there already is skipped, and then not freed."""
        ahead: dict[str, Parameter] = {}
        elements = 0
        while queue and elements < most:
            parameter, used_at = queue.popleft()
            fetched_for[parameter.name] = max(fetched_for.get(parameter.name, -1), used_at)
            if parameter.name not in self._available and parameter.name not in ahead:
                ahead[parameter.name] = parameter
                elements += parameter.elements
        return tuple(ahead.values())

    def _next_use(self, parameter: Parameter, after: int) -> int:
        return next((place for place in self._uses[parameter.name] if place > after), len(self.trace) - 1)

    def _kept_after(self, place: int, fetched_for: dict[str, int]) -> frozenset[str]:
        """Parameters of the module at this place that stay once it has run."""
        if place not in self._kept:
            names = {parameter.name for parameter in self.trace[place].parameters}
            step = place + 1
            kept = {name for name in names if name in self._limits.persistent or fetched_for.get(name, -1) > step}
            passed = 0
            for later in count(step):
                if later >= len(self.trace) or passed >= self._limits.reuse:
                    break
                kept.update(names.intersection(parameter.name for parameter in self.trace[later].parameters))
                passed += sum(parameter.elements for parameter in self.trace[later].parameters)
            self._kept[place] = frozenset(kept)
        return self._kept[place]
