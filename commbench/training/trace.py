"""The modules of a forward and a backward pass in the order in which they start, those without parameters too.

A module starts before the modules inside it, in both directions; a backward pass goes through them in reverse.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from commbench.training.call import Phase
from commbench.training.shapes import Parameter, Shapes


@dataclass(frozen=True, slots=True)
class Visit:
    """One module starting to run.

    Attributes:
        phase: the direction.
        parameters: those that it registers itself, none for a container.
        starts: the share (0 to 1) of the phase's work that is done by then.
        finished: the parameters whose gradients are finished by it, in that order; none in forward.
    """

    phase: Phase
    parameters: tuple[Parameter, ...]
    starts: float
    finished: tuple[Parameter, ...] = ()


def passes(model: Shapes) -> tuple[Visit, ...]:
    """A forward pass and the backward pass after it."""
    places = _places(model)
    visits: list[Visit] = []
    done = 0.0
    for module in model.executed:
        visits.append(Visit("forward", _parameters(model, module), done))
        done = model.work_before[places[module] + 1] if module in places else done
    done = 0.0
    for module in reversed(_by_end(model.executed)):
        if module in model.constants:
            continue
        parameters = _parameters(model, module)
        last = module in places and model.first_use[model.used[places[module]]] == places[module]
        visits.append(Visit("backward", parameters, done, parameters[::-1] if last else ()))
        done = 1.0 - model.work_before[places[module]] if module in places else done
    return tuple(visits)


def _places(model: Shapes) -> dict[str, int]:
    """Where in `model.used` each module that holds parameters stands."""
    holding = [module for module in model.executed if _parameters(model, module)]
    return {module: place for place, module in enumerate(holding)}


def _parameters(model: Shapes, module: str) -> tuple[Parameter, ...]:
    return model.by_module.get(model.tied.get(module, module), ())


def _by_end(executed: Sequence[str]) -> list[str]:
    """Modules in the order in which they end, from the order in which they start."""
    ended: list[str] = []
    running: list[str] = []
    for module in executed:
        while running and running[-1] and not module.startswith(f"{running[-1]}."):
            ended.append(running.pop())
        running.append(module)
    return ended + running[::-1]
