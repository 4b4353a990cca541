"""Everything that one `commbench import` read: each run as the records of its sweep, and the verdict over all."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from commbench.importing.foreign import Run, Stated
from commbench.importing.reading import Log
from commbench.importing.sweeps import records
from commbench.measuring.nccl_log import Link
from commbench.measuring.recorder import new_id, now
from commbench.sweepfile.records import Record
from commbench.sweepfile.writer import SweepWriter

USABLE, NOTHING, DOUBTFUL = 0, 1, 3


@dataclass(frozen=True)
class ImportedRun:
    """One run on its way into a sweep file."""

    file: str
    run: Run
    stated: Stated
    imported_at: str
    paths: tuple[Link, ...] = ()
    sweep: str = field(default_factory=new_id)

    def records(self) -> Iterator[Record]:
        """The records of its sweep, made one by one."""
        return records(
            self.run, sweep=self.sweep, file=self.file, stated=self.stated, imported_at=self.imported_at,
            paths=self.paths,
        )  # fmt: skip


@dataclass(frozen=True)
class Imported:
    """All logs of one command."""

    logs: tuple[Log, ...]
    runs: tuple[ImportedRun, ...]

    @classmethod
    def of(cls, logs: Sequence[Log], stated: Stated, given: tuple[Link, ...] | None) -> "Imported":
        """Put the runs of all logs together.

        Args:
            given: the paths of a separate log of NCCL, which stands for all runs; None without one.
        """
        time = now()
        runs = [
            ImportedRun(log.name, run, stated, time, paths if given is None else given)
            for log in logs
            for run, paths in zip(log.reading.runs, log.paths, strict=True)
        ]
        return cls(tuple(logs), tuple(runs))

    def warnings(self) -> Iterator[str]:
        """What a reader of the result must know, with the file and the line where it begins."""
        for name, times in Counter(log.name for log in self.logs).items():
            if times > 1:
                yield f"{name}: given {times} times, so each of its runs stands {times} times in the result"
        for log in self.logs:
            for words in log.reading.warnings:
                yield f"{log.name}: {words}"
            for run in log.reading.runs:
                for words in run.notes:
                    yield f"{log.name}:{run.lines[0]}: {words}"
        yield from self._alike()

    def _alike(self) -> Iterator[str]:
        """Logs of one collective that nothing tells apart, so that a fit would take them for one setting."""
        files: dict[tuple[str, str | None, int | None, str | None], list[str]] = {}
        for one in self.runs:
            run = one.run
            if one.stated.label is None and run.collective and len(run.rows):
                found = files.setdefault((run.tool, run.collective, run.world_size, run.device), [])
                found += [one.file] if one.file not in found else []
        for (_, collective, _, _), names in files.items():
            if len(names) > 1:
                yield (
                    f"{names[0]} and {names[1]}: {collective} of the same ranks, without a label: a fit takes them for"
                    " one setting; where they are not, import them one by one, each with its --label"
                )


def exit_code(imported: Imported, *, strict: bool) -> int:
    """The verdict: usable, nothing usable, or usable with doubts."""
    if not any(len(one.run.rows) for one in imported.runs):
        return NOTHING
    if any(reject.matters for log in imported.logs for reject in log.reading.rejects):
        return DOUBTFUL
    if any(one.run.complete is False for one in imported.runs):
        return DOUBTFUL
    if strict and any(all(row.correct is None for row in one.run.rows) for one in imported.runs):
        return DOUBTFUL
    return USABLE


def write_sweeps(path: str, imported: Imported) -> None:
    """Write every run as a sweep into a new file.

    Raises:
        SweepFileError: the file exists already, or cannot be written.
    """
    with SweepWriter.create(path) as writer:
        for one in imported.runs:
            writer.write_all(one.records())
