"""Run the launches one after another, prove each, and keep what is finished whatever happens."""

import signal
import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from commbench.errors import CommbenchError, LaunchError
from commbench.importing.nccl_tests.process_tree import ProcessTree
from commbench.interconnects.marking import mark_void
from commbench.interconnects.nvlinks import active_nvlinks_here
from commbench.interconnects.order import Step
from commbench.interconnects.programs import Job
from commbench.interconnects.proof import doubts
from commbench.interconnects.stored import state_of
from commbench.launching.lines import LaunchLine
from commbench.sweepfile.reader import Sweep, read_sweeps

Tell = Callable[[str], None]
Start = Callable[[LaunchLine], int]
_LAST_WORDS = 6  # lines of a failed launch that an error repeats


class InterruptedRunError(CommbenchError):
    """Ctrl-C or SIGTERM: what was finished is kept."""


@dataclass(frozen=True)
class Outcome:
    """A step that ran or had run: its sweeps, and why they are void (empty where the setting took).

    `elsewhere`: rank 0, and so the file, is on another host.
    """

    step: Step
    sweeps: tuple[Sweep, ...]
    void: tuple[str, ...] = ()
    elsewhere: bool = False


def run_all(steps: Sequence[Step], job: Job, tell: Tell, start: Start) -> tuple[Outcome, ...]:
    """Run every step that is not finished. Where a setting did not take, every setting still gets its first launch.

    Raises:
        LaunchError: a launch failed; the steps before it are kept.
        SweepFileError: a file in the folder is void or damaged.
    """
    states = [state_of(step) for step in steps]  # what cannot go on is said before anything starts
    for step in steps:
        job.variables(step)
    outcomes: list[Outcome] = []
    for place, (step, state) in enumerate(zip(steps, states, strict=True), 1):
        if step.number > 1 and any(outcome.void for outcome in outcomes):
            break  # more launches would not make the pair less void
        head = f"[{place}/{len(steps)}] {step}"
        if state == "finished":
            tell(f"{head}: finished before")
        else:
            tell(f"{head}: {_described(job, step)}")
            _run(step, job, start, unfinished=state == "unfinished")
        outcomes.append(_judged(step, socket.gethostname()))
        for reason in outcomes[-1].void:
            tell(f"{head}: VOID: {reason}")
    return tuple(outcomes)


def started(stopped: Callable[[], int | None], forward: Tell) -> Start:
    """A way to start a line that passes on what it says on standard error and ends it when we are asked to end.

    Args:
        stopped: the signal that was caught, None while there is none.
    """

    def start(line: LaunchLine) -> int:
        last: list[str] = []
        try:
            tree = ProcessTree(line.words, line.environment)
        except OSError as error:
            raise LaunchError("a launch cannot be started", expected=f"{line.words[0]} to run",
                              found=error.strerror or str(error), fix="commbench doctor") from None  # fmt: skip
        with tree:
            for item in tree.lines():
                if item is not None and item[0] == "err":
                    forward(item[1])
                elif item is not None:
                    last = [*last, item[1]][-_LAST_WORDS:]
                if (number := stopped()) is not None:
                    tree.end()
                    raise InterruptedRunError(
                        f"ended by {signal.Signals(number).name}", expected="time to finish all launches",
                        found="launches that were finished are kept",
                        fix="the same line again runs what is missing",
                    )  # fmt: skip
            if tree.status:
                for words in last:
                    forward(words)
            return tree.status or 0

    return start


def _run(step: Step, job: Job, start: Start, *, unfinished: bool) -> None:
    step.file.parent.mkdir(parents=True, exist_ok=True)
    resume = unfinished and job.program != "nccl-tests"
    if unfinished and not resume:
        _set_aside(step.file)
    elif step.file.exists() and not resume:
        step.file.unlink()  # empty: it never got a header
    code = start(job.line(step, resume=resume))
    if code == 0:
        return
    sweeps = read_sweeps(step.file) if step.file.exists() else ()
    if not sweeps or any(sweep.end is None or sweep.status == "aborted" for sweep in sweeps):
        raise LaunchError(
            f"a launch failed: {step}",
            expected="a finished sweep",
            found=f"exit code {code}" + (f" and {step.file} unfinished" if sweeps else ", and no sweep file"),
            fix="its own words stand above; the same line again runs what is missing",
        )


def _judged(step: Step, here: str) -> Outcome:
    if not step.file.exists():
        return Outcome(step, (), elsewhere=True)
    sweeps = read_sweeps(step.file)
    if {sweep.header.environment.get("host", here) for sweep in sweeps} != {here}:
        return Outcome(step, sweeps, elsewhere=True)  # on a shared file system; its own host judges it
    reasons = []
    for sweep in sweeps:
        found = doubts(step.setting, sweep, active_nvlinks_here() if step.setting.nvlink is not None else None)
        if found:
            mark_void(step.file, sweep.header.sweep, step.setting.name, found)
            reasons += [doubt.reason for doubt in found]
    return Outcome(step, read_sweeps(step.file), tuple(dict.fromkeys(reasons)))


def _set_aside(file: Path) -> None:
    """An unfinished file that its program cannot continue; the comparison reads *.jsonl only."""
    number = 1
    while (aside := file.with_name(f"{file.name}.unfinished-{number}")).exists():
        number += 1
    file.rename(aside)


def _described(job: Job, step: Step) -> str:
    return ", ".join(f"{name}={value}" for name, value in job.variables(step).items()) or "as inherited"


def to_stderr(text: str) -> None:
    """One line of progress."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
