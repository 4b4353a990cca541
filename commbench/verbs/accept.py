"""`commbench accept LIMITS SWEEP ...`: does this machine reach what it must; pass, fail, or could not tell."""

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from commbench.arguments import Parser
from commbench.errors import CommbenchError, UsageError
from commbench.verbs.many_records import no_search_for_cycles

_MOST_LAUNCHES = 100


def main(argv: Sequence[str] | None = None) -> int:
    """Print the verdict. Returns 0 pass, 1 fail, 3 inconclusive or not verified (with --nagios 0, 2, 1, 3).

    Raises:
        CommbenchError: options, a limits file that makes no sense, files that cannot be read, a launch that failed;
            with --nagios that is 3 (unknown), too.
    """
    options = _parser().parse_args(argv)
    with no_search_for_cycles():
        return _answered(options)


def _answered(options: Any) -> int:
    if not options.nagios:
        return _run(options)
    from commbench.showing.monitoring import NAGIOS_UNKNOWN, nagios_error

    try:
        return _run(options)
    except CommbenchError as error:  # Nagios reads 2 as critical, and one line of stdout
        sys.stdout.write(nagios_error(error))
        sys.stderr.write(f"commbench: {error}\n")
        return NAGIOS_UNKNOWN


def _run(options: Any) -> int:
    if options.example or options.reference is not None:
        return _starting_point(options)
    if options.make_baseline:
        return _make_baseline(options)
    if options.limits is None:
        raise _nothing_given("a limits file", "commbench accept LIMITS SWEEP ...; --example prints a limits file")
    from commbench.judging.acceptance import accept
    from commbench.judging.judged import EXIT_CODES
    from commbench.judging.limits import read_limits
    from commbench.sweepfile.reader import read_sweeps

    limits = read_limits(options.limits)
    if options.keep and options.history is None:
        raise _nothing_given("--history", "--keep stores an accepted sweep in the folder of --history DIR")
    if options.plan:
        sys.stdout.write(_plan(options, limits))
        return 0
    baseline = [sweep for file in limits.baseline for sweep in read_sweeps(file)]
    sweeps = _measured(options, limits) if options.launch else _read(options.sweeps)
    extra: tuple[Any, ...] = ()
    notes: tuple[str, ...] = ()
    if options.history is not None:
        from commbench.judging.history import judge_history

        extra, notes = judge_history(limits, sweeps, options.history)
    result = accept(limits, sweeps, baseline, extra, notes)
    _write(options, result, sweeps)
    if options.keep and result.verdict == "pass":
        from commbench.judging.history import keep

        keep(sweeps, options.history)
    if options.nagios:
        from commbench.showing.monitoring import NAGIOS_CODES

        return NAGIOS_CODES[result.verdict]
    return EXIT_CODES[result.verdict]


def _read(paths: Sequence[str]) -> list[Any]:
    from commbench.judging.given_files import sweep_files
    from commbench.sweepfile.reader import read_sweeps

    if not paths:
        raise _nothing_given("sweep files", "name sweep files, or measure with --launch 'srun ...'")
    files = [file for path in paths for file in sweep_files(path)]
    return [sweep for file in files for sweep in read_sweeps(file)]


def _measured(options: Any, limits: Any) -> list[Any]:
    from commbench.accept import launch_lines, measured
    from commbench.importing.nccl_tests.signals import caught
    from commbench.interconnects.running import started, to_stderr

    if options.sweeps:
        raise _nothing_given("either sweep files or --launch", f"both --launch and {options.sweeps[0]}")
    launcher, program = _launcher(options)
    folder = _empty_folder(options)
    lines = list(launch_lines(limits, launcher, program, folder, options.launches, sys.executable))
    found: list[Any] = []
    with caught() as stopped:
        start = started(stopped, to_stderr)
        for number, (file, line) in enumerate(lines, 1):
            to_stderr(f"[{number}/{len(lines)}] {file}")
            found += measured(file, line, start)
    to_stderr(f"commbench: the sweeps are in {folder}")
    return found


def _empty_folder(options: Any) -> Path:
    """Where the sweeps go, made before anything is started."""
    try:
        folder = Path(options.folder or tempfile.mkdtemp(prefix="commbench-accept-"))
        folder.mkdir(parents=True, exist_ok=True)
        some = any(folder.glob("*.jsonl"))
        writable = os.access(folder, os.W_OK | os.X_OK)
    except (OSError, ValueError) as error:
        raise _no_folder(options.folder, getattr(error, "strerror", None) or str(error)) from None
    if not writable:
        raise _no_folder(options.folder, "it cannot be written to")
    if some:
        raise UsageError("sweep files are never overwritten", expected=f"no *.jsonl in {folder}", found="some",
                         fix=f"commbench accept {options.limits} {folder}, or another folder after -J")  # fmt: skip
    return folder


def _no_folder(name: str | None, why: str) -> UsageError:
    return UsageError("the sweeps have no place to go", expected="a folder after -J that can be made and written to",
                      found=f"{name or tempfile.gettempdir()}: {why}", fix="name another folder")  # fmt: skip


def _launcher(options: Any) -> tuple[Any, str]:
    from commbench.interconnects.programs import job
    from commbench.interconnects.starting import launcher_of

    if not 1 <= options.launches <= _MOST_LAUNCHES:
        raise UsageError("--launches is out of range", expected=f"1 to {_MOST_LAUNCHES}", found=str(options.launches),
                         fix="--launches 3")  # fmt: skip
    work = job(launcher_of(options.launch), options.program, [], dict(os.environ))
    if work.program == "nccl-tests":
        raise UsageError("nccl-tests is not launched by accept", expected="commbench.sweep or mpi.sweep",
                         found="--program nccl-tests",
                         fix="run commbench nccl-tests, then accept its sweep file")  # fmt: skip
    return work.launcher, work.program


def _plan(options: Any, limits: Any) -> str:
    import shlex

    from commbench.accept import launch_lines, wanted

    if not options.launch:
        return "".join(f"commbench.sweep {shlex.join(one.arguments)}\n" for one in wanted(limits))
    launcher, program = _launcher(options)
    folder = Path(options.folder or "FOLDER")
    lines = launch_lines(limits, launcher, program, folder, options.launches, sys.executable)
    return "".join(f"{shlex.join(line.words)}\n" for _, line in lines)


def _write(options: Any, result: Any, sweeps: Sequence[Any]) -> None:
    """The verdict first: a file that cannot be written must not take it away."""
    from commbench.showing import acceptance, junit, monitoring

    if options.json:
        text = acceptance.to_json(result)
    elif options.markdown:
        text = acceptance.draw_markdown(result)
    elif options.nagios:
        text = monitoring.nagios_line(result)
    else:
        text = acceptance.draw(result, every=options.all)
    sys.stdout.write(text)
    sys.stdout.flush()
    if options.junit is not None:
        _save(options.junit, junit.to_junit(result), "--junit")
    if options.prometheus is not None:
        ends = [sweep.end.finished_at for sweep in sweeps if sweep.end is not None]
        text = monitoring.prometheus_text(result, max(ends, default=None))
        _save(options.prometheus, text.encode(), "--prometheus")


def _save(path: str, content: bytes, option: str) -> None:
    """Write beside the file and rename: a collector must never read half of one."""
    file = Path(path)
    try:
        if file.exists() and not file.is_file():  # /dev/stdout, a pipe
            file.write_bytes(content)
            return
        beside = file.with_name(f".{file.name}.{os.getpid()}")
        beside.write_bytes(content)
        beside.replace(file)
    except (OSError, ValueError) as error:
        raise UsageError("a result cannot be written", expected=f"a path after {option} that can be written",
                         found=f"{path}: {getattr(error, 'strerror', None) or error}",
                         fix="name another file") from None  # fmt: skip


def _starting_point(options: Any) -> int:
    from commbench.judging.starting_points import example, names, reference

    if options.example:
        sys.stdout.write(example())
    elif options.reference == "list":
        sys.stdout.write("".join(f"{name}\n" for name in names()))
    else:
        sys.stdout.write(reference(options.reference))
    return 0


def _make_baseline(options: Any) -> int:
    from commbench.judging.baseline import make_baseline
    from commbench.judging.bounds import share_of

    paths = [path for path in (options.limits, *options.sweeps) if path is not None]
    if options.output is None:
        raise _nothing_given("--output", "--make-baseline SWEEP ... --output site.limits.toml")
    if Path(options.output).exists():
        raise UsageError("a limits file is never overwritten", expected="a new file after --output",
                         found=f"{options.output} exists", fix="name another file, or delete it first")  # fmt: skip
    made = make_baseline(
        _read(paths),
        false_alarms=share_of(options.false_alarms, "--false-alarms", 50),
        detect=share_of(options.detect, "--detect", 90),
        every_size=options.every_size,
        name=Path(options.output).name.removesuffix(".toml").removesuffix(".limits") or "limits",
    )
    _save(options.output, made.text.encode(), "--output")
    sys.stdout.write(made.summary)
    return 0


def _nothing_given(what: str, fix: str) -> UsageError:
    return UsageError("commbench accept cannot start", expected=what, found="none", fix=fix)


def _parser() -> Parser:
    parser = Parser(
        "commbench accept",
        "Hold sweeps against a limits file: pass, fail, inconclusive (the interval of the measurement lies across the\n"
        "limit) or not verified (missing, unchecked, another machine), the worst first.",
        "  commbench accept --example > site.limits.toml\n"
        "  commbench accept site.limits.toml sweep.jsonl --junit accept.xml\n"
        "  commbench accept site.limits.toml --launch 'srun -N 2 --ntasks-per-node 8' -J out/\n"
        "  commbench accept --make-baseline good/*.jsonl --output site.limits.toml\n\n"
        "Exit code: 0 pass, 1 fail, 3 inconclusive or not verified, 2 options, limits or files that cannot be used.",
    )
    add = parser.add_argument
    add("limits", nargs="?", metavar="LIMITS", help="the limits file (TOML)")
    add("sweeps", nargs="*", metavar="SWEEP", help="sweep files, or folders of them; all are judged")
    measure = parser.add_argument_group("measure first")
    add = measure.add_argument
    add("--launch", metavar="LINE", help="measure what the limits need: the launcher with its options, and no program")
    add("--launches", metavar="N", type=int, default=1, help="fresh launches of each sweep (default 1; 3 know more)")
    add("--program", metavar="NAME", help="commbench.sweep or mpi.sweep (default: as the launcher)")
    add("-J", dest="folder", metavar="FOLDER", help="where the sweep files go (default: a temporary folder)")
    add("--plan", action="store_true", help="print the sweeps that the limits need; measure nothing")
    nights = parser.add_argument_group("over nights")
    add = nights.add_argument
    add("--history", metavar="DIR", help="also compare with the accepted sweeps in DIR: drift and steps, since when")
    add("--keep", action="store_true", help="copy the sweeps into the folder of --history if they pass")
    limits = parser.add_argument_group("make limits")
    add = limits.add_argument
    add("--example", action="store_true", help="print a limits file with every kind of limit")
    add("--reference", metavar="NAME", help="print limits of a well-known machine to start from; `list` names them")
    add("--make-baseline", action="store_true", help="derive limits from the sweeps of several good launches")
    add("--output", metavar="FILE", help="where the derived limits go")
    add("--false-alarms", metavar="PERCENT", default="2 %", help="healthy launches that they may fail (default 2 %%)")
    add("--detect", metavar="PERCENT", default="5 %", help="slower machines that they must not pass (default 5 %%)")
    add("--every-size", action="store_true", help="a limit for every size (default: smallest, middle, largest)")
    out = parser.add_argument_group("what comes out")
    add = out.add_argument
    form = out.add_mutually_exclusive_group().add_argument
    form("--json", action="store_true", help="print one JSON document instead of text")
    form("--markdown", action="store_true", help="print a Markdown table")
    form("--nagios", action="store_true", help="print one line, and exit with Nagios' codes (0, 1, 2, 3)")
    add("--all", action="store_true", help="list every check that passed, too")
    add("--junit", metavar="FILE", help="also write JUnit XML")
    add("--prometheus", metavar="FILE", help="also write metrics for the node exporter's textfile collector")
    return parser
