"""The command line of `commbench nccl-tests`: our long options, and nccl-tests' own letters, passed on as they are.

Only -J and -T are ours here: -J names the sweep file, -T limits the whole run of each program.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from commbench.arguments import Parser
from commbench.collectives import DEFAULT_COLLECTIVES, collective_named
from commbench.errors import UsageError
from commbench.importing.nccl_tests.binaries import PROGRAMS
from commbench.importing.nccl_tests.own_options import OWN, own_value
from commbench.sweepfile.records import Mode
from commbench.units import parse_duration, parse_size

PROGRAM = "commbench nccl-tests"


@dataclass(frozen=True)
class Options:
    """What was asked for.

    Attributes:
        collectives: by our names, in the order of the command line.
        own: nccl-tests' options by letter, with the values it will get.
        further: words after `--`, which go to nccl-tests unread.
        time_limit: seconds for each program's run, None for no limit.
        file: the sweep file.
    """

    collectives: tuple[str, ...]
    own: Mapping[str, str]
    further: tuple[str, ...] = ()
    binaries: Path | None = None
    launch: str | None = None
    time_limit: float | None = None
    file: Path | None = None
    label: str | None = None
    json: bool = False

    def number(self, letter: str, default: int) -> int:
        """The value of an option that takes a whole number."""
        return int(self.own[letter], 0) if letter in self.own else default

    @property
    def mode(self) -> Mode | None:
        """Calls are issued back to back, unless -z waits after each; with -G they stand in a graph."""
        if self.number("G", 0):
            return "graph"
        return None if self.number("z", 0) else "pipelined"

    @property
    def processes_gpus(self) -> int:
        """GPUs that one process drives (-g times -t)."""
        return self.number("g", 1) * self.number("t", 1)


def parse(argv: Sequence[str]) -> Options:
    """Read the command line.

    Raises:
        UsageError: for options that make no sense.
    """
    words = list(argv)
    split = words.index("--") if "--" in words else len(words)
    raw = vars(_parser().parse_intermixed_args(words[:split]))
    for name, given in raw.items():
        for text in given if isinstance(given, list) else [given]:
            _refuse_unprintable(name, text)
    named, folder = _without_folder(raw["collectives"] or list(DEFAULT_COLLECTIVES), raw["binaries"])
    collectives = [*PROGRAMS] if named == ["all"] else [collective_named(name).name for name in named]
    own = {letter: own_value(letter, raw[f"own_{letter}"]) for letter in OWN if raw[f"own_{letter}"] is not None}
    if {"b", "e"} <= own.keys() and parse_size(own["b"]) > parse_size(own["e"]):
        raise UsageError(
            "the first size is above the last", expected="-b at most -e", found=f"-b {own['b']} -e {own['e']}",
            fix="exchange them",
        )  # fmt: skip
    further = tuple(words[split + 1 :])
    _refuse_known(further)
    return Options(
        tuple(collectives), own, further,
        folder, raw["launch"], _limit(raw["limit"]),
        Path(raw["file"]) if raw["file"] else None, raw["label"], raw["json"],
    )  # fmt: skip


def _without_folder(named: Sequence[str], binaries: str | None) -> tuple[list[str], Path | None]:
    """The programs by their names, and the folder they are in: `build/all_reduce_perf` says both."""
    folders = {Path(name).parent for name in named if "/" in name}
    folders |= {_folder(binaries)} if binaries else set()
    if len(folders) > 1:
        raise UsageError(
            "nccl-tests' programs stand in several folders", expected="one folder, or --binaries DIR and names",
            found=", ".join(sorted(map(str, folders))), fix="run commbench nccl-tests once for each folder",
        )  # fmt: skip
    names = [name.rsplit("/", 1)[-1].removesuffix("_mpi") if "/" in name else name for name in named]
    return names, folders.pop().expanduser() if folders else None


def _folder(binaries: str) -> Path:
    """The folder that --binaries means: itself, or that of a program."""
    path = Path(binaries)
    return path.parent if path.name.removesuffix("_mpi") in PROGRAMS.values() else path


def _limit(text: str | None) -> float | None:
    seconds = parse_duration(text) if text else None
    if seconds == 0.0:
        raise UsageError(
            "the time limit leaves no time", expected="-T above 0", found=f"-T {text}", fix="leave -T away for no limit"
        )
    return seconds


def _refuse_known(further: tuple[str, ...]) -> None:
    """What decides how rows are read must be seen; after `--` it would not be."""
    long = {own.long.replace("-", "_") for own in OWN.values()}
    for word in further:
        name = word.partition("=")[0].lstrip("-").replace("-", "_")
        if (word.startswith("--") and name in long) or re.match(rf"-[{''.join(OWN)}JTh]", word):
            raise UsageError(
                "an option stands after -- that belongs before it", expected="only what commbench does not know",
                found=word, fix=f"write it before --; {PROGRAM} --help lists these options",
            )  # fmt: skip
        _refuse_unprintable("--", word)


def _refuse_unprintable(name: str, text: object) -> None:
    if not isinstance(text, str):
        return
    option = f"-{name[-1]}" if name.startswith("own_") else name
    if not text.strip():
        raise UsageError(
            "an option has no value", expected=f"a value for {option}", found=repr(text),
            fix="leave the option away for its default",
        )  # fmt: skip
    if not text.isprintable():
        raise UsageError(
            "an option has characters that cannot be shown or stored", expected=f"printable text for {option}",
            found=ascii(text), fix="write it in plain characters",
        )  # fmt: skip


def _parser() -> Parser:
    parser = Parser(PROGRAM, _ABOUT, _EPILOG)
    parser.usage = f"{PROGRAM} [COLLECTIVE …] [nccl-tests' options] [-J FILE] [--launch 'mpirun -np 16'] [-- …]"
    parser.add_argument(
        "collectives", nargs="*", metavar="COLLECTIVE",
        help=f"{', '.join(PROGRAMS)}, or all (default: {' '.join(DEFAULT_COLLECTIVES)})",
    )  # fmt: skip
    ours = parser.add_argument_group("ours")
    ours.add_argument("--binaries", metavar="DIR", help="nccl-tests' folder (or its build folder)")
    ours.add_argument("--launch", metavar="LINE", help="launcher with its options: 'mpirun -np 16', 'srun -n 16'")
    ours.add_argument("-T", "--timeout", dest="limit", metavar="TIME", help="end each program after so long, keep rows")
    ours.add_argument("-J", "--output-file", dest="file", metavar="FILE", help="the sweep file (never overwrites one)")
    ours.add_argument("--label", metavar="NAME", help="name of this setting, stored in the file (nvlink, host, …)")
    ours.add_argument("--json", action="store_true", help="print one JSON document instead of tables")
    own = parser.add_argument_group("nccl-tests' own, which it gets as they are")
    for letter, (long, metavar, text) in OWN.items():
        own.add_argument(f"-{letter}", f"--{long}", dest=f"own_{letter}", metavar=metavar, help=text)
    return parser


_ABOUT = "Run nccl-tests, one program a collective, and keep its rows in a sweep file as they come."

_EPILOG = """\
Programs are looked for in --binaries, else NCCL_TESTS_HOME, else PATH and the usual places. Words after -- go to them
unread. Defaults are nccl-tests' own, but for -a 3 (the slowest rank), where the version has it.

exit codes: 0 finished and right, 1 wrong data or no rows, 2 options, missing program, crash, 3 the time limit, or
sizes that memory did not allow
"""
