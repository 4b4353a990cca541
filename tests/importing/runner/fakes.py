"""Install the fake programs, start `commbench nccl-tests` on them, and see how it ended."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commbench.sweepfile.reader import Sweep, read_sweeps

ROOT = Path(__file__).resolve().parents[3]
TOKEN = "this-must-never-reach-a-sweep-file"

# what a launcher or a user around the tests would say
_FOREIGN = ("NCCL_", "OMPI_", "PMI", "SLURM_", "FAKE")


@dataclass(frozen=True)
class Result:
    """How a command ended."""

    code: int
    stdout: str
    stderr: str
    sweeps: tuple[Sweep, ...]

    @property
    def document(self) -> Any:
        """Standard output as JSON."""
        return json.loads(self.stdout)


def install(folder: Path, *names: str) -> Path:
    """Put fakes of these names into a folder."""
    program = Path(__file__).with_name("fake.py")
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        script = folder / name
        script.write_text(
            f"#!{sys.executable} -IS\n__file__ = {str(program)!r}\n"
            "with open(__file__) as file:\n    exec(compile(file.read(), __file__, 'exec'))\n"
        )
        script.chmod(0o755)
    return folder


def environment(fake: str = "", **variables: str) -> dict[str, str]:
    """The environment of a command: none of the variables that would change what it does, and a secret."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
    return {**kept, "FAKE": fake, "PLANTED_API_TOKEN": TOKEN, "PYTHONPATH": str(ROOT), **variables}


def start(words: Sequence[str], folder: Path, fake: str = "", **variables: str) -> subprocess.Popen[str]:
    """Start `commbench nccl-tests`."""
    return subprocess.Popen(
        [sys.executable, "-m", "commbench", "nccl-tests", *words], cwd=folder, env=environment(fake, **variables),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def finish(process: subprocess.Popen[str], folder: Path) -> Result:
    """Wait for it. Its sweep file is `out.jsonl`."""
    stdout, stderr = process.communicate(timeout=60)
    file = folder / "out.jsonl"
    return Result(process.returncode, stdout, stderr, read_sweeps(file) if file.exists() else ())


def gone(pid: int, patience: float = 5.0) -> bool:
    """Whether a process has ended (a zombie has)."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX":
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False
