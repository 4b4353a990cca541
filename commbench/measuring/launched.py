"""One rank of a launched program, from who it is to its exit code. What goes wrong is told once and ends every rank.

`commbench.sweep` and `commbench.replay` differ in what they are asked for and in the work between meeting and leaving.
"""

import os
import re
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from commbench.errors import CommbenchError
from commbench.launching.identity import Identity, identify, no_launcher_error
from commbench.measuring.last_words import leave_error_file
from commbench.measuring.session import Session
from commbench.measuring.watch import Watch, catch_signals

PATIENCE = 5.0  # seconds
TORCHRUN_GRACE, MPIRUN_GRACE = 3.0, 0.0  # seconds to look around after SIGTERM: SIGKILL follows after 30 and 0.3

Confirm = Callable[[Identity | None], Identity]


class Asked(Protocol):
    """What the command line of such a program always says."""

    @property
    def time_limit(self) -> float | None:
        """Seconds for the whole run (-T), None for no limit."""


Options = TypeVar("Options", bound=Asked)


@dataclass(frozen=True)
class Launched:
    """What the ranks of a program have in hand while they work."""

    session: Session
    identity: Identity
    watch: Watch
    environ: Mapping[str, str]  # as the user has it: a session adds to os.environ


@dataclass(frozen=True)
class Program(Generic[Options]):
    """A program that a launcher starts once per rank.

    Attributes:
        name: as it is started, such as `commbench.sweep`.
        parse: the command line; raises UsageError, and SystemExit after printing help.
        open_session: the library that the options ask for.
        work: everything between meeting and leaving; returns this rank's exit code. Collective.
        confirm: who this rank really is, given what its launcher's variables say; they are believed if it is None.
    """

    name: str
    parse: Callable[[Sequence[str]], Options]
    open_session: Callable[[Options], Session]
    work: Callable[[Options, Launched], int]
    confirm: Confirm | None = None

    def run(self, arguments: Sequence[str]) -> int:
        """Run it on this rank. Returns the exit code."""
        identity: Identity | None = None
        try:
            identity = identify(os.environ)
            if identity and identity.rank and {"-h", "--help"} & set(arguments):
                return 0  # rank 0 prints it
            options = self.parse(arguments)
            if self.confirm is not None:
                identity = self.confirm(identity)
            elif identity is None:
                raise no_launcher_error(self.name)
            return self._watched(options, identity)
        except CommbenchError as error:
            if identity is None or identity.rank == 0 or (error.alone and not identity.local_rank):
                sys.stderr.write(f"{self.name}: {error}\n")
                sys.stderr.flush()
                leave_error_file(str(error))
            else:
                time.sleep(PATIENCE)  # a launcher ends all ranks with the first that fails: let that be the speaker
            return error.exit_code

    def _watched(self, options: Options, identity: Identity) -> int:
        """Work with a watch beside it: whatever happens here, no other rank waits for this one for ever."""
        signals = catch_signals()
        environ = dict(os.environ)
        session = self.open_session(options)
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
            code = self.work(options, Launched(session, identity, watch, environ))
            watch.stop()
            session.leave()
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
        return code


def _brief(text: str) -> str:
    """The first sentence of a library's message, without the source locations in front of it."""
    return re.sub(r"^(\s*\[[^]]*\])+\s*", "", text.strip().partition("\n")[0]).partition(". ")[0][:300]
