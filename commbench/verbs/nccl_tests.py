"""`commbench nccl-tests`: run nccl-tests' own programs and keep what they measure as a sweep file."""

import os
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Find, start and watch the programs, then print their rows as `commbench show` does. Returns the exit code.

    Raises:
        CommbenchError: options, a missing program, a file that cannot be written; rows that came before stay.
    """
    from commbench.importing.nccl_tests.options import parse

    options = parse(sys.argv[1:] if argv is None else argv)

    from rich.console import Console

    from commbench.importing.nccl_tests.keeping import Keeper
    from commbench.importing.nccl_tests.outcome import together
    from commbench.importing.nccl_tests.running import Surroundings
    from commbench.importing.nccl_tests.session import measure, prepare
    from commbench.importing.nccl_tests.signals import caught
    from commbench.showing.progress import Display
    from commbench.showing.show import write

    prepared, launcher = prepare(options, os.environ)
    # A line a row on a terminal too, where a bar would hide what nccl-tests shows.
    display = Display(Console(stderr=True, highlight=False, force_terminal=False))
    with Keeper(options.file) as keeper, caught() as stopped:
        around = Surroundings(dict(os.environ), options.time_limit, stopped, display)
        try:
            outcomes = measure(prepared, launcher, options, around, keeper)
        finally:
            display.close()
        sweeps, signal = keeper.sweeps(), stopped()
    write(sweeps, "json" if options.json else "table")
    return together([outcome.code for outcome in outcomes]) if signal is None else 128 + signal
