"""What a test of pairs was asked to do: the command line of `commbench.pairs` and `mpi.pairs`, read and checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from commbench.arguments import Parser
from commbench.errors import UsageError
from commbench.judging.bounds import parse_rate
from commbench.measuring import options as sweep_options
from commbench.measuring.command_line import Extras
from commbench.units import MIB, parse_size

TORCHRUN = Extras(
    launch="torchrun --nnodes N --nproc-per-node 8 --rdzv-backend c10d --rdzv-endpoint HOST0:29500 "
    "-m commbench.pairs -J pairs.jsonl",
)
SAMPLES, WARM_UP = 10, 2
TOLERANCE = 0.03  # healthy nodes of one kind differ by about 1 %; a link at 95 % of its rate should not pass
GPU_MESSAGE, CPU_MESSAGE = 64 * MIB, 4 * MIB  # large enough that latency hides no lost bandwidth; some ms a call
PATHS = ("between", "inside")


@dataclass(frozen=True)
class PairsOptions:
    """What a test of pairs was asked to do.

    Attributes:
        message_bytes: None for what suits the device.
        samples, warm_up: calls of each pair in each round.
        tolerance: share by which a path may be slower than the others and still is healthy.
        expected: bytes/s that healthy pairs should carry in each direction, None to compare them with each other only.
        all_pairs: test every pair, not only O(log n) rounds.
        paths: between nodes, inside them, or both.
        sweep: what a session needs to know, as a sweep's options.
    """

    message_bytes: int | None
    samples: int
    warm_up: int
    check: bool
    tolerance: float
    expected: float | None
    all_pairs: bool
    paths: tuple[str, ...]
    file: Path | None
    json: bool
    sweep: sweep_options.Options

    @property
    def time_limit(self) -> float | None:
        """Seconds for the whole run (-T)."""
        return self.sweep.time_limit


def parse(arguments: Sequence[str], program: str = "commbench.pairs", extras: Extras = TORCHRUN) -> PairsOptions:
    """Read the command line. `-h` prints help and raises SystemExit(0), as argparse does.

    Raises:
        UsageError: in four parts.
    """
    raw = vars(command_line(program, extras).parse_args(list(arguments)))
    size = parse_size(raw["minbytes"]) if raw["minbytes"] is not None else None
    if size is not None and not 4 <= size <= 1 << 40:
        raise UsageError("the message makes no sense", expected="-b of 4 bytes or more", found=f"-b {raw['minbytes']}",
                         fix="use at least 1M: smaller ones measure latency, not the link")  # fmt: skip
    return PairsOptions(
        size // 4 * 4 if size is not None else None,
        _at_least(raw["iters"], 3, "-n"), _at_least(raw["warmup_iters"], 0, "-w"), raw["check"] != 0,
        tolerance_of(raw["tolerance"]), parse_rate(raw["expect"]) if raw["expect"] is not None else None,
        raw["all_pairs"], (raw["only"],) if raw["only"] else PATHS,
        Path(raw["output_file"]) if raw["output_file"] else None, raw["json"],
        sweep_options.parse(_for_the_session(raw, extras), program, extras),
    )  # fmt: skip


def command_line(program: str, extras: Extras = TORCHRUN) -> Parser:
    """The parser, for `-h` and tests."""
    parser = Parser(
        program,
        "Find the slow, late or broken node, GPU or link: all_reduces of pairs of ranks, many pairs at once, in\n"
        "rounds; what looks slow is tested again with partners that are known to be good.",
        "Exit code: 0 healthy, 1 a culprit was found, 2 usage or environment, 3 could not tell.\n"
        f"torchrun reports 1 for any of them but 0. Start it with a launcher:\n  {extras.launch}\n",
    )
    add = parser.add_argument
    add("-b", "--minbytes", metavar="SIZE", help="the message (default 64M on GPUs, 4M on CPUs)")
    add("-n", "--iters", metavar="N", type=int, default=SAMPLES, help=f"samples of a pair (default {SAMPLES})")
    add("-w", "--warmup-iters", metavar="N", type=int, default=WARM_UP, help=f"calls before (default {WARM_UP})")
    add("-c", "--check", metavar="0|1", type=int, choices=(0, 1), default=1, help="check a result of each pair "
        "(default 1)")  # fmt: skip
    add("--tolerance", metavar="SHARE", default=None, help="how much slower than the others still is healthy "
        f"(default {100 * TOLERANCE:g}%%)")  # fmt: skip
    add("--expect", metavar="RATE", help="what healthy pairs must carry in each direction, such as 10GB/s or 1Gbit/s "
        "(default: they are compared with each other only)")  # fmt: skip
    add("--all-pairs", action="store_true", help="test every pair (n-1 rounds), which finds every slow link; default: "
        "2 log2(n) rounds, which find every slow node")  # fmt: skip
    add("--only", choices=PATHS, help="only pairs between nodes, or only pairs inside them")
    add("-T", "--timeout", metavar="TIME", help="end the whole run after so long")
    add("-J", "--output-file", metavar="FILE", help="write every test to this file (never overwrites one)")
    add("--json", action="store_true", help="print one JSON document instead of text")
    add("--backend", metavar="NAME", help=extras.backends)
    add("--shared-device", action="store_true", help="test option: let several ranks share a GPU")
    for name, text in extras.flags.items():
        add(f"--{name.replace('_', '-')}", action="store_true", help=text)
    return parser


def tolerance_of(text: str | None) -> float:
    """Read a share: `3%` or `0.03`.

    Raises:
        UsageError: it is none between 0.1 % and 100 %.
    """
    if text is None:
        return TOLERANCE
    words = text.strip()
    try:
        share = float(words[:-1]) / 100 if words.endswith("%") else float(words)
    except ValueError:
        share = 0.0
    if not 0.001 <= share <= 1.0:
        raise UsageError("the tolerance makes no sense", expected="a share from 0.1% to 100%, such as 3% or 0.03",
                         found=f"--tolerance {text}", fix="leave --tolerance away for 3%")  # fmt: skip
    return share


def _for_the_session(raw: Mapping[str, object], extras: Extras) -> list[str]:
    words = ["all_reduce", "--buffers", "same"]
    for name in ("backend", "timeout"):
        if raw[name] is not None:
            words += [f"--{name}", str(raw[name])]
    flags = ("shared_device", *extras.flags)
    return words + [f"--{name.replace('_', '-')}" for name in flags if raw[name]]


def _at_least(value: int, least: int, option: str) -> int:
    if not least <= value <= 10_000:
        raise UsageError(f"{option} makes no sense", expected=f"{least} to 10000", found=str(value),
                         fix=f"leave {option} away for its default")  # fmt: skip
    return value
