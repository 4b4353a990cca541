"""The command line of a sweep: what nccl-tests users type, and what torchrun lets through."""

import argparse
import warnings
from pathlib import Path
from typing import Any

import pytest

from commbench.collectives import COLLECTIVES, DEFAULT_COLLECTIVES
from commbench.errors import UsageError
from commbench.measuring.command_line import parser
from commbench.measuring.options import parse, with_default_modes

OURS = [action for action in parser("commbench.sweep")._actions if action.option_strings]
SPELLINGS = [(option, action) for action in OURS for option in action.option_strings]


def value_of(action: argparse.Action) -> str | None:
    """A value that the option may have, None where it takes none."""
    if action.nargs == 0:
        return None
    return str(next(iter(action.choices))) if action.choices else "1"


@pytest.fixture(scope="module")
def torchrun() -> argparse.ArgumentParser:
    """torchrun's own parser."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = pytest.importorskip("torch.distributed.run")
        made: argparse.ArgumentParser = run.get_args_parser()
    return made


def through(torchrun: argparse.ArgumentParser, words: list[str]) -> list[str]:
    """What a program that torchrun starts gets to see of its words."""
    launch = ["--standalone", "--nproc-per-node", "2", "-m", "commbench.sweep"]
    seen: list[str] = torchrun.parse_args([*launch, *words]).training_script_args
    return seen


def test_no_long_option_begins_one_of_torchrun_s(torchrun: argparse.ArgumentParser) -> None:
    """torchrun has each of its own twice (--log-dir, --log_dir): a prefix is ambiguous and stops the launch."""
    theirs = [option for action in torchrun._actions for option in action.option_strings]
    longs = [option for option, _ in SPELLINGS if option.startswith("--")]
    assert [(o, t) for o in longs for t in theirs if t.startswith(o) and t != o] == []


@pytest.mark.parametrize(("option", "action"), SPELLINGS, ids=[option for option, _ in SPELLINGS])
def test_torchrun_leaves_each_option_to_us(
    option: str, action: argparse.Action, torchrun: argparse.ArgumentParser
) -> None:
    """`--x y`, `--x=y` and `-xy`, alone, behind a collective and before one, arrive as they were typed."""
    value = value_of(action)
    joined = f"{option}={value}" if option.startswith("--") else f"{option}{value}"
    for words in [[option]] if value is None else [[option, value], [joined]]:
        for ours in (words, ["all_reduce", *words], [*words, "all_reduce"]):
            assert ours == through(torchrun, ours)


def test_torchrun_leaves_all_options_together_to_us(torchrun: argparse.ArgumentParser) -> None:
    """The longest launch line there is."""
    ours = [word for option, action in SPELLINGS for word in (option, value_of(action)) if word is not None]
    assert ours == through(torchrun, ours)


@pytest.mark.parametrize("letter", list("befinmwcdorGNTJ"))
def test_every_letter_of_nccl_tests_that_the_contract_names_is_there(letter: str) -> None:
    """-b -e -f -i -n -w -m -c -d -o -r -G -N -T -J."""
    assert f"-{letter}" in dict(SPELLINGS)


@pytest.mark.parametrize(
    "line",
    [
        "-b 8 -e 128M -f 2 -g 1",
        "--minbytes 8 --maxbytes 128M --stepfactor 2",
        "--minbytes=8 --maxbytes=128M --stepfactor=2",
        "-b8 -e128M -f2",
        "-t 1 -g 1 -b 8 -e 128M",
        "-g1 -b 8 -e 128M",
        "-b 8 -e 128M -G 0",
        "-b 8 -e 128M --warmup_iters 5 --agg_iters 1",
    ],
)
def test_lines_of_nccl_tests_are_understood(line: str) -> None:
    """As they stand in its README, with one GPU a process."""
    assert (parse(line.split()).choices.sizes[0], parse(line.split()).choices.sizes[-1]) == (8, 128 << 20)


@pytest.mark.parametrize(
    "line",
    ["-g 8", "-g 8 -t 1", "-g 1 -t 2", "-t 2", "-g8", "-a 1", "-z 1", "-p 1", "-R 1", "-C 1", "-S 1", "-I 1", "-K 5",
     "-M 1", "-u 1", "-D 1", "-V 1", "-x 1", "-y 1"],
)  # fmt: skip
def test_letters_that_mean_nothing_here_are_explained(line: str) -> None:
    """Not `unrecognized arguments`, but why, and what to do instead."""
    with pytest.raises(UsageError, match="is an option of nccl-tests that commbench does not have") as caught:
        parse(["-b", "8", *line.split()])
    assert len(caught.value.fix) > 20


@pytest.mark.parametrize(
    ("names", "typed"),
    [
        (DEFAULT_COLLECTIVES, ""),
        (("all_reduce", "broadcast"), "all_reduce broadcast"),
        (("all_reduce", "broadcast"), "AllReduce,broadcast_perf"),
        (("all_reduce",), "allr all_reduce ar"),
        (tuple(COLLECTIVES), "all"),
        (("all_to_all",), "-b 8 a2a"),
        (("all_to_all", "reduce"), "a2a -b 8 reduce"),
        (("send_recv",), "sendrecv --json"),
        (("barrier",), "--plan barrier"),
    ],
)
def test_collectives_are_plain_words_anywhere(names: tuple[str, ...], typed: str) -> None:
    """Before, between and behind options, by any name that users know, each once."""
    assert names == parse(typed.split()).choices.collectives


@pytest.mark.parametrize(
    ("dtypes", "typed"),
    [(("float16",), "half"), (("float16", "bfloat16"), "fp16,bf16"), (("float32",), "float"), (("uint8",), "u8")],
)
def test_dtypes_have_the_names_that_users_know(dtypes: tuple[str, ...], typed: str) -> None:
    """nccl-tests', torch's and short ones."""
    assert dtypes == parse(["-d", typed]).choices.dtypes


@pytest.mark.parametrize(("ops", "typed"), [(("avg",), "mean"), (("sum", "prod"), "add,product"), (("min",), "MIN")])
def test_operators_have_the_names_that_users_know(ops: tuple[str, ...], typed: str) -> None:
    """Each once."""
    assert ops == parse(["-o", typed]).choices.operators


@pytest.mark.parametrize(
    ("placements", "typed"), [(None, None), (("in",), "in"), (("out", "in"), "out-of-place,in_place"), (("in",), "In")]
)
def test_placements(placements: tuple[str, ...] | None, typed: str | None) -> None:
    """None means both where they exist."""
    assert placements == parse([] if typed is None else ["--placement", typed]).choices.placements


@pytest.mark.parametrize(
    "line",
    ["-b x", "-b 16 -e 8", "-f 1", "-i 0", "-d float33", "-o xor", "-r -1", "--placement up", "--placement ,",
     "--mode fast", "--world-sizes 0", "--world-sizes two", "-n 0", "-m 0", "-w -1", "-G -1", "-N 0", "-c 2", "-T soon",
     "--target 0", "--target 101", "--target nan", "--limit x", "--buffers none", "--no-such-option", "allgatherer",
     "--resume a --output-file b", "-n", "--shuffle all_reduce"],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_in_four_parts(line: str) -> None:
    """A UsageError with words in every part, never a traceback or argparse's own exit."""
    with pytest.raises(UsageError) as caught:
        parse(line.split())
    error = caught.value
    assert all([error.wrong, error.expected, error.found, error.fix])


@pytest.mark.parametrize(
    ("attribute", "value", "line"),
    [
        ("samples", None, ""),
        ("samples", 7, "-n 7"),
        ("calls", 50, "-m 50"),
        ("warm_up", 0, "-w 0"),
        ("check", True, ""),
        ("check", True, "-c 1"),
        ("check", False, "-c 0"),
        ("replays", 3, "-G 3"),
        ("target", 0.02, ""),
        ("target", 0.005, "--target 0.5"),
        ("limit", 0.25, ""),
        ("limit", 1.5, "--limit 1500ms"),
    ],
)
def test_the_rule_of_sampling(attribute: str, value: Any, line: str) -> None:
    """Each letter sets its part."""
    assert value == getattr(parse(line.split()).rule, attribute)


@pytest.mark.parametrize(
    ("attribute", "value", "line"),
    [
        ("rotate", True, ""),
        ("rotate", False, "--buffers same"),
        ("label", "nvlink", "--label nvlink"),
        ("file", Path("a.jsonl"), "-J a.jsonl"),
        ("resume", Path("a.jsonl"), "--resume a.jsonl"),
        ("resume", Path("a.jsonl"), "--resume a.jsonl -J a.jsonl"),
        ("plan_only", True, "--plan"),
        ("world_sizes", (2, 4, 8), "--world-sizes 2,4,8,2"),
        ("time_limit", 20.0, "-T 20"),
        ("time_limit", 600.0, "-T 10min"),
        ("time_limit", None, ""),
        ("json", True, "--json"),
        ("shared_device", True, "--shared-device"),
        ("backend", "gloo", "--backend gloo"),
    ],
)
def test_where_and_what_comes_out(attribute: str, value: Any, line: str) -> None:
    """Each option sets its field."""
    assert value == getattr(parse(line.split()), attribute)


def test_options_that_were_typed_are_known_by_their_names() -> None:
    """Also those that were typed with a value of 0."""
    given = {"check", "root", "warmup_iters", "plan", "collectives"}
    assert given == parse(["ar", "-c", "0", "-r", "0", "-w", "0", "--plan"]).given
    assert given - {"collectives"} == parse(["-c", "0", "-r", "0", "-w", "0", "--plan"]).given


def test_groups_keep_their_words() -> None:
    """`--groups "DIV 2"`, as one word of the shell."""
    assert parse(["--groups", "DIV 2"]).groups == "DIV 2"


@pytest.mark.parametrize(
    ("modes", "line"),
    [
        (("pipelined",), "--mode pipelined"),
        (("graph", "isolated"), "--mode GRAPH,isolated"),
        (("isolated", "pipelined", "graph"), "--mode isolated,pipelined -G 5"),
    ],
)
def test_modes(modes: tuple[str, ...], line: str) -> None:
    """-G adds graphs to what was asked for."""
    assert modes == parse(line.split()).choices.modes


def test_modes_that_nobody_asked_for_are_the_device_s() -> None:
    """GPUs also have pipelined calls."""
    assert with_default_modes(parse([]), ("isolated", "pipelined")).choices.modes == ("isolated", "pipelined")
    assert with_default_modes(parse(["--mode", "graph"]), ("isolated",)).choices.modes == ("graph",)
    assert with_default_modes(parse(["-G", "5"]), ("isolated",)).choices.modes == ("isolated", "graph")


def test_a_time_limit_leaves_time() -> None:
    """-T 0 would end a run before its first point."""
    with pytest.raises(UsageError, match="leaves no time"):
        parse(["-T", "0"])


@pytest.mark.parametrize(("seed", "line"), [(None, ""), (1, "--shuffle"), (7, "--shuffle 7"), (0, "--shuffle 0")])
def test_shuffle_has_a_seed(seed: int | None, line: str) -> None:
    """1 where none is typed."""
    assert seed == parse(line.split()).choices.shuffle


@pytest.mark.parametrize(("calls", "line"), [(20, "--mode graph"), (5, "--mode graph -m 5")])
def test_a_graph_holds_20_calls_or_m(calls: int, line: str) -> None:
    """As nccl-tests' -n 20 -G 1 captures."""
    assert calls == parse(line.split()).choices.calls_in_graph


@pytest.mark.parametrize("words", [["-J", ""], ["-T", ""], ["-d", ""], [""]])
def test_an_empty_value_is_refused(words: list[str]) -> None:
    """`-T "$LIMIT"` with LIMIT unset must not mean no limit."""
    with pytest.raises(UsageError, match="empty value"):
        parse(words)


def test_a_label_that_cannot_be_stored_is_refused() -> None:
    """Bytes that are no UTF-8 arrive as lone surrogates."""
    with pytest.raises(UsageError, match="cannot be shown or stored"):
        parse(["--label", "\udcff"])
