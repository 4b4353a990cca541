"""A site that is not there: fake schedulers and launchers on PATH that write down how they were called."""

import os
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

JOBS = Path(__file__).parents[2] / "mpi" / "jobs"

# Words and environment, each ended by a zero byte: no other character can be mistaken for the end.
_FAKE = """#!/bin/bash
printf '%s\\0' "${0##*/}" "$@" > "$CALLS/words"
env -0 > "$CALLS/environment"
"""


def variables(text: str) -> dict[str, str]:
    """An environment, written as in a shell: `NAME=value NAME='two words'`."""
    return dict(word.split("=", 1) for word in shlex.split(text))


@dataclass(frozen=True)
class Call:
    """What a fake launcher was given."""

    words: list[str]
    environment: dict[str, str]


@dataclass
class Site:
    """Runs job scripts in a folder, with an environment that holds nothing but what the test says.

    Attributes:
        folder: where jobs are submitted from; also the current folder.
        environment: the scheduler's variables.
        hosts: what `scontrol show hostnames` prints.
    """

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    hosts: Sequence[str] = ()

    def __post_init__(self) -> None:
        self._bin = self.folder.parent / "bin"
        self._calls = self.folder.parent / "calls"
        for folder in (self.folder, self._bin, self._calls):
            folder.mkdir(exist_ok=True)
        self.install("scontrol", f"#!/bin/bash\nprintf '%s\\n' {shlex.join(self.hosts)}\n")
        for name in ("srun", "mpirun", "apptainer"):
            self.install(name, _FAKE)

    def install(self, name: str, text: str = _FAKE) -> None:
        """Put a program on PATH."""
        (self._bin / name).write_text(text)
        (self._bin / name).chmod(0o755)

    def remove(self, name: str) -> None:
        """Take a program from PATH again."""
        (self._bin / name).unlink()

    def run(self, script: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a script as it is; the test looks at the end."""
        fixed = {"PATH": f"{self._bin}{os.pathsep}{os.defpath}", "HOME": str(self.folder), "CALLS": str(self._calls)}
        return subprocess.run(
            ["bash", str(JOBS / script), *arguments],
            cwd=self.folder,
            env={**fixed, **self.environment, **environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
        )

    def dry(self, script: str, *arguments: str, **environment: str) -> list[str]:
        """The words that a dry run prints; nothing may have been started."""
        self._forget()
        done = self.run(script, *arguments, DRY_RUN="1", **environment)
        assert done.returncode == 0, done.stderr
        assert not self.started
        return shlex.split(done.stdout)

    def call(self, script: str, *arguments: str, **environment: str) -> Call:
        """How the fake launcher was called by a real run."""
        self._forget()
        done = self.run(script, *arguments, **environment)
        assert done.returncode == 0, done.stderr
        lines = (self._calls / "environment").read_text().split("\0")[:-1]
        return Call(
            words=(self._calls / "words").read_text().split("\0")[:-1],
            environment=dict(line.split("=", 1) for line in lines),
        )

    @property
    def started(self) -> bool:
        """Whether a fake launcher was called since the last dry run or call."""
        return any(self._calls.iterdir())

    def _forget(self) -> None:
        for file in self._calls.iterdir():
            file.unlink()
