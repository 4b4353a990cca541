"""A rank for tests of the watch, as a process of its own: `python -m tests.measuring.leaving RANK SIZE FOLDER DOES`.

It writes what `on_leave` gets into FOLDER/left-RANK. DOES: `give-up` at once, or `wait` in a call that no Python
signal handler could interrupt, or `done`, which waits after its work is over.
"""

import sys
import threading
from pathlib import Path

from commbench.measuring.seam import Case
from commbench.measuring.watch import Watch, catch_signals

from .boards import FolderBoard


def main(rank: int, size: int, folder: Path, does: str) -> None:
    """Say ready, then do it."""
    watch = Watch(rank, size, FolderBoard(folder, rank), signals=catch_signals())
    left = folder / f"left-{rank}"
    watch.on_leave = lambda message: (left.write_text(message), None)[1]
    watch.start()
    watch.enter("timed", Case("all_reduce", 2, "float32", "sum", None, "in", "isolated"))
    if does == "done":
        watch.enter("done")
    print("ready", flush=True)
    if does == "give-up":
        sys.stdin.readline()
        watch.give_up("the reason\n  and its details", 3)
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()  # waits in C, as a collective does


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4])
