"""The options that say which training step is meant, shared by `commbench training` and the replays."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from commbench.errors import UsageError

if TYPE_CHECKING:
    from commbench.training.call import Schedule
    from commbench.training.shapes import Shapes

MOST_RANKS = 1 << 20


@dataclass(frozen=True)
class Steps:
    """What was asked for: a model, and each strategy with each of its variants.

    Attributes:
        wanted: (strategy, variant) pairs, None for a strategy's default variant.
        settings: the framework's settings, by name.
    """

    model: "Shapes"
    wanted: tuple[tuple[str, str | None], ...]
    settings: Mapping[str, str]
    ranks_per_host: int | None

    def schedules(self, world_size: int) -> "tuple[Schedule, ...]":
        """The schedules on so many ranks. Raises UsageError."""
        from commbench.training.schedules import schedule

        return tuple(
            schedule(strategy, self.model, world_size, variant, self._of(strategy), self.ranks_per_host)
            for strategy, variant in self.wanted
        )

    def _of(self, strategy: str) -> dict[str, str]:
        """The settings that this strategy has; with one strategy all of them, so that an unknown one is an error."""
        strategies = {name for name, _ in self.wanted}
        others = {name for other in strategies - {strategy} for name in knob_names(other)}
        own = knob_names(strategy)
        return {name: value for name, value in self.settings.items() if name in own or name not in others}


def knob_names(strategy: str) -> frozenset[str]:
    """The names of a strategy's settings, with those that a framework has twice."""
    from commbench.training.schedules import strategy_named

    record = fields(strategy_named(strategy).knobs)
    return frozenset(name for each in record for name in (each.name, each.metadata.get("also")) if name)


def add_step_options(parser: argparse.ArgumentParser, *, strategies: str) -> None:
    """Add them to a parser.

    Args:
        strategies: the default of --strategy.
    """
    step = parser.add_argument_group("which step")
    add = step.add_argument
    add("--model", metavar="NAME", help="llama2-7b, -13b, -70b, llama3-8b, -70b, -405b, gpt3-175b, tiny, or the path "
        "of a Hugging Face config.json")  # fmt: skip
    add("--parameters", metavar="N", help="instead of --model: so many parameters (7e9) in --layers equal blocks")
    add("--layers", metavar="N", type=int, help="blocks of such a model")
    add("--strategy", metavar="NAME,...", default=strategies, help=f"dp, zero1, zero2, zero3, fsdp (default "
        f"{strategies})")  # fmt: skip
    add("--variant", metavar="NAME,...", help="what is copied, such as paper, deepspeed or ideal of zero2 (default: "
        "today's default of the framework)")  # fmt: skip
    add("--set", metavar="NAME=VALUE", action="append", default=[], dest="settings", help="a setting by the "
        "framework's own name, such as bucket_cap_mb=1 or reduce_bucket_size=4e5; as often as needed")  # fmt: skip
    add("--ranks-per-host", metavar="N", type=int, help="ranks on each host: where a mesh of two dimensions shards")


def steps_of(raw: Mapping[str, Any]) -> Steps:
    """What the options ask for. Raises UsageError."""
    from commbench.training.schedules import strategy_named, variants

    strategies = list(dict.fromkeys(strategy_named(word).name for word in _words(raw["strategy"], "--strategy")))
    named = _words(raw["variant"], "--variant") if raw["variant"] is not None else []
    spelled = [name.strip().lower().replace("_", "-") for name in named]
    wanted: list[tuple[str, str | None]] = []
    for strategy in strategies:
        own = [name for name in spelled if name in variants(strategy)]
        wanted += [(strategy, name) for name in dict.fromkeys(own)] or [(strategy, None)]
    if unknown := [name for name in spelled if not any(name in variants(strategy) for strategy in strategies)]:
        known = "; ".join(f"{strategy}: {', '.join(variants(strategy))}" for strategy in strategies)
        raise UsageError("an unknown variant was asked for", expected=known, found=repr(unknown[0]),
                         fix="use one of these, or leave --variant away")  # fmt: skip
    hosted = raw["ranks_per_host"]
    if hosted is not None and not 1 <= hosted <= MOST_RANKS:
        raise UsageError("--ranks-per-host makes no sense", expected=f"1 to {MOST_RANKS}", found=str(hosted),
                         fix="give the ranks of one host, such as 8")  # fmt: skip
    return Steps(_model(raw), tuple(wanted), _settings(raw["settings"]), hosted)


def world_size_of(value: int | None) -> int | None:
    """--world-size, checked."""
    if value is not None and not 1 <= value <= MOST_RANKS:
        raise UsageError("the world size makes no sense", expected=f"1 to {MOST_RANKS} ranks", found=str(value),
                         fix="--world-size 8")  # fmt: skip
    return value


def _model(raw: Mapping[str, Any]) -> "Shapes":
    from commbench.training import shapes

    if (raw["model"] is None) == (raw["parameters"] is None):
        raise UsageError("a step needs one model", expected="--model NAME, or --parameters N --layers L",
                         found="both" if raw["model"] else "neither", fix="--model llama2-7b")  # fmt: skip
    if raw["model"] is not None:
        return shapes.model_named(raw["model"])
    return shapes.model_of_size(raw["parameters"], raw["layers"])


def _settings(words: Sequence[str]) -> dict[str, str]:
    settings: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise UsageError("a setting cannot be read", expected="--set NAME=VALUE, without blanks around the =",
                             found=repr(word), fix="--set bucket_cap_mb=25")  # fmt: skip
        if name.strip() in settings:
            raise UsageError(f"the setting {name.strip()} was given twice", expected="each setting once",
                             found=repr(word), fix="leave one of them away")  # fmt: skip
        settings[name.strip()] = value
    return settings


def _words(text: str, option: str) -> list[str]:
    words = [word for word in text.replace(" ", ",").split(",") if word]
    if not words:
        raise UsageError(f"{option} is empty", expected="names, comma-separated", found=repr(text),
                         fix=f"leave {option} away for its default")  # fmt: skip
    return words
