"""The main job: `torchrun … -m commbench.sweep`, once per rank, from launch to a sweep file that can be trusted.

`main` tells the story: read the options, meet, look at the world, measure what was asked for, show it. `mpi.sweep`
tells the same one with another session.
"""

import os
import re
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence

import msgspec

from commbench.errors import CommbenchError
from commbench.launching.identity import Identity, identify, no_launcher_error
from commbench.measuring.command_line import TORCHRUN, Extras
from commbench.measuring.last_words import leave_error_file
from commbench.measuring.options import Options, parse
from commbench.measuring.session import Session
from commbench.measuring.watch import Watch, catch_signals
from commbench.sweepfile.reader import Sweep

OpenSession = Callable[[Options], Session]
Confirm = Callable[[Identity | None], Identity]

WRONG, NOT_FINISHED = 1, 3  # exit codes of a run that went through
PATIENCE = 5.0  # seconds
TORCHRUN_GRACE, MPIRUN_GRACE = 3.0, 0.0  # seconds to look around after SIGTERM: SIGKILL follows after 30 and 0.3


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
    identity: Identity | None = None
    try:
        identity = identify(os.environ)
        if identity and identity.rank and {"-h", "--help"} & set(arguments):
            return 0  # rank 0 prints it
        options = parse(arguments, program, extras)
        if confirm is not None:
            identity = confirm(identity)
        elif identity is None:
            raise no_launcher_error(program)
        return _watched(open_session, options, identity)
    except CommbenchError as error:
        if identity is None or identity.rank == 0 or (error.alone and not identity.local_rank):
            print(f"{program}: {error}", file=sys.stderr, flush=True)
            leave_error_file(str(error))
        else:
            time.sleep(PATIENCE)  # a launcher ends all ranks with the first that fails: let that be the one that speaks
        return error.exit_code


def _watched(open_session: OpenSession, options: Options, identity: Identity) -> int:
    """Run it with a watch beside it: whatever happens here, no other rank waits for this one for ever."""
    signals = catch_signals()
    environ = dict(os.environ)  # as the user has it: a session adds to it
    session = open_session(options)
    try:
        board = session.meet(identity)
    except CommbenchError as error:
        error.alone = True  # the other ranks may have met
        raise
    grace = TORCHRUN_GRACE if identity.is_torchrun else MPIRUN_GRACE
    watch = Watch(
        identity.rank, identity.world_size, board, time_limit=options.time_limit, signals=signals, grace=grace
    )
    watch.start()
    try:
        return _measured_and_shown(session, options, identity, watch, environ)
    except CommbenchError as error:
        if error.alone:
            watch.give_up(str(error), error.exit_code)
        watch.stop()
        session.leave()
        raise
    except Exception as error:  # a peer's death, a failing library, or a bug
        if not isinstance(error, RuntimeError):
            traceback.print_exc()
        watch.give_up(f"{type(error).__name__}: {_brief(str(error))}")


def _measured_and_shown(
    session: Session, options: Options, identity: Identity, watch: Watch, environ: Mapping[str, str]
) -> int:
    from commbench.measuring.facts import machine_facts
    from commbench.measuring.parts import describe_plan
    from commbench.measuring.reporter import Silent
    from commbench.measuring.sweeping import Run
    from commbench.showing.progress import Display

    world = session.join()
    reporter = Display() if identity.rank == 0 else Silent()
    measuring = Run(session, world, identity, options, watch, reporter, machine_facts(environ))
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
    code = int(world.gather([code])[0, 0])  # and nobody leaves before rank 0 has shown the result
    watch.stop()
    session.leave()
    return code


def _brief(text: str) -> str:
    """The first sentence of a library's message, without the source locations in front of it."""
    return re.sub(r"^(\s*\[[^]]*\])+\s*", "", text.strip().partition("\n")[0]).partition(". ")[0][:300]


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
