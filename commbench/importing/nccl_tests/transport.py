"""NCCL's own log of a run that we start: asked for in files of ours, read for the paths between ranks, removed.

A user who asked for a log of their own gets that one, where they asked for it, and it is read where it can be.
"""

import shutil
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from glob import escape
from pathlib import Path

from commbench.measuring.nccl_log import Link, links
from commbench.sweepfile.records import Transport

_LEVEL, _FILE = "NCCL_DEBUG", "NCCL_DEBUG_FILE"
_QUIET = ("", "WARN", "VERSION")  # levels that are raised
_LARGEST = 64 << 20  # bytes of one log that are read: paths stand near its beginning


class Logs:
    """The folder of a run that holds NCCL's logs and nccl-tests' JSON.

    Args:
        beside: the sweep file's folder, which the ranks of other hosts may reach too; None is the temporary one.
        environ: the user's.
        launch: the user's launch line: a variable may stand there (mpirun -x, srun --export).

    Attributes:
        environment: variables that every rank must have.
    """

    def __init__(self, beside: Path | None, environ: Mapping[str, str], launch: str | None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=".commbench-nccl-", dir=beside)).absolute()
        self.environment: dict[str, str] = {}
        self._theirs: Path | None = None
        if environ.get(_FILE):
            self._theirs = Path(environ[_FILE])
        elif environ.get(_LEVEL, "").upper() in _QUIET and _LEVEL not in (launch or ""):
            # %h and %p become host and process: a file for each rank
            self.environment = {_LEVEL: "INFO", _FILE: str(self.folder / "nccl.%h.%p.log")}

    def links(self) -> set[Link]:
        """The paths in every log that was written into a file, ours or the user's."""
        pattern = self._theirs or self.folder / "nccl.%h.%p.log"
        found: set[Link] = set()
        for path in pattern.parent.glob(escape(pattern.name).replace("%h", "*").replace("%p", "*")):
            with suppress(OSError), path.open("rb") as file:
                found.update(links(file.read(_LARGEST).decode(errors="replace")))
        return found

    def remove(self) -> None:
        """Delete the folder; the JSON in it holds the whole environment, which may hold secrets."""
        shutil.rmtree(self.folder, ignore_errors=True)


def transport(found: Iterable[Link], sweep: str, setting: str | None) -> Transport:
    """These paths as a record; they are known from NCCL's log, so they are proved."""
    ordered = sorted(set(found))
    return Transport(
        sweep=sweep, setting=setting, proved=tuple(sorted({link.kind for link in ordered})) or None,
        pairs=tuple({"from": link.source, "to": link.target, "path": link.path} for link in ordered),
    )  # fmt: skip
