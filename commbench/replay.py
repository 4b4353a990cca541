"""`torchrun … -m commbench.replay`: issue a training step's collectives for real, beside what was predicted for them.

`mpi.replay` does the same with another session.
"""

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial

from commbench.measuring.command_line import Extras
from commbench.measuring.last_words import leave_error_file
from commbench.measuring.launched import Confirm, Launched, Program
from commbench.measuring.session import Session
from commbench.replaying.options import TORCHRUN, ReplayOptions, parse

WRONG = 1  # exit code


def main(arguments: Sequence[str] | None = None) -> int:
    """`torchrun … -m commbench.replay OPTIONS`. Returns the exit code."""
    return run(_torch_session, sys.argv[1:] if arguments is None else arguments, "commbench.replay")


def run(
    open_session: Callable[[ReplayOptions], Session],
    arguments: Sequence[str],
    program: str,
    *,
    extras: Extras = TORCHRUN,
    confirm: Confirm | None = None,
) -> int:
    """Replay with any session; see `commbench.sweep.run`."""
    return Program(program, partial(parse, program=program, extras=extras), open_session, _replayed, confirm).run(
        arguments
    )


def _torch_session(options: ReplayOptions) -> Session:
    from commbench.measuring.torch_session import TorchSession  # here, so that `-h` does not load torch

    return TorchSession(options.sweep.backend, os.environ, shared_device=options.sweep.shared_device)


def _replayed(options: ReplayOptions, launched: Launched) -> int:
    import msgspec

    from commbench.replaying.run import replay
    from commbench.showing.replay import draw_replay, replay_document

    world = launched.session.join()
    outcome = replay(options, launched, world)
    if launched.identity.rank == 0:
        shown = (
            msgspec.json.encode(replay_document(outcome)).decode() + "\n" if options.json
            else draw_replay(outcome, with_schedule=options.with_schedule)
        )  # fmt: skip
        sys.stdout.write(shown)
        sys.stdout.flush()
        if outcome.wrong:
            message = f"results were wrong: {outcome.wrong} elements"
            sys.stderr.write(f"commbench: {message}\n")
            leave_error_file(message)
    launched.watch.enter("done")
    world.exchange(None)  # nobody leaves before rank 0 has shown the result
    return WRONG if outcome.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
