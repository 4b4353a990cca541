"""The MPI library: loaded, started with its own words caught, and ended without hanging.

Every other module takes `MPI` from here, so that nothing can start the library behind our back: mpi4py would do it on
import, with a thread level that locks every call.
"""

import ctypes
import os
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import mpi4py

mpi4py.rc(initialize=False, finalize=False)

from mpi4py import MPI  # noqa: E402  (only after the line above)

from mpi.transport import without_matrix  # noqa: E402

__all__ = ["MPI", "end", "facts", "name", "start"]

FINALIZING = 10.0  # seconds; with all peers there it takes milliseconds
DISPLAY = "OMPI_MCA_ompi_display_comm"  # Open MPI prints who reaches whom how, others do not know it


def start() -> str:
    """Initialise MPI; returns what the library printed while it did. Only the main thread may call MPI after this."""
    if MPI.Is_initialized():
        return ""
    asked = DISPLAY in os.environ
    os.environ.setdefault(DISPLAY, "mpi_init")
    try:
        with _printed() as words, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # mpi4py's about another launcher: `mpi.who` says it better
            MPI.Init_thread(MPI.THREAD_FUNNELED)
    finally:
        if not asked:
            del os.environ[DISPLAY]
    text = words[0] if words else ""
    os.write(1, (text if asked else without_matrix(text)).encode())
    return text


@contextmanager
def _printed() -> Iterator[list[str]]:
    """Catch what C prints on standard output. Standard error stays: words of a library that gives up must get out."""
    words: list[str] = []
    sys.stdout.flush()
    try:
        kept = os.dup(1)
    except OSError:  # closed
        yield words
        return
    with tempfile.TemporaryFile() as caught:
        os.dup2(caught.fileno(), 1)
        try:
            yield words
        finally:
            ctypes.CDLL(None).fflush(None)
            os.dup2(kept, 1)
            os.close(kept)
            caught.seek(0)
            words.append(caught.read().decode(errors="replace"))


def name() -> str:
    """The library's name and version: "Open MPI v5.0.11", "MPICH 5.0.2". Needs no start."""
    first = MPI.Get_library_version().strip("\0 \n").partition("\n")[0]
    return " ".join(first.partition(",")[0].replace("Version:", "").split())


def facts() -> dict[str, str]:
    """The library's name and version, the MPI standard it implements, and mpi4py's version."""
    return {"mpi": name(), "mpi_standard": ".".join(map(str, MPI.Get_version())), "mpi4py": mpi4py.__version__}


def end() -> None:
    """Finalise MPI; collective. A peer that died would let it wait for ever, so it may not."""
    if not MPI.Is_initialized() or MPI.Is_finalized():
        return
    timer = threading.Timer(FINALIZING, _stop_waiting)
    timer.daemon = True
    timer.start()
    MPI.Finalize()
    timer.cancel()


def _stop_waiting() -> None:
    os.write(2, b"commbench: MPI_Finalize does not return: a rank is gone\n")
    os._exit(2)
