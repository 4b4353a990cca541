"""`commbench interconnects`: the same sweep over several interconnects, each path proved, then compared."""

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from commbench.arguments import Parser
from commbench.errors import UsageError

_DEFAULT_LAUNCHES = 2
_MOST_LAUNCHES = 1000


def main(argv: Sequence[str] | None = None) -> int:
    """Run what is missing, prove it, print the comparison. Returns 0 compared, 1 a setting did not take or results
    were wrong, 3 nobody can tell.

    Raises:
        CommbenchError: options, a conflict with inherited variables, a launch that failed; finished files stay.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    ours, own = (words[: words.index("--")], words[words.index("--") + 1 :]) if "--" in words else (words, [])
    options = _parser().parse_args(ours)

    from commbench.importing.nccl_tests.signals import caught
    from commbench.interconnects.order import order
    from commbench.interconnects.programs import job
    from commbench.interconnects.running import run_all, started, to_stderr
    from commbench.interconnects.starting import launcher_of
    from commbench.interconnects.stored import Asked, claim, same_everywhere
    from commbench.judging.comparison import compare
    from commbench.judging.sides import side_of
    from commbench.launching.settings import parse_settings
    from commbench.showing.comparison import draw, to_json
    from commbench.verbs.compare import EXIT_CODES

    if not 1 <= options.launches <= _MOST_LAUNCHES:
        raise UsageError("--launches is out of range", expected=f"1 to {_MOST_LAUNCHES}", found=str(options.launches),
                         fix="--launches 2")  # fmt: skip
    settings = parse_settings([word for words in options.settings for word in words])
    launcher = launcher_of(options.launch)
    work = job(launcher, options.program, own, dict(os.environ), settings)
    folder = Path(options.folder)
    steps = order(settings, options.launches, folder)
    if options.plan:
        sys.stdout.write("".join(f"{step}: {shlex.join(work.line(step).words)}\n" for step in steps))
        return 0
    for step in steps:
        work.variables(step)  # a conflict is said before a folder is made
    claim(
        folder,
        Asked(
            launch=same_everywhere(options.launch),
            program=work.program,
            arguments=tuple(own),
            settings={setting.name: dict(setting.variables) for setting in settings},
        ),
    )
    with caught() as stopped:
        outcomes = run_all(steps, work, to_stderr, started(stopped, to_stderr))
    if any(outcome.elsewhere for outcome in outcomes):
        to_stderr("commbench: rank 0 is on another host, where the files and the comparison are")
        return 0
    sides = [
        side_of(
            setting.name,
            [sweep for outcome in outcomes if outcome.step.setting.name == setting.name for sweep in outcome.sweeps],
            [str(outcome.step.file) for outcome in outcomes if outcome.step.setting.name == setting.name],
        )
        for setting in settings
    ]
    result = compare(sides)
    sys.stdout.write(to_json(result) if options.json else draw(result))
    sys.stdout.flush()
    return EXIT_CODES[result.outcome]


def _parser() -> Parser:
    parser = Parser(
        "commbench interconnects",
        "Run the same sweep with and without NVLink (or any other pair of settings), in fresh processes, interleaved,\n"
        "prove from the library's own log that each setting took, and compare.",
        "Settings: nvlink, host (through host memory), network, pcie-p2p (only without NVLink), nvls (opt-in); sm and\n"
        "tcp for Open MPI; name:VARIABLE=VALUE,... for any other. docs/interconnects.md defines them.\n"
        "What stands after -- goes to the measuring program. The same line again runs what is missing.\n\n"
        "  commbench interconnects --launch 'torchrun --standalone --nproc-per-node 8' --settings nvlink,host \\\n"
        "      -J results/ -- -b 8 -e 4G -f 2\n"
        "  commbench interconnects --launch 'mpirun -n 2' --settings sm,tcp -J results/ -- all_reduce -b 8 -e 4M\n\n"
        "Exit code: 0 compared, different or not; 1 a setting did not take, or results were wrong; 2 options, a\n"
        "conflict with inherited variables, or a launch that failed; 3 could not tell.",
    )
    add = parser.add_argument
    add("--launch", metavar="LINE", required=True, help="the launcher with its options, and no program")
    add("--settings", metavar="NAME,...", required=True, action="append", nargs="+", help="two or more, the base first")
    add("-J", dest="folder", metavar="FOLDER", required=True, help="FOLDER/SETTING/LAUNCH.jsonl are the sweep files")
    add("--launches", metavar="N", type=int, default=_DEFAULT_LAUNCHES, help="fresh launches a setting (default 2)")
    add(
        "--program",
        metavar="NAME",
        help="commbench.sweep (default under torchrun), mpi.sweep (default under mpirun, mpiexec, srun), nccl-tests",
    )
    add("--plan", action="store_true", help="print the launch lines in their order; start nothing")
    add("--json", action="store_true", help="print the comparison as one JSON document")
    return parser
