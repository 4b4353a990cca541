"""The command line of `commbench nccl-tests`: our long options, and nccl-tests' own letters, passed on as they are.

Only -J and -T are ours here: -J names the sweep file, -T limits the whole run of each program.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from commbench.arguments import Parser
from commbench.collectives import DEFAULT_COLLECTIVES, collective_named, operator_named
from commbench.dtypes import dtype_named
from commbench.errors import UsageError
from commbench.importing.nccl_tests.binaries import PROGRAMS
from commbench.sweepfile.records import Mode
from commbench.units import parse_duration, parse_size

PROGRAM = "commbench nccl-tests"


class Own(NamedTuple):
    """An option of nccl-tests: its long name and what it is for, in its words."""

    long: str
    metavar: str
    help: str


OWN = {
    "t": Own("nthreads", "N", "threads per process (default 1)"),
    "g": Own("ngpus", "N", "GPUs per thread (default 1)"),
    "b": Own("minbytes", "SIZE", "first size (default 32M)"),
    "e": Own("maxbytes", "SIZE", "last size (default 32M)"),
    "i": Own("stepbytes", "SIZE", "bytes between sizes"),
    "f": Own("stepfactor", "N", "factor between sizes"),
    "n": Own("iters", "N", "timed iterations (default 20)"),
    "m": Own("agg-iters", "N", "calls per iteration (default 1)"),
    "w": Own("warmup-iters", "N", "warm-up iterations (default 1, 5 in older versions)"),
    "N": Own("run-cycles", "N", "repeat the sizes N times"),
    "p": Own("parallel-init", "0|1", "threads initialise NCCL in parallel"),
    "c": Own("check", "N", "check N times; 0: do not check"),
    "o": Own("op", "OP", "sum, prod, min, max, avg, mulsum, all"),
    "d": Own("datatype", "TYPE", "dtype in nccl-tests' words or ours, or all"),
    "r": Own("root", "RANK", "root, or all"),
    "z": Own("blocking", "0-3", "wait after calls, with or without a barrier"),
    "y": Own("stream-null", "0|1", "use the null stream"),
    "G": Own("cudagraph", "N", "calls in a CUDA graph, replayed N times: mode graph"),
    "C": Own("report-cputime", "0|1", "report the time on the CPU"),
    "S": Own("report-timestamps", "0|1", "a timestamp per row"),
    "a": Own("average", "0-3", "rank 0, mean, fastest, slowest rank (default here: 3)"),
    "R": Own("local-register", "0-2", "register buffers"),
    "x": Own("cta-policy", "0-2", "NCCL's CTA policy"),
    "D": Own("device-implementation", "N", "NCCL's device API"),
    "V": Own("device-cta-count", "N", "CTAs of the device API"),
    "M": Own("memory", "0|1", "report GPU memory"),
    "u": Own("unalign", "N", "misalign buffers by N elements"),
    "I": Own("per-iter-timing", "0|1", "time each iteration with CUDA events"),
    "K": Own("per-iter-skip", "N", "leave the first N out of -I's summary"),
}
_SIZES = frozenset("bei")
_WORDS = {"o": frozenset({"all", "mulsum"}), "d": frozenset({"all", "char", "int"}), "r": frozenset({"all"})}
# what nccl-tests calls the dtypes, where ours differ; an unknown name would be measured as float without an error
_DTYPES = {
    "float32": "float", "float16": "half", "float64": "double", "float8_e4m3": "f8e4m3", "float8_e5m2": "f8e5m2"
}  # fmt: skip
_SIZE = re.compile(r"[0-9]+(?:\.[0-9]+)?[KMG]?", re.IGNORECASE)
_INTEGER = re.compile(r"0x[0-9a-f]+|0|[1-9][0-9]*", re.IGNORECASE)


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
    for name, value in raw.items():
        for text in value if isinstance(value, list) else [value]:
            _refuse_unprintable(name, text)
    named = raw["collectives"] or list(DEFAULT_COLLECTIVES)
    collectives = [*PROGRAMS] if named == ["all"] else [collective_named(name).name for name in named]
    own = {letter: _value(letter, raw[f"own_{letter}"]) for letter in OWN if raw[f"own_{letter}"] is not None}
    if {"b", "e"} <= own.keys() and parse_size(own["b"]) > parse_size(own["e"]):
        raise UsageError(
            "the first size is above the last", expected="-b at most -e", found=f"-b {own['b']} -e {own['e']}",
            fix="exchange them",
        )  # fmt: skip
    return Options(
        tuple(collectives), own, tuple(words[split + 1 :]),
        Path(raw["binaries"]).expanduser() if raw["binaries"] else None, raw["launch"], _limit(raw["limit"]),
        Path(raw["file"]) if raw["file"] else None, raw["label"], raw["json"],
    )  # fmt: skip


def _value(letter: str, text: str) -> str:
    """A value as nccl-tests reads it; what it would misread without an error is refused."""
    if letter in _SIZES:
        size = parse_size(text)
        return text if _SIZE.fullmatch(text) else str(size)
    if text in _WORDS.get(letter, ()):
        return text
    if letter == "o":
        return operator_named(text)
    if letter == "d":
        name = dtype_named(text)
        return _DTYPES.get(name, name)
    if not _INTEGER.fullmatch(text) or (number := int(text, 0)) < 0 or number >= 1 << 31:
        raise UsageError(
            f"-{letter} cannot be read", expected="a whole number, 0 or more", found=repr(text),
            fix=f"-{letter} is nccl-tests' --{OWN[letter].long}: {OWN[letter].help}",
        )  # fmt: skip
    if letter in "tgn" and number == 0:
        raise UsageError(
            f"-{letter} leaves nothing to do", expected="1 or more", found=f"-{letter} {text}", fix=f"-{letter} 1"
        )
    return text


def _limit(text: str | None) -> float | None:
    seconds = parse_duration(text) if text else None
    if seconds == 0.0:
        raise UsageError(
            "the time limit leaves no time", expected="-T above 0", found=f"-T {text}", fix="leave -T away for no limit"
        )
    return seconds


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
