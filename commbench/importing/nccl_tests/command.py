"""The words that start one program of nccl-tests, and what is refused or said before it starts."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from commbench.errors import UsageError
from commbench.importing.nccl_family.json_schemas import STATISTICS
from commbench.importing.nccl_tests.binaries import Binary
from commbench.importing.nccl_tests.capabilities import Capabilities
from commbench.importing.nccl_tests.options import Options
from commbench.importing.nccl_tests.own_options import OWN

SLOWEST = "3"
_DEFAULT_AVERAGE = "1"


@dataclass(frozen=True)
class Command:
    """One program with its arguments.

    Attributes:
        arguments: without the program.
        shown: those without what is ours alone (where the JSON goes).
        statistic: what a row's time is.
        json_file: where its JSON will be, None where it cannot write any.
    """

    binary: Binary
    arguments: tuple[str, ...]
    shown: tuple[str, ...]
    statistic: str
    json_file: Path | None


def command(binary: Binary, able: Capabilities, options: Options, json_file: Path) -> Command:
    """Put the arguments together: the user's, the slowest rank and JSON where the version has them.

    Raises:
        UsageError: the version lacks an option that the user gave.
    """
    own = dict(options.own)
    for letter in own:
        if letter not in able.options:
            raise UsageError(
                f"this version of nccl-tests has no -{letter}",
                expected=f"{binary.path} with --{OWN[letter].long.replace('-', '_')} in its --help",
                found="its options are " + " ".join(f"-{known}" for known in sorted(able.options, key=str.lower)),
                fix=f"leave -{letter} away, or build a newer nccl-tests",
            )
    if "a" not in own and able.slowest:
        own["a"] = SLOWEST
    shown = [word for letter, value in own.items() for word in (f"-{letter}", value)] + [*options.further]
    arguments = [*(("-J", str(json_file)) if able.json else ()), *shown]
    average = str(int(own.get("a", _DEFAULT_AVERAGE), 0))
    if average not in STATISTICS:
        raise UsageError(
            "-a names no statistic", expected=", ".join(f"{number} ({text})" for number, text in STATISTICS.items()),
            found=f"-a {own['a']}", fix="leave -a away for the slowest rank",
        )  # fmt: skip
    statistic = STATISTICS[average]
    if options.number("C", 0):
        statistic = f"CPU time, {statistic}"
    return Command(binary, tuple(arguments), tuple(shown), statistic, json_file if able.json else None)


def remarks(options: Options, able: Capabilities) -> Iterator[str]:
    """What a user should know about these options before they measure."""
    gpus = options.processes_gpus
    if gpus > 1:
        yield (
            f"-g {options.number('g', 1)} -t {options.number('t', 1)}: each process drives {gpus} GPUs, one rank each; "
            "GPUs of a thread are launched one after another, which lengthens small messages. One process per GPU is "
            f"--launch 'mpirun -np {gpus}' with a build with MPI"
        )
    if not able.known:
        yield "its --help says nothing: only the options that every version has are used, and its table is read"
    elif not able.slowest and "a" not in options.own:
        yield "this version has no -a 3: its times are means over ranks, not the slowest rank's"
    if options.number("c", 1) == 0:
        yield "-c 0: nothing is checked, whatever its footer says"
