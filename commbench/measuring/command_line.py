"""The command line of a sweep, the same for torchrun and MPI. Letters are nccl-tests', with nccl-tests' meaning.

No long option here may be a proper prefix of one of torchrun's: torchrun has each of its own twice (`--log-dir`,
`--log_dir`), so a prefix is ambiguous and it would stop before commbench runs.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from commbench.arguments import Parser
from commbench.collectives import COLLECTIVES, DEFAULT_COLLECTIVES
from commbench.errors import UsageError

# Letters that nccl-tests users type and that mean nothing here: (why, what to do).
_NOT_OURS = {
    "-g": "ranks come from the launcher: torchrun --nproc-per-node N starts N of them, one per GPU",
    "-t": "ranks come from the launcher: torchrun --nproc-per-node N starts N of them, one per GPU",
    "-a": "every sample is already the slowest rank's (nccl-tests' -a 3), and the fastest rank's is stored beside it",
    "-z": "choose how calls are timed with --mode isolated,pipelined,graph",
    "-p": "process groups are always formed before anything is timed",
    "-R": "buffer registration is nccl-tests' own",
    "-C": "the host clock times CPUs and the device clock GPUs",
    "-S": "the sweep file holds the times at which a sweep started and ended",
    "-I": "every sample is stored and judged: there is no need to ask for a per-iteration report",
    "-K": "warm-up calls (-w) are never part of the samples",
    "-M": "--plan prints the memory that a sweep needs",
    "-u": "buffers are aligned to 512 bytes",
    "-V": "device-side collectives are nccl-tests' own",
    "-x": "set NCCL_CTA_POLICY in the environment: the sweep file keeps it",
    "-y": "torch chooses the stream that its calls run on",
    "-D": "device-side collectives are nccl-tests' own",
}


@dataclass(frozen=True)
class Extras:
    """What one program's command line has that another's has not.

    Attributes:
        launch: a whole launch line, as an example.
        backends: what --backend may be, for its help.
        flags: options that only this program has, by their long names as Python writes them, and their helps.
        own_output: the launcher leaves each rank its standard output; mpirun puts a terminal of 80 columns in between.
    """

    launch: str = "torchrun --standalone --nproc-per-node 2 -m commbench.sweep -b 8 -e 64M -f 2 -J sweep.jsonl"
    backends: str = "gloo or nccl (default: nccl where there is a GPU)"
    flags: Mapping[str, str] = field(default_factory=dict)
    own_output: bool = True


TORCHRUN = Extras()


def parser(program: str, extras: Extras = TORCHRUN) -> Parser:
    """The parser, for `-h` and tests."""
    p = Parser(program, _ABOUT, f"{_EPILOG}  {extras.launch}\n")
    add = p.add_argument
    add("collectives", nargs="*", metavar="COLLECTIVE", help=f"any of {', '.join(COLLECTIVES)} (default: "
        f"{', '.join(DEFAULT_COLLECTIVES)}); also `all`")  # fmt: skip
    what = p.add_argument_group("what to measure")
    add = what.add_argument
    add("-b", "--minbytes", metavar="SIZE", help="first size (default 8)")
    add("-e", "--maxbytes", metavar="SIZE", help="last size (default 64M)")
    add("-f", "--stepfactor", metavar="N", type=int, help="factor between sizes (default 2)")
    add("-i", "--stepbytes", metavar="SIZE", help="bytes between sizes, instead of -f")
    add("-d", "--datatype", metavar="TYPE", help="dtypes, comma-separated, or `all` (default float32)")
    add("-o", "--op", metavar="OP", help="operators, comma-separated, or `all`: sum, avg, min, max, prod (default sum)")
    add("-r", "--root", metavar="RANK", type=int, help="root of reduce, broadcast, gather, scatter (default 0)")
    add("--placement", metavar="in,out", help="in place, out of place (default: both where they exist)")
    add("--mode", metavar="MODE", help="isolated, pipelined, graph, comma-separated "
        "(default: isolated on CPUs, isolated and pipelined on GPUs)")  # fmt: skip
    add("--world-sizes", metavar="N,…", help="measure among the first N ranks, a sweep for each N")
    add("--groups", metavar="N", help="run in N disjoint groups of neighbouring ranks at once; also `DIV n` (groups "
        "of n ranks) and `MOD n` (n groups of every n-th rank), as NCCL_TESTS_SPLIT")  # fmt: skip
    how = p.add_argument_group("how to measure")
    add = how.add_argument
    add("-n", "--iters", metavar="N", type=int, help="samples of each point: exactly N, whatever --target says")
    add(
        "--target",
        metavar="PERCENT",
        type=float,
        help="sample until the median's 95 %% interval is within ± this (default 2)",
    )
    add("--limit", metavar="TIME", help="… or until a point has taken so long (default 0.25s)")
    add(
        "-m",
        "--agg-iters",
        metavar="N",
        type=int,
        help="calls per sample in pipelined mode, calls in a graph (default: calibrated; 20)",
    )
    add("-w", "--warmup-iters", metavar="N", type=int, help="warm-up calls (default: 5, fewer of long calls)")
    add("-G", "--cudagraph", metavar="N", type=int, help="replay each graph N times per sample; adds mode graph")
    add("-N", "--run-cycles", metavar="N", type=int, help="repeat the whole plan N times (default 1)")
    add("--shuffle", metavar="SEED", nargs="?", type=int, const=1, help="order of points at random, anew in each cycle")
    add(
        "--buffers",
        choices=("rotate", "same"),
        help="rotate past the last-level cache (default), or always the same buffer",
    )
    add(
        "-c",
        "--check",
        metavar="0|1",
        type=int,
        choices=(0, 1),
        help="check results before and after timing (default 1)",
    )
    add("--with-compute", action="store_true", help="on GPUs: measure sizes from 1 MiB a second time beside a running "
        "matrix product, as a training step overlaps them")  # fmt: skip
    add("-T", "--timeout", metavar="TIME", help="end the whole run after so long, keeping what is finished")
    where = p.add_argument_group("where, and what comes out")
    add = where.add_argument
    add("--backend", metavar="NAME", help=extras.backends)
    add("-J", "--output-file", metavar="FILE", help="write the sweep file (never overwrites one)")
    add("--resume", metavar="FILE", help="continue a sweep file: measure only what it lacks")
    add("--label", metavar="NAME", help="name of this setting, stored in the file (nvlink, host, …)")
    add("--plan", action="store_true", help="print points, memory and expected time; measure nothing")
    add("--json", action="store_true", help="print one JSON document instead of a table")
    add(
        "--shared-device",
        action="store_true",
        help="test option: let several ranks share a GPU; their times are no link's",
    )
    for name, text in extras.flags.items():
        how.add_argument(f"--{name.replace('_', '-')}", action="store_true", help=text)
    for letter in ("-g", "-t"):  # `-g 1 -t 1` says what is true here, so it does no harm
        add(letter, dest=f"foreign{letter}", type=int, help=argparse.SUPPRESS)
    return p


_ABOUT = (
    "Time collectives across message sizes, check every result, and keep every sample in a sweep file. Options have "
    "nccl-tests' letters; README.md lists where their meaning differs (-n, -m, -J)."
)

_EPILOG = """\
Sizes are bytes; K, M, G (and KiB, MiB, GiB) are powers of 1024. A size is the whole, unsharded buffer of one rank.
Start it with a launcher:
"""


def refuse_foreign(arguments: Sequence[str]) -> None:
    """Explain options of nccl-tests that have no meaning here, rather than call them unknown."""
    for word, next_word in pairwise([*arguments, ""]):
        letter, value = word[:2], word[2:] or next_word
        why = _NOT_OURS.get(letter)
        if why and not (letter in ("-g", "-t") and value == "1"):
            raise UsageError(f"{letter} is an option of nccl-tests that commbench does not have",
                             expected="the options that -h lists", found=word, fix=why)  # fmt: skip
