"""`commbench training SWEEP ...`: what one optimizer step's communication costs, from measured curves."""

import sys
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from commbench.arguments import Parser
from commbench.errors import RefusedModelError, UsageError
from commbench.training.step_options import Steps, add_step_options, steps_of, world_size_of
from commbench.units import format_seconds, parse_duration, parse_size

if TYPE_CHECKING:
    from commbench.training.profiled import Profile

DIFFERS = 1  # exit code where a trace is not the schedule
FLOPS_PER_PARAMETER = 6  # a token's forward and backward pass: a multiplication and an addition, three times


def main(argv: Sequence[str] | None = None) -> int:
    """Print the steps that were asked for. Returns 0, or 3 when an interconnect could not answer for one.

    Raises:
        CommbenchError: for options that make no sense and files that cannot be read.
    """
    raw = vars(command_line().parse_intermixed_args(sys.argv[1:] if argv is None else list(argv)))
    asked = steps_of(raw)
    compute, words = _compute(raw, asked)
    gpu_memory = _gpu_memory(raw["gpu_memory"])
    world_size = world_size_of(raw["world_size"])

    from commbench.training.predictions import predict_steps
    from commbench.training.sources import read_sources

    profile = _profile(raw, asked)
    if profile is not None and world_size is None:
        world_size = profile.world_size
    sources = read_sources(raw["sweeps"])
    if raw["sweeps"] and not sources:
        raise RefusedModelError("nothing can be priced from these files", expected="measured curves",
                           found="none that can be used", fix="commbench show FILE says what they hold")  # fmt: skip
    for source in sources:
        if world_size is None and not source.world_sizes:
            raise RefusedModelError(f"{source.name} does not say among how many ranks it was measured",
                               expected="the number of ranks", found="none in the file",
                               fix="import it again with --world-size N")  # fmt: skip
    if not sources and world_size is None:
        raise UsageError("the number of ranks is not known", expected="a sweep, or --world-size N", found="neither",
                         fix="--world-size 8")  # fmt: skip
    columns = [
        (source, asked.schedules(world_size or max(source.world_sizes if source else (), default=1)))
        for source in sources or (None,)
    ]
    steps = [(row[number], source) for number in range(len(asked.wanted)) for source, row in columns]
    modes = None if raw["mode"] is None else (raw["mode"],)
    predictions = predict_steps(steps, compute_seconds=compute, modes=modes, assume_ring=raw["assume_ring"])
    agreement = None
    if profile is not None:
        from commbench.training.agreement import compare

        agreement = compare(predictions[0].schedule, profile)
    if raw["json"]:
        import msgspec

        from commbench.showing.training_document import training_document

        document = training_document(predictions, with_schedule=raw["schedule"], gpu_memory=gpu_memory)
        if agreement is not None:
            from commbench.showing.agreement import agreement_document

            document["trace"] = agreement_document(agreement)
        sys.stdout.write(msgspec.json.encode(document).decode() + "\n")
    else:
        from commbench.showing.training import draw, draw_schedule

        if raw["schedule"]:
            sys.stdout.write("\n".join(draw_schedule(each.schedule, each.priced) for each in predictions))
        if agreement is not None:
            from commbench.showing.agreement import draw_agreement

            sys.stdout.write(draw_agreement(predictions[0].schedule, agreement) + "\n")
        if sources or not (raw["schedule"] or agreement):
            sys.stdout.write(draw(predictions, gpu_memory=gpu_memory, compute=words))
    refusals = dict.fromkeys(str(each.refused) for each in predictions if each.refused)
    for refusal in refusals:
        from commbench.showing.training import clean_lines

        sys.stderr.write(f"commbench: {clean_lines(refusal)}\n")
    if refusals:
        return RefusedModelError.exit_code
    return DIFFERS if agreement is not None and not agreement.agrees else 0


def command_line() -> Parser:
    """The parser, for `-h` and tests."""
    parser = Parser(
        "commbench training",
        "Predict the communication of one optimizer step, collective by collective, from measured sweeps: time,\n"
        "bytes, memory, and with the time of the computation what of it is exposed. Several strategies and\n"
        "interconnects stand side by side. Without a sweep: calls and bytes only.",
        "Exit code: 0, 1 where a trace differs from the schedule, 2 for a usage error, 3 where a sweep does not\n"
        "answer for what a step needs.",
    )
    parser.add_argument("sweeps", nargs="*", metavar="SWEEP", help="a sweep file, or models saved by commbench fit")
    add_step_options(parser, strategies="dp,zero2,zero3")
    add = parser.add_argument
    add("--world-size", metavar="N", type=int, help="ranks of the step (default: as many as were measured)")
    add("--schedule", action="store_true", help="print the ordered calls")
    add("--mode", choices=("isolated", "pipelined", "graph"), help="price from this mode only (default: pipelined, "
        "graph or isolated, the first that was measured)")  # fmt: skip
    add("--assume-ring", action="store_true", help="price numbers of ranks that were not measured by the law of a "
        "ring on equal links; such calls count as extrapolated")  # fmt: skip
    add("--gpu-memory", metavar="SIZE", help="memory of a GPU (80GiB): marks what does not fit")
    add("--trace", metavar="FILE", help="compare a real step, traced by PyTorch's profiler, with the schedule")
    add("--trace-step", metavar="N", type=int, help="which ProfilerStep of the trace (default: the last)")
    add("--json", action="store_true", help="print one JSON document instead of tables")
    compute = parser.add_argument_group("computation, to see what of the communication it hides")
    add = compute.add_argument
    add("--step-compute", metavar="TIME", help="forward and backward passes of a step on one GPU, such as 350ms")
    add("--tokens", metavar="N", help="instead: tokens of a step on one GPU, with --flops and --mfu")
    add("--flops", metavar="N", help="peak of one GPU in floating-point operations a second, such as 989e12")
    add("--mfu", metavar="SHARE", help="share of that peak that is reached, such as 0.4")
    return parser


def _compute(raw: Mapping[str, Any], asked: Steps) -> tuple[float | None, str | None]:
    """The computation of a step (s), and how it was found."""
    parts = [raw[name] for name in ("tokens", "flops", "mfu")]
    if raw["step_compute"] is not None and any(part is not None for part in parts):
        raise UsageError("the computation is given twice", expected="--step-compute, or --tokens --flops --mfu",
                         found="both", fix="leave one of them away")  # fmt: skip
    if raw["step_compute"] is not None:
        seconds = parse_duration(raw["step_compute"])
        if seconds <= 0.0:
            raise UsageError("the computation takes no time", expected="--step-compute above 0",
                             found=raw["step_compute"], fix="leave it away for communication alone")  # fmt: skip
        return seconds, f"{format_seconds(seconds)} a step (--step-compute)"
    if all(part is None for part in parts):
        return None, None
    if any(part is None for part in parts):
        missing = [f"--{name}" for name in ("tokens", "flops", "mfu") if raw[name] is None]
        raise UsageError("the computation is not fully known", expected="--tokens, --flops and --mfu together",
                         found=f"no {' and no '.join(missing)}", fix="give all three")  # fmt: skip
    tokens, flops = (_positive(raw[name], f"--{name}", 1e30) for name in ("tokens", "flops"))
    mfu = _positive(raw["mfu"], "--mfu", 1.0)
    seconds = FLOPS_PER_PARAMETER * asked.model.elements * tokens / (flops * mfu)
    words = (
        f"{format_seconds(seconds)} a step: {FLOPS_PER_PARAMETER} operations a parameter and token (attention not "
        f"counted), {tokens:g} tokens a GPU, {100 * mfu:.3g} % of {flops:.3g} a second"
    )
    return seconds, words


def _profile(raw: Mapping[str, Any], asked: Steps) -> "Profile | None":
    """The traced step, if one is to be compared."""
    if raw["trace"] is None:
        if raw["trace_step"] is not None:
            raise UsageError("there is no trace", expected="--trace FILE with --trace-step", found="--trace-step alone",
                             fix="add --trace FILE")  # fmt: skip
        return None
    if len(asked.wanted) != 1:
        raise UsageError("a trace is of one step", expected="one --strategy and one --variant",
                         found=f"{len(asked.wanted)} of them", fix="--strategy dp")  # fmt: skip
    from commbench.training.profiled import read_profile

    return read_profile(raw["trace"], raw["trace_step"])


def _gpu_memory(text: str | None) -> int | None:
    return None if text is None else parse_size(text)


def _positive(text: str, option: str, most: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not isfinite(value) or not 0.0 < value <= most:
        raise UsageError(f"{option} cannot be used", expected=f"a number above 0, at most {most:g}", found=repr(text),
                         fix=f"{option} 0.4" if most == 1.0 else f"{option} 1e6")  # fmt: skip
    return value
