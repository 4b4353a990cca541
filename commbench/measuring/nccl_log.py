"""Proof of the path: what NCCL's own log says about how each pair of ranks talks.

An environment variable says what was asked for; only lines such as `0[0] -> 1[1] via SHM/direct/direct` say what
was done. NCCL writes them when it connects, so its log goes into a file that is read after the first collective.
"""

import os
import re
import tempfile
from collections.abc import MutableMapping
from dataclasses import dataclass
from pathlib import Path

_VIA = re.compile(r": (\d{1,9})\[[^]\n]*\] -> (\d{1,9})\[[^]\n]*\](?: \[(?:send|receive)\])? via (\S[^\n]*)")
# Printed when multicast through NVSwitch is set up; `NVLS multicast support is available` only says that it could be.
_NVLS = re.compile(r" NVLS comm 0x[0-9a-f]+ headRank (\d{1,9}) nHeads \d+")
NVLS = "NVLS"
_QUIET = ("", "WARN", "VERSION")  # levels that are raised; a user who asked for more gets it where they asked for it


@dataclass(frozen=True, order=True)
class Link:
    """One directed pair of ranks (numbered within the communicator) and its path, as NCCL words it."""

    source: int
    target: int
    path: str

    @property
    def kind(self) -> str:
        """P2P, SHM, NET or NVLS."""
        return self.path.split("/", 1)[0]


def links(log: str) -> tuple[Link, ...]:
    """The distinct links in a piece of NCCL's INFO log, in order of ranks.

    Multicast is a link of a head (a GPU that the switch reduces for) with itself: it has no pairs.
    """
    found = {Link(int(source), int(target), path.strip()) for source, target, path in _VIA.findall(log)}
    return tuple(sorted(found | {Link(int(head), int(head), NVLS) for head in _NVLS.findall(log)}))


class NcclLog:
    """Has NCCL log into a file of this process. Must be made before NCCL is first used.

    Where the user already has NCCL_DEBUG at INFO or above, or a file of their own, that is left alone and read.
    """

    def __init__(self, environ: MutableMapping[str, str]) -> None:
        self._own: Path | None = None
        self._read_up_to = 0
        if environ.get("NCCL_DEBUG_FILE"):
            self.path: Path | None = self._named(environ["NCCL_DEBUG_FILE"])
        elif environ.get("NCCL_DEBUG", "").upper() in _QUIET:
            descriptor, name = tempfile.mkstemp(prefix="commbench-nccl-", suffix=".log")
            os.close(descriptor)
            self.path = self._own = Path(name)
            environ["NCCL_DEBUG"], environ["NCCL_DEBUG_FILE"] = "INFO", name
        else:
            self.path = None  # it goes to standard output, where nobody can read it back

    def new_links(self) -> tuple[Link, ...] | None:
        """The links logged since the last call; None where there is no log to read."""
        if self.path is None or not self.path.exists():
            return None
        text = self.path.read_text(errors="replace")
        new, self._read_up_to = text[self._read_up_to :], len(text)
        return links(new)

    def remove(self) -> None:
        """Delete the file, if it was ours."""
        if self._own is not None:
            self._own.unlink(missing_ok=True)

    @staticmethod
    def _named(pattern: str) -> Path | None:
        """The file that NCCL makes of its pattern: %h is the host, %p the process."""
        return Path(pattern.replace("%h", os.uname().nodename).replace("%p", str(os.getpid())))
