"""`torchrun … -m commbench.pairs`: find the slow, late or broken node, GPU or link, by pairs of ranks.

`mpi.pairs` does the same with another session. `commbench pairs FILE` shows what was found earlier.
"""

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial

from commbench.measuring.command_line import Extras
from commbench.measuring.last_words import leave_error_file
from commbench.measuring.launched import Confirm, Launched, Program
from commbench.measuring.session import Session
from commbench.pairing.options import TORCHRUN, PairsOptions, parse


def main(arguments: Sequence[str] | None = None) -> int:
    """`torchrun … -m commbench.pairs OPTIONS`. Returns the exit code."""
    return run(_torch_session, sys.argv[1:] if arguments is None else arguments, "commbench.pairs")


def run(
    open_session: Callable[[PairsOptions], Session],
    arguments: Sequence[str],
    program: str,
    *,
    extras: Extras = TORCHRUN,
    confirm: Confirm | None = None,
) -> int:
    """Test pairs with any session that can regroup; see `commbench.sweep.run`."""
    return Program(program, partial(parse, program=program, extras=extras), open_session, _tested, confirm).run(
        arguments
    )


def _torch_session(options: PairsOptions) -> Session:
    from commbench.measuring.torch_session import TorchSession  # here, so that `-h` does not load torch

    return TorchSession(options.sweep.backend, os.environ, shared_device=options.sweep.shared_device)


def _tested(options: PairsOptions, launched: Launched) -> int:
    from commbench.measuring.reporter import Silent
    from commbench.pairing.judged import EXIT_CODES, outcome
    from commbench.pairing.run import measure_pairs
    from commbench.showing.pairs import draw_pairs, sentence, to_json
    from commbench.showing.progress import Display

    world = launched.session.join()
    reporter = Display() if launched.identity.rank == 0 else Silent()
    found = measure_pairs(options, launched, world, reporter.tell)
    code = 0
    if found is not None:
        pairs, verdict = found
        code = EXIT_CODES[outcome(pairs, verdict)]
        sys.stdout.write(to_json(pairs, verdict) if options.json else draw_pairs(pairs, verdict))
        sys.stdout.flush()
        if code:
            leave_error_file(sentence(pairs, verdict))
    launched.watch.enter("done")
    shared: int = world.exchange(code)[0]  # nobody leaves before rank 0 has shown the result
    return shared


if __name__ == "__main__":
    sys.exit(main())
