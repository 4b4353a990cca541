"""Records of a sweep, from what nccl-tests told of a run and what we know because we started it.

The labels that let `compare` set it beside sweeps of torch and MPI are `mode` and `statistic` of each measurement and
`buffers` in the settings; what an imported log leaves open (which statistic, which variables) is known here.
"""

import platform
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from commbench.importing.foreign import Row, Run, Stated
from commbench.importing.nccl_tests.command import Command
from commbench.importing.nccl_tests.conduct import Conduct
from commbench.importing.nccl_tests.launch_words import shown_launch
from commbench.importing.nccl_tests.options import Options
from commbench.importing.nccl_tests.transport import transport
from commbench.importing.sweeps import calls_per_sample, header, measurement
from commbench.measuring.facts import allowed_variables, machine_facts
from commbench.measuring.nccl_log import Link
from commbench.measuring.recorder import new_id, now
from commbench.sweepfile.records import End, Header, LeftOut, Measurement, Record, Status

NO_MEMORY = "memory does not hold it: nccl-tests reduced its largest size"


class SweepRecords:
    """Makes the records of one run, which share its id.

    Args:
        log: the name of the file with its output, None where none is kept.
        added: variables that we set for our own ends, and that say nothing about the run.
    """

    def __init__(
        self, command: Command, options: Options, environ: Mapping[str, str], log: str | None, added: Collection[str]
    ) -> None:
        self._command, self._options, self._environ, self._log = command, options, environ, log
        self._added = added
        self._id, self._started = new_id(), now()
        self._unknown = Run(tool="nccl-tests", variant="nccl-tests", collective=command.binary.collective)

    def header(self, run: Run | None) -> Header:
        """The first record, as far as the run is known."""
        known = run or self._unknown
        first = header(known, sweep=self._id, file=self._log or "", stated=Stated(label=self._options.label))
        return msgspec.structs.replace(
            first,
            started_at=self._started,
            source=msgspec.structs.replace(first.source, file=self._log),
            backend=known.backend or "nccl",
            settings={**first.settings, **self._settings()},
            environment=self._environment(first.environment),
        )

    def measurement(self, row: Row, run: Run | None = None) -> Measurement:
        """A row's record; `run` is the whole one, once it is known."""
        calls = (calls_per_sample(run) if run else None) or self._calls()
        record = measurement(row, run or self._unknown, self._id, calls)
        return msgspec.structs.replace(
            record,
            collective=self._command.binary.collective,
            mode=self._options.mode,
            statistic=self._command.statistic,
        )

    def all(
        self, run: Run | None, conduct: Conduct, found: Iterable[Link], status: Status, reason: str | None
    ) -> list[Record]:
        """Every record of the run, in order, now that its end is known.

        Args:
            found: the paths in NCCL's log.
        """
        paths = transport(found, self._id, self._options.label)
        first = msgspec.structs.replace(
            self.header(run), transport={"setting": paths.setting, "proved": paths.proved, "pairs": paths.pairs}
        )
        records: list[Record] = [first]
        if run is not None:
            records += [self.measurement(row, run) for row in run.rows]
            records += [self._left_out(skipped.message_bytes, skipped.reason) for skipped in run.left_out]
        records += [self._left_out(size, NO_MEMORY) for size in conduct.beyond_memory()]
        return [*records, End(sweep=self._id, finished_at=now(), status=status, reason=reason)]

    def expected(self, conduct: Conduct) -> int:
        """How many rows are to come, both placements counted; 0 where that is not known."""
        options = self._options
        if "all" in options.own.values():
            return 0
        sizes = [size for size in conduct.sizes() if conduct.reduced_to is None or size <= conduct.reduced_to]
        return 2 * len(sizes) * options.number("N", 1)

    def _left_out(self, size: int, reason: str) -> LeftOut:
        return LeftOut(
            sweep=self._id, collective=self._command.binary.collective, message_bytes=size, reason=reason,
            mode=self._options.mode,
        )  # fmt: skip

    def _calls(self) -> int:
        """Calls that one time is taken over."""
        options = self._options
        return max(1, options.number("n", 20) * options.number("m", 1) * max(1, options.number("G", 0)))

    def _settings(self) -> dict[str, Any]:
        return {
            "program": self._command.binary.path,
            "arguments": list(self._command.shown),
            "launch": shown_launch(self._options.launch) if self._options.launch else None,
            "time_limit": self._options.time_limit,
        }

    def _environment(self, told: Mapping[str, Any]) -> dict[str, Any]:
        here = platform.node().partition(".")[0]
        if self._options.launch is None or here in (told.get("hosts") or ()):
            ours = machine_facts(self._environ)
        else:  # the launcher's host may be none of those that measured
            ours = {"launched_from": here, "variables": allowed_variables(self._environ)}
        variables = {**ours["variables"], **told.get("variables", {})}
        return {**ours, **told, "variables": {n: text for n, text in variables.items() if n not in self._added}}


def merged(table: Run, exact: Run | None) -> Run:
    """What both tell of one run: the rows of the JSON, which are exact, and what only the table says."""
    if exact is None:
        return table
    return replace(
        exact,
        version=table.version,
        variant=f"{table.variant}, {exact.variant}",
        settings={**exact.settings, **table.settings},
        environment={**exact.environment, **table.environment},
        ranks_per_host=table.ranks_per_host or exact.ranks_per_host,
        groups=table.groups or exact.groups,
        device=table.device or exact.device,
        world_size=table.world_size or exact.world_size,
        world_size_basis=table.world_size_basis or exact.world_size_basis,
        left_out=table.left_out,
    )
