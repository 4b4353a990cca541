"""The line that starts one launch of one setting: which program, with which words, in which environment."""

import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from commbench.errors import LaunchError, UsageError
from commbench.interconnects.order import Step
from commbench.interconnects.starting import program_found
from commbench.launching.lines import Kind, Launcher, LaunchLine, launch_line
from commbench.launching.settings import Setting, environment_for, set_by_line

PROGRAMS = ("commbench.sweep", "mpi.sweep", "nccl-tests")
OURS = ("-J", "--output-file", "--resume", "--label", "--plan", "--json", "-h", "--help")
"""Options of the programs that belong to interconnects, or that measure nothing."""


@dataclass(frozen=True)
class Job:
    """What is launched again and again.

    Attributes:
        launcher: as the user wrote it, with its program found.
        program: one of PROGRAMS.
        arguments: the program's own, without those that name files and labels.
        inherited: this process's environment.
    """

    launcher: Launcher
    program: str
    arguments: tuple[str, ...]
    inherited: Mapping[str, str]

    def variables(self, step: Step) -> dict[str, str]:
        """The variables that every rank of a step must have. Raises UsageError where an inherited one contradicts."""
        return environment_for(step.setting, {**self.inherited, **set_by_line(self.launcher.words)})

    def line(self, step: Step, *, resume: bool = False) -> LaunchLine:
        """The line of a step, and the whole environment to start it in.

        Args:
            resume: continue the step's file, instead of starting it.
        """
        variables = self.variables(step)
        file = str(step.file)
        words = ["--resume", file] if resume else [*self.arguments, "-J", file, "--label", step.setting.name]
        if self.program == "nccl-tests":
            # It is a driver itself: it hands the launch line, variables and all, to nccl-tests' binaries.
            inner = launch_line(self.launcher, environment=variables, binary="binary")
            inner = replace(inner, words=inner.words[: inner.words.index("binary")])
            launch = tuple(word for word in inner.words if word != "--no-python")
            started = (sys.executable, "-m", "commbench", "nccl-tests", *words, "--launch", shlex.join(launch))
            return LaunchLine(started, {**self.inherited, **variables, **inner.environment})
        line = launch_line(self.launcher, self.program, words, variables, python=sys.executable)
        return LaunchLine(line.words, {**self.inherited, **line.environment})


def job(
    launcher: Launcher,
    program: str | None,
    arguments: Sequence[str],
    inherited: Mapping[str, str],
    settings: Sequence[Setting] = (),
) -> Job:
    """Check what is launched before anything is.

    Raises:
        UsageError: an unknown program, or one that the launcher does not start; options that are ours to give;
            settings of a library that the program does not use.
        LaunchError: the launcher or the program cannot be found.
    """
    chosen = program or ("commbench.sweep" if launcher.kind == "torchrun" else "mpi.sweep")
    chosen = {"sweep": "commbench.sweep", "nccl_tests": "nccl-tests"}.get(chosen, chosen)
    if chosen not in PROGRAMS:
        raise UsageError("an unknown program was asked for", expected=", ".join(PROGRAMS), found=repr(program),
                         fix="leave --program away for the sweep that belongs to the launcher")  # fmt: skip
    if (chosen == "commbench.sweep") != (launcher.kind == "torchrun") and chosen != "nccl-tests":
        raise UsageError(
            f"{chosen} is not started by {launcher.words[0]}",
            expected="commbench.sweep under torchrun, mpi.sweep under mpirun, mpiexec or srun",
            found=f"--program {chosen} --launch {shlex.join(launcher.words)!r}",
            fix="leave --program away (under mpirun, `--backend nccl` after -- runs torch's collectives)",
        )
    for word in arguments:
        if word.partition("=")[0] in OURS or (word.startswith("-J") and word[1] != "-"):
            raise UsageError(
                f"{word} is not for the measuring program here",
                expected="options that say what to measure, after --",
                found=" ".join(arguments),
                fix="-J FOLDER before the -- names where all files go; each setting's name is its label",
            )
    _refuse_other_librarys(settings, chosen, launcher.kind, arguments)
    if chosen == "mpi.sweep":
        _find_mpi(inherited)
    return Job(_found(launcher), chosen, tuple(arguments), inherited)


def _refuse_other_librarys(settings: Sequence[Setting], program: str, kind: Kind, arguments: Sequence[str]) -> None:
    used = _library(program, kind, arguments)
    for setting in settings:
        if setting.library not in (None, used) and used != "either":
            names = {"nccl": "NCCL", "openmpi": "Open MPI"}
            raise UsageError(
                f"the setting {setting.name} is {names[str(setting.library)]}'s",
                expected=f"settings of {names.get(used, used)}",
                found=f"--settings {','.join(s.name for s in settings)} around {program}",
                fix="commbench.sweep (torchrun), `mpi.sweep --backend nccl` and nccl-tests use NCCL; mpi.sweep under "
                "Open MPI has sm and tcp; any other library takes name:VARIABLE=VALUE",
            )


def _library(program: str, kind: Kind, arguments: Sequence[str]) -> str:
    """Whose settings the program obeys: nccl, openmpi, or the name of a library that has none of ours."""
    backend = "mpi" if program == "mpi.sweep" else "nccl"
    for word, value in pairwise([*arguments, ""]):
        name, equals, written = word.partition("=")
        if name == "--backend":
            backend = written if equals else value
    if backend == "mpi":
        return {"openmpi": "openmpi", "srun": "either"}.get(kind, "MPICH")
    return backend


def _found(launcher: Launcher) -> Launcher:
    """The launcher with its program where this interpreter's environment has it, if PATH has none."""
    first = launcher.words[0]
    found = program_found(first)
    if found is not None:
        return launcher if shutil.which(first) else replace(launcher, words=(found, *launcher.words[1:]))
    raise LaunchError(
        "the launcher cannot be found",
        expected=f"{first} on PATH",
        found="no such program",
        fix="activate the environment or load the module that has it; `commbench doctor` looks at launchers",
    )


def _find_mpi(inherited: Mapping[str, str]) -> None:
    places = [Path.cwd(), *(Path(place) for place in inherited.get("PYTHONPATH", "").split(":") if place)]
    if not any((place / "mpi" / "sweep.py").is_file() for place in places):
        raise LaunchError(
            "mpi.sweep cannot be found",
            expected="the folder mpi/ of commbench's checkout in this folder, or PYTHONPATH naming the checkout",
            found=f"none in {Path.cwd()}",
            fix="run this from the root of the checkout (mpi/ is not part of the installed package)",
        )
