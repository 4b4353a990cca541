"""The shape of a model: its parameters in the order of registration, and in the order a forward pass uses them.

Schedules need nothing else of a model: frameworks bucket, shard and gather by these two orders and by element counts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from math import prod


@dataclass(frozen=True, slots=True)
class Parameter:
    """One trainable tensor: its full name in the model, and its shape."""

    name: str
    shape: tuple[int, ...]

    @property
    def elements(self) -> int:
        """How many elements it has."""
        return prod(self.shape)

    @property
    def module(self) -> str:
        """The module it is registered in: its name without the last part."""
        return self.name.rpartition(".")[0]


@dataclass(frozen=True)
class Shapes:
    """A model as schedules see it.

    Attributes:
        name: for tables.
        source: where the shapes come from.
        parameters: in the order in which the model registers them (torch's `model.parameters()`).
        executed: the modules in the order in which a forward pass starts them, containers before what is in them
            (the whole model is ""); modules without parameters matter only to frameworks that act at each module.
        blocks: the repeated layers, in order: names of modules whose parameters are used together.
        lookups: modules whose first use reads rows instead of multiplying (embeddings), which costs next to nothing.
        tied: modules that use another module's parameters (an output projection tied to the embedding), and whose.
        constants: modules whose output needs no gradient, so that a backward pass does not see them.
        assumptions: what was taken for granted in reading the shapes.
    """

    name: str
    source: str
    parameters: tuple[Parameter, ...]
    executed: tuple[str, ...]
    blocks: tuple[str, ...] = ()
    lookups: tuple[str, ...] = ()
    tied: Mapping[str, str] = field(default_factory=dict)
    constants: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()

    @cached_property
    def elements(self) -> int:
        """All parameters together (Psi)."""
        return sum(parameter.elements for parameter in self.parameters)

    @cached_property
    def by_module(self) -> dict[str, tuple[Parameter, ...]]:
        """The parameters that each module registers itself, in order."""
        modules: dict[str, list[Parameter]] = {}
        for parameter in self.parameters:
            modules.setdefault(parameter.module, []).append(parameter)
        return {module: tuple(parameters) for module, parameters in modules.items()}

    @cached_property
    def used(self) -> tuple[str, ...]:
        """The modules that register parameters, in the order in which a forward pass uses them; tied ones twice."""
        registering = (self.tied.get(module, module) for module in self.executed)
        return tuple(module for module in registering if module in self.by_module)

    @cached_property
    def gradient_order(self) -> tuple[Parameter, ...]:
        """Parameters in the order in which a backward pass finishes their gradients.

        It is the reverse of their first use; within a module (`y = x @ weight + bias`) autograd finishes what was
        used last first, so bias before weight.
        """
        modules = reversed(self.first_use)
        return tuple(parameter for module in modules for parameter in reversed(self.by_module[module]))

    @cached_property
    def first_use(self) -> dict[str, int]:
        """The place in `used` where each module first stands."""
        places: dict[str, int] = {}
        for place, module in enumerate(self.used):
            places.setdefault(module, place)
        return places

    @cached_property
    def work_before(self) -> tuple[float, ...]:
        """The share (0 to 1) of a forward pass that is done before each place of `used`, and 1 at the end.

        Work is counted in parameter elements, as matrix multiplications are proportional to them. A backward pass
        goes through the same places in reverse: what it has done after place i is 1 - work_before[i].
        """
        idle = {self.first_use[module] for module in self.lookups}
        work = [
            0 if place in idle else sum(parameter.elements for parameter in self.by_module[module])
            for place, module in enumerate(self.used)
        ]
        total = sum(work) or 1
        return tuple(done / total for done in accumulate(work, initial=0))

    def gradient_ready(self, parameter: Parameter) -> float:
        """The share of a backward pass that is done when this gradient is finished."""
        return 1.0 - self.work_before[self.first_use[parameter.module]]

    def block_of(self, module: str) -> str | None:
        """The block that a module is in, or None for what stands outside of all blocks."""
        return self._blocks_by_module[module]

    @cached_property
    def _blocks_by_module(self) -> dict[str, str | None]:
        blocks = set(self.blocks)
        found: dict[str, str | None] = {}
        for module in self.by_module:
            parts = module.split(".")
            prefixes = (".".join(parts[:end]) for end in range(1, len(parts) + 1))
            found[module] = next((prefix for prefix in prefixes if prefix in blocks), None)
        return found


def model_named(text: str) -> Shapes:
    """The shapes of a model by name (`llama2-7b`, `gpt3-175b`, `tiny`), or from a Hugging Face config.json.

    Raises:
        UsageError: for a name that is not known, or a file that cannot be read as a config.
    """
    from commbench.training.architectures import named
    from commbench.training.hf_config import shapes_of_file

    return shapes_of_file(text) if "/" in text or text.lower().endswith(".json") else named(text)


def model_of_size(parameters: str | float, layers: int | None) -> Shapes:
    """A Llama-shaped model of exactly this many parameters (`7e9`, `7B`, `350M`).

    Raises:
        UsageError: for a number that cannot be read, or where there can be no such model.
    """
    from commbench.training.sized import count_of, sized

    return sized(count_of(parameters), layers)
