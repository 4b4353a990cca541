"""All programs of one `commbench nccl-tests`, one after another, into one sweep file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from commbench.errors import LaunchError
from commbench.importing.nccl_tests.binaries import Binary, find
from commbench.importing.nccl_tests.capabilities import Capabilities
from commbench.importing.nccl_tests.command import command, remarks
from commbench.importing.nccl_tests.keeping import Keeper, raw_log_beside
from commbench.importing.nccl_tests.options import Options
from commbench.importing.nccl_tests.outcome import Outcome
from commbench.importing.nccl_tests.probing import capabilities, launcher_of
from commbench.importing.nccl_tests.running import ProgramRun, Surroundings
from commbench.importing.nccl_tests.sweep_records import SweepRecords
from commbench.importing.nccl_tests.transport import Logs
from commbench.launching.lines import Launcher, LaunchLine, launch_line


@dataclass(frozen=True)
class Prepared:
    """A program that may start: found, and asked what it can do."""

    binary: Binary
    able: Capabilities


def prepare(options: Options, environ: Mapping[str, str]) -> tuple[list[Prepared], Launcher | None]:
    """Find every program and ask it what it can do, before any of them measures.

    Raises:
        UsageError: a program is missing, or lacks an option; the launch line cannot be used.
        LaunchError: a program or launcher does not start.
    """
    launcher = launcher_of(options.launch, environ) if options.launch else None
    found = [find(name, options.binaries, environ, launched=launcher is not None) for name in options.collectives]
    able = {binary.path: capabilities(binary, launcher, environ) for binary in {b.path: b for b in found}.values()}
    prepared = [Prepared(binary, able[binary.path]) for binary in found]
    for one in prepared:
        command(one.binary, one.able, options, Path("probe.json"))  # refuses what this version lacks
    return prepared, launcher


def measure(
    prepared: Sequence[Prepared], launcher: Launcher | None, options: Options, around: Surroundings, keeper: Keeper
) -> list[Outcome]:
    """Run the programs in order; after a signal none is started any more.

    Raises:
        LaunchError, UsageError: what would happen to the other programs too.
        SweepFileError: a row could not be written.
    """
    outcomes: list[Outcome] = []
    for remark in dict.fromkeys(remark for one in prepared for remark in remarks(options, one.able)):
        around.reporter.tell(f"commbench: {remark}")
    for one in prepared:
        if around.stopped() is not None:
            break
        outcomes.append(_one(one, launcher, options, around, keeper))
    return outcomes


def _one(one: Prepared, launcher: Launcher | None, options: Options, around: Surroundings, keeper: Keeper) -> Outcome:
    name = one.binary.collective
    try:
        logs = Logs(options.file.absolute().parent if options.file else None, around.environ, options.launch)
    except OSError as error:
        raise LaunchError(
            "there is no folder for NCCL's logs", expected="a writable folder for temporary files",
            found=error.strerror or str(error), fix="set TMPDIR to a folder with room",
        ) from None  # fmt: skip
    try:
        wanted = command(one.binary, one.able, options, logs.folder / "output.json")
        line = (
            launch_line(launcher, arguments=wanted.arguments, environment=logs.environment, binary=one.binary.path)
            if launcher
            else LaunchLine((one.binary.path, *wanted.arguments), logs.environment)
        )
        raw = raw_log_beside(options.file, name)
        records = SweepRecords(wanted, options, around.environ, raw.path.name if raw.path else None, logs.environment)
        around.reporter.tell(f"{name}: {' '.join((Path(one.binary.path).name, *wanted.shown))}")
        run = ProgramRun(wanted, line, around, records, keeper, raw, logs)
        outcome = run.outcome()
        for notice in run.notices:
            around.reporter.tell(f"{name}: {notice}")
        if outcome.message is not None:
            where = f"; its output is in {raw.path}" if raw.path else ""
            around.reporter.tell(f"commbench: {name}: {outcome.message}{where}")
        return outcome
    finally:
        logs.remove()
