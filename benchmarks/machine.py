"""The machine and day that a figure belongs to: a figure without them says nothing."""

import os
import platform
from datetime import UTC, datetime
from pathlib import Path


def machine_and_date() -> str:
    """Processor model, usable cores, Python and date (UTC), in one line."""
    return (
        f"{_processor()}, {len(os.sched_getaffinity(0))} cores, Python {platform.python_version()}, "
        f"{datetime.now(UTC):%Y-%m-%d}"
    )


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
