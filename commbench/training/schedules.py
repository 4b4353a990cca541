"""Schedules by strategy: which variants there are, what they copy, and the calls of one optimizer step.

schedule("zero2", model_named("llama2-7b"), world_size=8, settings={"reduce_bucket_size": "2e8"}) -> Schedule
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from commbench.errors import UsageError
from commbench.training import ddp, deepspeed_zero3, deepspeed_zero12, fsdp
from commbench.training.call import Ranks, Schedule
from commbench.training.knobs import Described, described, read_knobs
from commbench.training.shapes import Shapes


@dataclass(frozen=True)
class Strategy:
    """A way to spread one training step over ranks.

    Attributes:
        name: the word on the command line.
        title: one line for a help text.
        variants: name to one line of what it copies; the first is the default.
        knobs: the frozen record of its settings.
        build: (model, ranks, variant, knobs) to the schedule.
        fixed: settings that a variant stands for, by variant.
        absent: settings that a variant does not have, by variant.
    """

    name: str
    title: str
    variants: Mapping[str, str]
    knobs: type[Any]
    build: Callable[[Shapes, Ranks, str, Any], Schedule]
    fixed: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    absent: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


_MULTI_RANK_OFF = {"multi-rank-off": {"use_multi_rank_bucket_allreduce": "false"}}


def _zero12(stage: int, title: str) -> Strategy:
    build = partial(deepspeed_zero12.zero12, stage)
    record, names = deepspeed_zero12.Zero12Knobs, deepspeed_zero12.VARIANTS
    return Strategy(f"zero{stage}", title, names, record, build, _MULTI_RANK_OFF, deepspeed_zero12.ABSENT)


_ALL = (
    Strategy("dp", "replicas; gradients are all-reduced", ddp.VARIANTS, ddp.DdpKnobs, ddp.ddp),
    _zero12(1, "optimizer states sharded"),
    _zero12(2, "optimizer states and gradients sharded"),
    Strategy(
        "zero3", "everything sharded, by DeepSpeed", deepspeed_zero3.VARIANTS, deepspeed_zero3.Zero3Knobs,
        deepspeed_zero3.zero3,
    ),
    Strategy(
        "fsdp", "everything sharded, by PyTorch", fsdp.VARIANTS, fsdp.FsdpKnobs, fsdp.fsdp, absent=fsdp.ABSENT
    ),
)  # fmt: skip
STRATEGIES: dict[str, Strategy] = {strategy.name: strategy for strategy in _ALL}


def variants(strategy: str) -> tuple[str, ...]:
    """The variants of a strategy, its default first. Raises UsageError for an unknown strategy."""
    return tuple(strategy_named(strategy).variants)


def knobs_of(strategy: str) -> tuple[Described, ...]:
    """The settings of a strategy, for a help text. Raises UsageError for an unknown strategy."""
    return described(strategy_named(strategy).knobs)


def strategy_named(name: str) -> Strategy:
    """A strategy by its name; `ddp`, `ZeRO-2` and the like are understood. Raises UsageError if unknown."""
    word = name.lower().replace("-", "").replace("_", "").replace(" ", "")
    word = {"ddp": "dp", "fsdp2": "fsdp", "fullyshard": "fsdp"}.get(word, word)
    if word not in STRATEGIES:
        raise UsageError(
            "an unknown strategy was asked for", expected=", ".join(STRATEGIES), found=repr(name),
            fix="use one of these",
        )  # fmt: skip
    return STRATEGIES[word]


def schedule(
    strategy: str,
    model: Shapes,
    world_size: int,
    variant: str | None = None,
    settings: Mapping[str, str] | None = None,
    ranks_per_host: int | None = None,
) -> Schedule:
    """The collectives of one optimizer step.

    Args:
        strategy: a name of `STRATEGIES`.
        model: its parameters.
        world_size: ranks of the step, at least 1.
        variant: one of `variants(strategy)`; the first where None.
        settings: the framework's settings by the framework's names, each as text.
        ranks_per_host: where ranks are on hosts of equal size; a mesh of two dimensions shards within a host.

    Raises:
        UsageError: for a strategy, variant or setting that is unknown or cannot be, or fewer than one rank.
    """
    chosen = strategy_named(strategy)
    name = next(iter(chosen.variants)) if variant is None else _variant_named(chosen, variant)
    if world_size < 1:
        raise UsageError(
            "a step needs ranks", expected="a world size of at least 1", found=str(world_size),
            fix="give --world-size N",
        )  # fmt: skip
    knobs = read_knobs(chosen.knobs, chosen.name, _settings(chosen, name, settings or {}))
    built = chosen.build(model, Ranks(world_size, ranks_per_host), name, knobs)
    return replace(built, assumptions=(*model.assumptions, *built.assumptions), knobs=asdict(knobs))


def _settings(strategy: Strategy, variant: str, given: Mapping[str, str]) -> dict[str, str]:
    """The settings as given, with those that the variant stands for."""
    fixed, absent = strategy.fixed.get(variant, {}), strategy.absent.get(variant, ())
    for name, value in given.items():
        if name in absent or value.strip().lower() != fixed.get(name, value.strip().lower()):
            raise UsageError(
                f"the variant {variant} of {strategy.name} and a setting do not go together",
                expected=f"{name}={fixed[name]}" if name in fixed else f"no {name}, which {variant} does not have",
                found=f"{name}={value}", fix=f"leave {name} out, or choose another variant",
            )  # fmt: skip
    return {**given, **fixed}


def _variant_named(strategy: Strategy, text: str) -> str:
    word = _plain(text)
    for name in strategy.variants:
        if word == _plain(name):
            return name
    raise UsageError(
        f"an unknown variant of {strategy.name} was asked for", expected=", ".join(strategy.variants),
        found=repr(text), fix="use one of these",
    )  # fmt: skip


def _plain(text: str) -> str:
    return text.strip().lower().replace("-", "_")
