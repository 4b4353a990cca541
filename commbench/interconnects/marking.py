"""Write into a sweep file that it is void: it stays, and nobody compares it by mistake."""

from collections.abc import Sequence
from pathlib import Path

from commbench.interconnects.proof import Doubt
from commbench.sweepfile.records import Void
from commbench.sweepfile.writer import SweepWriter


def mark_void(file: Path, sweep: str, setting: str, doubts: Sequence[Doubt]) -> None:
    """Append one record a doubt. Raises SweepFileError where the file cannot be written."""
    with SweepWriter.append(file) as writer:
        for doubt in doubts:
            writer.write(
                Void(sweep=sweep, setting=setting, reason=doubt.reason, expected=doubt.expected, found=doubt.found)
            )
