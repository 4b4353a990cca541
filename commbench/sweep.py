"""The main job: `torchrun … -m commbench.sweep`, once per rank, from launch to a sweep file that can be trusted.

`main` tells the story: read the options, meet, look at the world, measure what was asked for, show it. `mpi.sweep`
tells the same one with another session.
"""

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from commbench.measuring.command_line import TORCHRUN, Extras
from commbench.measuring.last_words import leave_error_file
from commbench.measuring.launched import Confirm, Launched, Program
from commbench.measuring.options import Options, parse
from commbench.measuring.session import Session
from commbench.sweepfile.reader import Sweep

OpenSession = Callable[[Options], Session]

WRONG, NOT_FINISHED = 1, 3  # exit codes of a run that went through


def main(arguments: Sequence[str] | None = None) -> int:
    """`torchrun … -m commbench.sweep OPTIONS`. Returns the exit code."""
    return run(torch_session, sys.argv[1:] if arguments is None else arguments, "commbench.sweep")


def torch_session(options: Options) -> Session:
    """The session of torchrun's workers."""
    from commbench.measuring.torch_session import TorchSession  # here, so that `-h` does not load torch

    return TorchSession(options.backend, os.environ, shared_device=options.shared_device)


def run(
    open_session: OpenSession,
    arguments: Sequence[str],
    program: str,
    *,
    extras: Extras = TORCHRUN,
    confirm: Confirm | None = None,
) -> int:
    """Run a sweep with any session. What goes wrong is told once, by rank 0, and ends every rank alike.

    Args:
        extras: the program's own part of the command line.
        confirm: who this rank really is, given what its launcher's variables say; they are believed if it is None.
    """
    return Program(
        program, partial(parse, program=program, extras=extras), open_session, _measured_and_shown, confirm
    ).run(arguments)


def _measured_and_shown(options: Options, launched: Launched) -> int:
    from commbench.measuring.facts import machine_facts
    from commbench.measuring.parts import describe_plan
    from commbench.measuring.reporter import Silent
    from commbench.measuring.sweeping import Run
    from commbench.showing.progress import Display

    session, identity, watch = launched.session, launched.identity, launched.watch
    world = session.join()
    reporter = Display() if identity.rank == 0 else Silent()
    measuring = Run(session, world, identity, options, watch, reporter, machine_facts(launched.environ))
    code = 0
    if options.plan_only:
        if identity.rank == 0:
            plan = measuring.plan()
            print(msgspec.json.encode(plan).decode() if options.json else describe_plan(plan), flush=True)
    else:
        recorder = measuring.measure()
        reporter.close()
        if identity.rank == 0:
            code = _show(recorder.sweeps(), options)
    watch.enter("done")
    return int(world.gather([code])[0, 0])  # and nobody leaves before rank 0 has shown the result


def _show(sweeps: Sequence[Sweep], options: Options) -> int:
    """Print the result; returns 1 when anything was wrong, 3 when the run did not finish, else 0."""
    from commbench.showing.show import any_wrong, write

    write(sweeps, "json" if options.json else "table", terminal=options.extras.own_output)
    if any_wrong(sweeps):
        return _told("results were wrong: see #wrong in the table", WRONG)
    file = options.resume or options.file
    advice = f"; continue with --resume {file}" if file else "; there is no file (-J) to continue"
    reasons = [sweep.end.reason for sweep in sweeps if sweep.end and sweep.status != "complete"]
    if reasons:
        return _told(f"{reasons[0]}{advice}", NOT_FINISHED)
    if not any(sweep.measurements for sweep in sweeps):
        return _told("nothing was measured: every point was left out", NOT_FINISHED)
    return 0


def _told(message: str, code: int) -> int:
    """Say in a line why the exit code is not 0: torchrun hides the code."""
    print(f"commbench: {message}", file=sys.stderr, flush=True)
    leave_error_file(message)
    return code


if __name__ == "__main__":
    sys.exit(main())
