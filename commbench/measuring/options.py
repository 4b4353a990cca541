"""What a sweep was asked to do: the command line, read and checked."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from commbench.collectives import COLLECTIVES, DEFAULT_COLLECTIVES, OPERATORS, collective_named, operator_named
from commbench.dtypes import ELEMENT_BYTES, dtype_named
from commbench.errors import UsageError
from commbench.measuring.command_line import TORCHRUN, Extras, parser, refuse_foreign
from commbench.measuring.plan import Choices, sizes_between
from commbench.measuring.stopping import Rule
from commbench.sweepfile.records import Mode, Placement
from commbench.units import parse_duration, parse_size

DEFAULT_GRAPH_CALLS = 20  # collectives captured in one graph: as many as nccl-tests' -n 20 -G captures


@dataclass(frozen=True)
class Options:
    """What a sweep was asked to do.

    Attributes:
        given: names the options that the user typed, by their long names.
        own: flags that only the program has that read them.
        arguments: the words that were typed.
        program, extras: what they were read with.
    """

    choices: Choices
    rule: Rule
    given: frozenset[str]
    backend: str | None
    modes_given: bool
    rotate: bool
    label: str | None
    file: Path | None
    resume: Path | None
    plan_only: bool
    world_sizes: tuple[int, ...]
    groups: str | None
    time_limit: float | None
    shared_device: bool
    json: bool
    own: Mapping[str, bool] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    program: str = "commbench.sweep"
    extras: Extras = TORCHRUN


def parse(arguments: Sequence[str], program: str = "commbench.sweep", extras: Extras = TORCHRUN) -> Options:
    """Read the command line. `-h` prints help and raises SystemExit(0), as argparse does.

    Raises:
        UsageError: in four parts.
    """
    refuse_foreign(arguments)
    raw = vars(parser(program, extras).parse_intermixed_args(list(arguments)))
    _refuse_empty(raw)
    given = frozenset(name for name, value in raw.items() if value is not None and value is not False and value != [])
    modes = _modes(raw)
    rule = Rule(
        target=_positive(raw["target"], "--target", 2.0) / 100.0,
        limit=parse_duration(raw["limit"]) if raw["limit"] else Rule.limit,
        samples=_at_least(raw["iters"], 1, "-n"),
        calls=_at_least(raw["agg_iters"], 1, "-m"),
        warm_up=_at_least(raw["warmup_iters"], 0, "-w"),
        check=raw["check"] != 0,
        replays=_at_least(raw["cudagraph"], 0, "-G") or None,  # 0 is nccl-tests' own default: no graph
    )
    choices = Choices(
        collectives=_collectives(raw["collectives"]),
        sizes=sizes_between(
            parse_size(raw["minbytes"] or "8"), parse_size(raw["maxbytes"] or "64M"),
            factor=raw["stepfactor"], step=parse_size(raw["stepbytes"]) if raw["stepbytes"] else None,
        ),
        dtypes=_named(raw["datatype"] or "float32", dtype_named, tuple(ELEMENT_BYTES)),
        operators=_named(raw["op"] or "sum", operator_named, OPERATORS),
        root=_at_least(raw["root"], 0, "-r") or 0,
        placements=_placements(raw["placement"]),
        modes=modes or ("isolated",),
        cycles=_at_least(raw["run_cycles"], 1, "-N") or 1,
        shuffle=raw["shuffle"],
        calls_in_graph=rule.calls or DEFAULT_GRAPH_CALLS,
        with_compute=raw["with_compute"],
    )  # fmt: skip
    if raw["resume"] and raw["output_file"] and raw["resume"] != raw["output_file"]:
        raise UsageError("--resume and -J name two files", expected="one file that is continued",
                         found=f"--resume {raw['resume']} -J {raw['output_file']}", fix="leave -J away")  # fmt: skip
    return Options(
        choices, rule, given, raw["backend"], bool(modes), raw["buffers"] != "same", raw["label"],
        Path(raw["output_file"]) if raw["output_file"] else None, Path(raw["resume"]) if raw["resume"] else None,
        raw["plan"], _world_sizes(raw["world_sizes"]), raw["groups"],
        _time_limit(raw["timeout"]), raw["shared_device"], raw["json"],
        {name: raw[name] for name in extras.flags}, tuple(arguments), program, extras,
    )  # fmt: skip


def continued(options: Options, stored: object) -> Options:
    """The options of a resumed run: with nothing but `--resume FILE`, those that the file was started with.

    Args:
        stored: the words that were typed then, as the file has them: whatever somebody may have written there.
    """
    words = [word for word in stored if isinstance(word, str)] if isinstance(stored, list) else None
    if words is None or not options.given <= _SAYS_NOTHING_OF_THE_PLAN:
        return options
    then = parse([word for word in words if word not in ("-h", "--help")], options.program, options.extras)
    return replace(
        then, file=None, resume=options.resume, time_limit=options.time_limit, json=options.json,
        backend=options.backend, plan_only=options.plan_only,
    )  # fmt: skip


_SAYS_NOTHING_OF_THE_PLAN = frozenset({"resume", "output_file", "timeout", "json", "backend", "plan"})


def with_default_modes(options: Options, modes: tuple[Mode, ...]) -> Options:
    """The options with the device's default modes where none was asked for."""
    if options.modes_given:
        return options
    wanted = (*modes, "graph") if options.rule.replays else modes  # -G adds graphs to what is measured anyway
    return replace(options, choices=replace(options.choices, modes=wanted))


def _words(text: str) -> list[str]:
    return [word for word in text.replace(" ", ",").split(",") if word]


def _named(text: str, named: Callable[[str], str], every: tuple[str, ...]) -> tuple[str, ...]:
    """The names in a list, each once; `all` means every one, as in nccl-tests."""
    return every if text.strip() == "all" else tuple(dict.fromkeys(named(word) for word in _words(text)))


def _collectives(names: Sequence[str]) -> tuple[str, ...]:
    words = [word for name in names for word in _words(name)]
    if words == ["all"]:
        return tuple(COLLECTIVES)
    return tuple(dict.fromkeys(collective_named(word).name for word in words)) or DEFAULT_COLLECTIVES


def _placements(text: str | None) -> tuple[Placement, ...] | None:
    if text is None:
        return None
    aliases = {"in-place": "in", "inplace": "in", "in_place": "in", "out-of-place": "out", "out_of_place": "out"}
    words = [aliases.get(word, word) for word in _words(text.lower())]
    if not words or set(words) - {"in", "out"}:
        raise UsageError("an unknown placement was asked for", expected="in, out or in,out", found=repr(text),
                         fix="--placement in,out")  # fmt: skip
    return cast(tuple[Placement, ...], tuple(dict.fromkeys(words)))


def _modes(raw: dict[str, Any]) -> tuple[Mode, ...]:
    words = _words(raw["mode"].lower()) if raw["mode"] else []
    if set(words) - {"isolated", "pipelined", "graph"}:
        raise UsageError("an unknown mode was asked for", expected="isolated, pipelined, graph",
                         found=repr(raw["mode"]),
                         fix="--mode isolated,pipelined")  # fmt: skip
    if words and raw["cudagraph"] and "graph" not in words:
        words.append("graph")
    return cast(tuple[Mode, ...], tuple(dict.fromkeys(words)))


def _refuse_empty(raw: Mapping[str, Any]) -> None:
    """An option whose value is empty is an unset variable of somebody's script, not a wish for the default."""
    for name, value in raw.items():
        if value == "" or (isinstance(value, list) and "" in value):
            raise UsageError("an option has an empty value", expected=f"a value for {name.replace('_', '-')}",
                             found="an empty string", fix="leave the option away for its default")  # fmt: skip
        if isinstance(value, str) and not value.isprintable():
            raise UsageError("an option has characters that cannot be shown or stored",
                             expected=f"printable UTF-8 text for {name.replace('_', '-')}", found=ascii(value),
                             fix="write it in plain characters")  # fmt: skip


def _time_limit(text: str | None) -> float | None:
    seconds = parse_duration(text) if text else None
    if seconds == 0.0:
        raise UsageError("the time limit leaves no time", expected="-T above 0", found=f"-T {text}",
                         fix="leave -T away for no limit")  # fmt: skip
    return seconds


def _world_sizes(text: str | None) -> tuple[int, ...]:
    words = _words(text or "")
    if not all(word.isdecimal() and int(word) for word in words):
        raise UsageError("the world sizes cannot be read", expected="whole numbers from 1, such as 2,4,8",
                         found=repr(text), fix="--world-sizes 2,4,8")  # fmt: skip
    return tuple(dict.fromkeys(int(word) for word in words))


def _at_least(value: int | None, least: int, option: str) -> int | None:
    if value is not None and value < least:
        raise UsageError(f"{option} is too small", expected=f"{least} or more", found=str(value),
                         fix=f"leave {option} away for its default")  # fmt: skip
    return value


def _positive(value: float | None, option: str, default: float) -> float:
    if value is not None and not 0.0 < value <= 100.0:
        raise UsageError(f"{option} is out of range", expected="percent above 0, at most 100", found=str(value),
                         fix=f"{option} 2")  # fmt: skip
    return default if value is None else value
