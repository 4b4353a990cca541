"""Start sweeps under a real torchrun, watch them, hurt them, and see how they ended.

    result = sweep(2, "all_reduce", "-e", "1M", "-J", "out.jsonl")

or, to do something to it meanwhile,

    with Launch(2, "all_reduce", "-J", "out.jsonl") as launch:
        launch.wait_for_rows(3)
        os.kill(launch.worker(1), signal.SIGKILL)
        result = launch.wait()

torchrun gives every worker a session of its own, so a process group does not hold them together: each launch marks
its environment, and whatever bears the mark is killed at the end. Nothing here measures speed; time limits are guards.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from commbench.sweepfile.reader import Sweep, read_sweeps
from commbench.sweepfile.records import Measurement

ROOT = Path(__file__).resolve().parents[2]
SWEEP = "commbench.sweep"
GUARD = 120.0  # seconds after which a launch is killed; the longest takes about 20 on two idle cores

# What a launcher around the tests would tell our ranks about its own world.
_LAUNCHER = ("RANK", "LOCAL_", "GROUP_", "ROLE_", "WORLD_SIZE", "MASTER_", "TORCHELASTIC_", "OMPI_", "PMI", "SLURM_")
_MARK = "COMMBENCH_TEST_LAUNCH"

Key = TypeVar("Key")
Outcome = TypeVar("Outcome")


@dataclass(frozen=True)
class Result:
    """How a launch ended. `sweeps` are those of its sweep file, if it named one and that exists."""

    returncode: int
    stdout: str
    stderr: str
    sweeps: tuple[Sweep, ...] = ()

    @property
    def rows(self) -> tuple[Measurement, ...]:
        """The measurements of all sweeps."""
        return tuple(row for sweep in self.sweeps for row in sweep.measurements)

    @property
    def last_words(self) -> list[str]:
        """What ranks said when they gave up: one entry a message."""
        return [line for line in self.stderr.splitlines() if line.startswith("commbench: ")]


def sweep(
    ranks: int, *options: str, env: Mapping[str, str] | None = None, program: str = SWEEP, timeout: float = GUARD
) -> Result:
    """Run `torchrun --standalone --nproc-per-node RANKS -m PROGRAM OPTIONS` to its end."""
    with Launch(ranks, *options, env=env, program=program) as launch:
        return launch.wait(timeout)


@contextmanager
def side_by_side(launches: Mapping[Key, Callable[[], Outcome]]) -> Iterator[Callable[[Key], Outcome]]:
    """Run launches in this order, two at a time: much of one is waiting, for a launcher's imports or for an end.

    Yields a function that looks an outcome up, waiting for it. At the end, launches that nobody needs are not begun.
    """
    with ThreadPoolExecutor(2) as pool:
        futures = {key: pool.submit(launch) for key, launch in launches.items()}
        try:
            yield lambda key: futures[key].result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


class Launch:
    """A sweep under torchrun that runs. Use as a context: at its end nothing of the launch is left.

    Args:
        env: added to this process's environment, less what a launcher set there.
        program: the module that torchrun starts.
        words: the whole command line instead, to start something other than torchrun.
    """

    def __init__(
        self,
        ranks: int,
        *options: str,
        env: Mapping[str, str] | None = None,
        program: str = SWEEP,
        words: Sequence[str] | None = None,
    ) -> None:
        self.file = _file_of(options)
        self._mark = uuid.uuid4().hex
        torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks), "-m", program]
        own = {name: value for name, value in os.environ.items() if not name.startswith(_LAUNCHER)}
        self._folder = tempfile.TemporaryDirectory()
        self._out, self._err = Path(self._folder.name, "out"), Path(self._folder.name, "err")
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                words or [sys.executable, *torchrun, *options],
                cwd=ROOT,
                env={**own, "OMP_NUM_THREADS": "1", **(env or {}), _MARK: self._mark},
                stdout=out,
                stderr=err,
                start_new_session=True,
            )

    def __enter__(self) -> "Launch":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.kill()
        self.process.wait()
        self._folder.cleanup()

    def worker(self, rank: int) -> int:
        """The process id of a rank."""
        return next(pid for pid, environ in self._processes() if environ.get("RANK") == str(rank))

    def left_over(self) -> list[int]:
        """The launch's processes that still run."""
        return [pid for pid, _ in self._processes()]

    def wait_for_rows(self, count: int, timeout: float = GUARD) -> None:
        """Wait until the sweep file holds so many finished rows: the sweep is then in its middle."""
        deadline = time.monotonic() + timeout
        while self._rows() < count:
            assert self.process.poll() is None, f"ended before {count} rows were written:\n{_read(self._err)}"
            assert time.monotonic() < deadline, f"no {count} rows within {timeout:g} s:\n{_read(self._err)}"
            time.sleep(0.01)

    def wait(self, timeout: float = GUARD) -> Result:
        """Wait for the end of torchrun.

        Raises:
            AssertionError: it does not end in time; everything is killed then.
        """
        try:
            returncode = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"still running after {timeout:g} s:\n{_read(self._err)}") from None
        sweeps = read_sweeps(self.file) if self.file is not None and self._rows(b"{") else ()
        return Result(returncode, _read(self._out), _read(self._err), sweeps)

    def kill(self) -> None:
        """End every process of the launch, wherever it hides."""
        while running := self.left_over():
            for pid in running:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            time.sleep(0.01)

    def _rows(self, start: bytes = b'{"record":"measurement"') -> int:
        if self.file is None or not self.file.is_file():
            return 0
        lines = self.file.read_bytes().splitlines(keepends=True)
        return sum(line.startswith(start) and line.endswith(b"\n") for line in lines)

    def _processes(self) -> Iterator[tuple[int, dict[str, str]]]:
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                content = (folder / "environ").read_bytes()  # empty for a process that is dead and not yet reaped
            except OSError:
                continue
            if self._mark.encode() in content:
                pairs = (entry.decode(errors="replace").partition("=") for entry in content.split(b"\0"))
                yield int(folder.name), {name: value for name, _, value in pairs}


def _file_of(options: Sequence[str]) -> Path | None:
    """The sweep file that a command line names."""
    return next((Path(value) for name, value in pairwise(options) if name in _FILE), None)


_FILE = ("-J", "--output-file", "--resume")


def _read(file: Path) -> str:
    return file.read_text(errors="replace")
