"""Tests of pairs, one after the other in one launch, each when it is asked for. For `benchmarks.emulated_pairs`.

    torchrun … -m benchmarks.repeated_pairs -J FOLDER/

Rank 0 waits for FOLDER/0.go, FOLDER/1.go and so on; each holds the path of the file to be written, or nothing, which
ends the launch.
"""

import os
import sys
import time
from dataclasses import replace
from itertools import count
from pathlib import Path

from commbench.measuring.launched import Launched, Program
from commbench.measuring.seam import World
from commbench.measuring.session import Session
from commbench.pairing.options import PairsOptions, parse
from commbench.pairing.run import measure_pairs


def main() -> int:
    """One rank."""
    return Program("benchmarks.repeated_pairs", parse, _session, _repeated).run(sys.argv[1:])


def _session(options: PairsOptions) -> Session:
    from commbench.measuring.torch_session import TorchSession

    return TorchSession(options.sweep.backend, os.environ)


def _repeated(options: PairsOptions, launched: Launched) -> int:
    world = launched.session.join()
    assert options.file is not None, "-J names the folder"
    for number in count():
        launched.watch.enter("waiting")
        asked = _asked(options.file / f"{number}.go", world)
        if not asked:
            return 0
        measure_pairs(replace(options, file=Path(asked)), launched, world, lambda _: None)
    return 0


def _asked(file: Path, world: World) -> str:
    """What the file says, on every rank."""
    while world.rank == 0 and not file.exists():
        time.sleep(0.02)
    text: str = world.exchange(file.read_text() if world.rank == 0 else "")[0]
    return text


if __name__ == "__main__":
    raise SystemExit(main())
