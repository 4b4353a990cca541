"""Logs of tests/data/importing, read by one reader, and what a reading says in few words."""

from pathlib import Path
from types import ModuleType

from commbench.importing.foreign import Reading, Run, Stated
from commbench.importing.lines import Lines

FOLDER = Path(__file__).parent.parent / "data" / "importing"


def lines_of(name: str) -> Lines:
    """A log of the folder: real ones by their name, invented ones as `invented/...`."""
    return Lines((FOLDER / name).read_bytes())


def reading(reader: ModuleType, log: str, world_size: int | None = None, collective: str | None = None) -> Reading:
    """What a reader makes of a log: its name in the folder, or its text where it has several lines."""
    lines = Lines(log.encode()) if "\n" in log else lines_of(log)
    assert reader.recognises(lines)
    found: Reading = reader.read(lines, Stated(world_size, collective))
    return found


def points(run: Run) -> list[tuple[int, float]]:
    """Message (bytes) and time (us) of each row, in the order of the log."""
    return [(row.message_bytes, round(row.seconds * 1e6, 4)) for row in run.rows]


def refused(found: Reading) -> list[int | None]:
    """The lines of the rejects that matter."""
    return [reject.line for reject in found.rejects if reject.matters]


def noticed(found: Reading) -> list[int | None]:
    """The lines of the rejects that do not matter."""
    return [reject.line for reject in found.rejects if not reject.matters]
