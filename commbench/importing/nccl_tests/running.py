"""One program of nccl-tests from start to end: its rows are kept as they come, its end is judged."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from commbench.errors import LaunchError, UsageError
from commbench.importing.foreign import Line, Reading, Row, Run, Stated
from commbench.importing.lines import normalised
from commbench.importing.nccl_family.json_schemas import read_document
from commbench.importing.nccl_family.text import TableReader
from commbench.importing.nccl_tests.agreement import disagreement
from commbench.importing.nccl_tests.command import Command
from commbench.importing.nccl_tests.conduct import Conduct
from commbench.importing.nccl_tests.keeping import Keeper, RawLog
from commbench.importing.nccl_tests.outcome import Counts, Ending, Outcome, judge
from commbench.importing.nccl_tests.process_tree import ProcessTree
from commbench.importing.nccl_tests.sweep_records import SweepRecords, merged
from commbench.importing.nccl_tests.transport import Logs
from commbench.launching.lines import LaunchLine
from commbench.measuring.nccl_log import Link, links
from commbench.measuring.reporter import Reporter
from commbench.units import format_size

SILENCE = 1800.0  # seconds without a line, where there is no -T: one row of 16 GB over a slow network takes minutes

_LONGEST_HEAD = 100_000  # lines above the first row: a device line for each rank, and warnings
_LOGGED = "NCCL INFO"


@dataclass(frozen=True)
class Surroundings:
    """What a run needs around it.

    Attributes:
        environ: of the program.
        time_limit: seconds, None for none.
        stopped: the signal that came to us, None while none did.
        reporter: who is told of each row.
    """

    environ: Mapping[str, str]
    time_limit: float | None
    stopped: Callable[[], int | None]
    reporter: Reporter


class ProgramRun:
    """A program while it runs.

    Args:
        line: the whole command line.
        records: makes records of its rows.
        keeper: where they go.
        raw: where its output goes.
        logs: NCCL's logs and its JSON.
    """

    def __init__(
        self, command: Command, line: LaunchLine, around: Surroundings, records: SweepRecords, keeper: Keeper,
        raw: RawLog, logs: Logs,
    ) -> None:  # fmt: skip
        self._command, self._line, self._around = command, line, around
        self._records, self._keeper, self._raw, self._logs = records, keeper, raw, logs
        self._stated = Stated(collective=command.binary.collective)
        self._table = TableReader(self._stated)
        self._conduct = Conduct()
        self._head: list[Line] = []  # the lines above the first row, which say what runs
        self._rows: list[Row] = []
        self._paths: set[Link] = set()  # of NCCL's log, where that comes with the output
        self._world_size = 1
        self.notices: list[str] = []

    def outcome(self) -> Outcome:
        """Run it to its end, whatever that is.

        Raises:
            LaunchError: it cannot be started, or its processes have not met.
            UsageError: it did not understand an option.
            SweepFileError: a row could not be written.
        """
        try:
            tree = ProcessTree(self._line.words, {**self._around.environ, **self._line.environment})
        except (OSError, ValueError) as error:
            raise LaunchError(
                "a program cannot be started", expected=f"{self._line.words[0]} to start",
                found=getattr(error, "strerror", None) or str(error),
                fix="check the file (built for this machine? a complete script?), --binaries and --launch",
            ) from None  # fmt: skip
        try:
            with tree:
                ending = self._watch(tree)
        finally:
            self._raw.close()
        return self._conclude(ending)

    def _watch(self, tree: ProcessTree) -> Ending:
        ending: Ending | None = None
        started = heard = time.monotonic()
        number = 0
        for event in tree.lines():
            if event is not None:
                heard, number = time.monotonic(), number + 1
                self._line_came(number, *event)
            elif ending is None and (ending := self._over(started, heard)) is not None:
                tree.end()  # and read on: rows that it had printed by then count
        return ending or Ending("itself", tree.status)

    def _over(self, started: float, heard: float) -> Ending | None:
        """Why the program must end now, None while it may go on."""
        around, now = self._around, time.monotonic()
        if (signal := around.stopped()) is not None:
            return Ending("signal", after=signal)
        if around.time_limit is not None:
            return Ending("limit", after=around.time_limit) if now - started > around.time_limit else None
        return Ending("silence", after=SILENCE) if now - heard > SILENCE else None

    def _line_came(self, number: int, stream: str, raw: str) -> None:
        self._raw.line(raw)
        prefix, text = normalised(raw)
        self._conduct.see(text)
        if " via " in text:
            self._paths.update(links(text))
        self._refuse_what_makes_no_sense()
        if stream == "err":  # what libraries say there would only tear rows apart
            return
        line = Line(number, text, prefix)
        if not self._rows and len(self._head) < _LONGEST_HEAD and _LOGGED not in text:
            self._head.append(line)
        for row in self._table.feed(line):
            if not self._rows:
                self._begin()
            self._rows.append(row)
            record = self._records.measurement(row)
            self._keeper.add(record)
            self._around.reporter.finished(_words(self._command.binary.collective, row), record, self._world_size)

    def _begin(self) -> None:
        """The provisional header, from what stands above the first row."""
        head = TableReader(self._stated)
        for line in self._head:
            head.feed(line)
        run = next(iter(head.finish().runs), None)
        self._world_size = (run.world_size if run else None) or 1
        self._keeper.begin(self._records.header(run))
        self._around.reporter.begin(self._records.expected(self._conduct))

    def _refuse_what_makes_no_sense(self) -> None:
        conduct, path = self._conduct, self._command.binary.path
        if conduct.alone > 1:
            raise LaunchError(
                f"the processes of {path} have not met: each measures a world of one rank",
                expected="one rank 0, and the other ranks behind it",
                found=f"{conduct.alone} processes that call themselves rank 0",
                fix="build nccl-tests with `make MPI=1 MPI_HOME=…` against the MPI whose launcher starts it, "
                "or start it without --launch and let one process drive N GPUs (-g N)",
            )
        if conduct.replaced is not None:
            raise UsageError(
                "nccl-tests does not know a type or operator and measures another instead",
                expected="one that this version knows", found=conduct.replaced, fix="choose another -d or -o",
            )  # fmt: skip
        if conduct.usage is not None and not self._rows:
            raise UsageError(
                "nccl-tests did not understand its options", expected=" ".join(self._command.arguments),
                found=conduct.usage, fix="leave away what this version does not have (its --help lists its options)",
            )  # fmt: skip

    def _conclude(self, ending: Ending) -> Outcome:
        reading = self._table.finish()
        run = next(iter(reading.runs), None)
        exact, differs = self._exact() if ending.by == "itself" and self._conduct.concluded and run else (None, None)
        unread = tuple(f"line {r.line}: {r.reason}" for r in reading.rejects if r.matters)
        if len(reading.runs) > 1:
            unread = (*unread, f"its output holds {len(reading.runs)} runs")
        wrong = sum(row.correct is False for row in self._rows)
        outcome = judge(ending, self._conduct, Counts(len(self._rows), wrong, unread, differs))
        best = run and merged(run, exact)
        paths = self._logs.links() | self._paths
        final = self._records.all(best, self._conduct, paths, outcome.status, outcome.message)
        if not self._rows:
            self._begin()
        if not self._keeper.replace(final):
            self.notices.append("the disk has no room for the exact times: the rounded ones of the table stay")
            for record in final[-1:]:
                self._keeper.add(record)
        return outcome

    def _exact(self) -> tuple[Run | None, str | None]:
        """The run as its JSON tells it, and where the two differ; (None, None) where there is no whole JSON."""
        file = self._command.json_file
        if file is None:
            return None, None
        reading = _read_json(file, self._stated)
        exact = reading.runs[0] if reading is not None and len(reading.runs) == 1 else None
        if exact is None or not exact.rows:
            why = self._conduct.no_json or ("no such file" if not file.exists() else "it is broken")
            self.notices.append(
                f"its JSON cannot be read ({why}): the times are the table's, with three or four digits"
            )
            return None, None
        differs = disagreement(self._rows, exact.rows)
        return (None, differs) if differs else (exact, None)


def _read_json(file: Path, stated: Stated) -> Reading | None:
    with suppress(OSError):
        return read_document(file.read_text(errors="replace"), stated)
    return None


def _words(collective: str, row: Row) -> str:
    place = {"in": "in place", "out": "out of place", None: ""}[row.placement]
    words = [f"{collective} {format_size(row.message_bytes)}", *(word for word in (row.dtype, row.op, place) if word)]
    return ", ".join(words)
