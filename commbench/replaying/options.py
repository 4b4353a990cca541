"""What a replay was asked to do: the command line of `commbench.replay` and `mpi.replay`, read and checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from commbench.arguments import Parser
from commbench.errors import UsageError
from commbench.measuring import options as sweep_options
from commbench.measuring.command_line import Extras
from commbench.training.step_options import Steps, add_step_options, steps_of

ReplayMode = Literal["pipelined", "isolated"]
RUNS, WARM_UP = 5, 1

TORCHRUN = Extras(
    launch="torchrun --standalone --nproc-per-node 2 -m commbench.replay --model tiny --strategy zero3",
)


@dataclass(frozen=True)
class ReplayOptions:
    """What a replay was asked to do.

    Attributes:
        steps: the one step that is meant.
        sweeps: files that predict it; without any, its own sizes are measured first.
        mode: pipelined issues calls back to back, isolated aligns all ranks before each.
        runs, warm_up: replays that count, and those before them.
        sweep: what a session and its buffers need to know, as a sweep's options.
    """

    steps: Steps
    sweeps: tuple[str, ...]
    mode: ReplayMode
    runs: int
    warm_up: int
    check: bool
    with_schedule: bool
    json: bool
    sweep: sweep_options.Options
    flags: Mapping[str, bool] = field(default_factory=dict)

    @property
    def time_limit(self) -> float | None:
        """Seconds for the whole run (-T)."""
        return self.sweep.time_limit


def parse(arguments: Sequence[str], program: str = "commbench.replay", extras: Extras = TORCHRUN) -> ReplayOptions:
    """Read the command line. `-h` prints help and raises SystemExit(0), as argparse does.

    Raises:
        UsageError: in four parts.
    """
    raw = vars(command_line(program, extras).parse_args(list(arguments)))
    steps = steps_of(raw)
    if len(steps.wanted) != 1:
        raise UsageError("a replay is of one step", expected="one strategy and one variant",
                         found=", ".join(f"{strategy} {variant or ''}".strip() for strategy, variant in steps.wanted),
                         fix="replay them one after the other")  # fmt: skip
    words = [word for name in ("backend", "timeout", "buffers") if raw[name] is not None
             for word in (f"--{name}", raw[name])]  # fmt: skip
    words += ["--shared-device"] if raw["shared_device"] else []
    return ReplayOptions(
        steps, tuple(raw["sweep"]), raw["mode"], _at_least(raw["iters"], 1, "-n"),
        _at_least(raw["warmup_iters"], 0, "-w"), raw["check"] != 0, raw["schedule"], raw["json"],
        sweep_options.parse(words, program, extras),
    )  # fmt: skip


def command_line(program: str, extras: Extras) -> Parser:
    """The parser, for `-h` and tests."""
    parser = Parser(
        program,
        "Issue the collectives of one training step for real, in order, and print predicted against measured time,\n"
        "per collective and in total. No computation runs. Without --sweep the step's own sizes are measured first.",
        "Exit code: 0, 1 when a result was wrong, 2 for a usage error, 3 when the sweep does not answer.\n"
        f"Start it with a launcher:\n  {extras.launch}\n",
    )
    add_step_options(parser, strategies="zero3")
    add = parser.add_argument_group("how to replay").add_argument
    add("--sweep", metavar="FILE", action="append", default=[], help="predict from this sweep file (several: again)")
    add("--mode", choices=("pipelined", "isolated"), default="pipelined", help="calls back to back (default), or all "
        "ranks aligned before each; predicted from curves of the same mode")  # fmt: skip
    add("-n", "--iters", metavar="N", type=int, default=RUNS, help=f"replays; the median counts (default {RUNS})")
    add("-w", "--warmup-iters", metavar="N", type=int, default=WARM_UP, help=f"replays before (default {WARM_UP})")
    add("-c", "--check", metavar="0|1", type=int, choices=(0, 1), default=1, help="check one result of each kind of "
        "call (default 1)")  # fmt: skip
    add("--buffers", choices=("rotate", "same"), help="rotate past the last-level cache (default), or the same buffer")
    add("-T", "--timeout", metavar="TIME", help="end the whole run after so long")
    add("--backend", metavar="NAME", help=extras.backends)
    add("--schedule", action="store_true", help="also print every call")
    add("--json", action="store_true", help="print one JSON document instead of a table")
    add("--shared-device", action="store_true", help="test option: let several ranks share a GPU")
    return parser


def _at_least(value: int, least: int, option: str) -> int:
    if not least <= value <= 10_000:
        raise UsageError(f"{option} makes no sense", expected=f"{least} to 10000", found=str(value),
                         fix=f"leave {option} away for its default")  # fmt: skip
    return value
