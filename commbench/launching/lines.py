"""Launch lines as lists of words. Nothing is started here, and no shell ever sees these words.

How each launcher takes environment variables to every host: torchrun's workers inherit its own environment (on other
hosts, each agent's); Open MPI's mpirun wants `-x NAME=VALUE`; Hydra (MPICH, Intel MPI) `-genv NAME VALUE`;
srun `--export=ALL,NAME=VALUE`. Tried with Open MPI 5.0 and MPICH 5.0; Slurm as its manual says.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from commbench.errors import UsageError

Kind = Literal["torchrun", "openmpi", "mpich", "srun"]

_KIND_BY_PROGRAM: dict[str, Kind] = {
    "torchrun": "torchrun",
    "prterun": "openmpi",
    "orterun": "openmpi",
    "mpirun.openmpi": "openmpi",
    "mpiexec.openmpi": "openmpi",
    "mpiexec.hydra": "mpich",
    "mpirun.mpich": "mpich",
    "mpiexec.mpich": "mpich",
    "srun": "srun",
}
_HYDRA_TEXTS = ("hydra", "mpich", "intel(r) mpi", "intel mpi")
_TORCHRUN_MODULE = ("-m", "torch.distributed.run")
_DEFAULT_PROGRAM: dict[Kind, str] = {
    "torchrun": "commbench.sweep",
    "openmpi": "mpi.sweep",
    "mpich": "mpi.sweep",
    "srun": "mpi.sweep",
}


@dataclass(frozen=True)
class Launcher:
    """A launcher with its own options, as the user wrote them after --launch.

    Attributes:
        kind: who starts the program; of `srun … torchrun …` that is torchrun.
        words: the launcher and its options, without a program.
        outer: who carries the environment to other hosts, where that is another launcher than `kind`.
    """

    kind: Kind
    words: tuple[str, ...]
    outer: Kind | None = None

    @property
    def carrier(self) -> Kind:
        return self.outer or self.kind


@dataclass(frozen=True)
class LaunchLine:
    """A whole launch line.

    Attributes:
        words: the line, one word each, ready for `subprocess` without a shell.
        environment: variables that the line itself cannot carry: add them to the environment it is started in.
    """

    words: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)


def parse_launch(text: str, *, mpi_version_text: str | None = None) -> Launcher:
    """Read what a user writes after --launch, such as `torchrun --standalone --nproc-per-node 8` or `mpirun -n 2`.

    Args:
        text: the launcher and its options; a program does not belong here.
        mpi_version_text: what `mpirun --version` prints, to tell Open MPI from MPICH; without it, Open MPI.

    Raises:
        UsageError: for an unknown launcher, open quotes, or a line that already names a program.
    """
    try:
        words = tuple(shlex.split(text))
    except ValueError as problem:
        raise _unusable(f"{text!r}: {problem}") from problem
    first = _kind(words, 0, mpi_version_text)
    if first is None:
        raise _unusable(repr(text))
    inner = next((place for place in range(1, len(words)) if _kind(words, place, None) == "torchrun"), None)
    if inner is None or first == "torchrun":
        launcher, options = Launcher(first, words), words[1:]
    else:
        launcher, options = Launcher("torchrun", words, outer=first), words[inner + 1 :]
    if options[:2] == _TORCHRUN_MODULE:
        options = options[2:]
    programs = [word for word in options if _names_program(word, launcher.kind)]
    if programs:
        raise _unusable(f"{text!r}, which already names a program ({programs[0]})")
    return launcher


def launch_line(
    launcher: Launcher,
    program: str | None = None,
    arguments: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    python: str = "python",
    *,
    binary: str | Path | None = None,
) -> LaunchLine:
    """The whole line that starts `program` (a module) or `binary` on every rank.

    Args:
        program: a module; None is the sweep that belongs to the launcher. Modules of `mpi` run under `mpi4py`,
            which ends all ranks when one of them raises.
        arguments: the program's own arguments, one word each.
        environment: variables that every rank on every host must have.
        python: the interpreter for MPI launchers; torchrun uses its own.
        binary: started as it is, instead of a module.
    """
    if binary is not None:
        start = ["--no-python", str(binary)] if launcher.kind == "torchrun" else [str(binary)]
    else:
        start = _module_words(launcher.kind, program or _DEFAULT_PROGRAM[launcher.kind], python)
    words, left = _with_environment(launcher, dict(environment or {}))
    return LaunchLine((*words, *start, *arguments), left)


def _module_words(kind: Kind, module: str, python: str) -> list[str]:
    if kind == "torchrun":
        return ["-m", module]
    return [python, *(["-m", "mpi4py"] if module.partition(".")[0] == "mpi" else []), "-m", module]


def _with_environment(launcher: Launcher, wanted: dict[str, str]) -> tuple[list[str], dict[str, str]]:
    """The launcher's words with the variables in them, and the variables that must come by inheritance."""
    first, *rest = launcher.words
    if launcher.carrier == "openmpi":
        # Open MPI joins the values with ';' before it sends them: such a value is only named, and inherited.
        left = {name: value for name, value in wanted.items() if ";" in value}
        return [
            first,
            *(word for n, v in wanted.items() for word in ("-x", n if n in left else f"{n}={v}")),
            *rest,
        ], left
    if launcher.carrier == "mpich":
        return [first, *(word for name, value in wanted.items() for word in ("-genv", name, value)), *rest], {}
    if launcher.carrier == "srun" and wanted:
        return _with_export([first, *rest], wanted)
    return [first, *rest], wanted


def _with_export(words: list[str], wanted: dict[str, str]) -> tuple[list[str], dict[str, str]]:
    # srun splits --export at commas and reads quotes in it, and sends its own environment along with ALL.
    left = {name: value for name, value in wanted.items() if any(character in value for character in ",'\"")}
    written = [f"{name}={value}" for name, value in wanted.items() if name not in left]
    # The last --export counts, so the user's own is extended instead of followed by a second one.
    for place, word in enumerate(words):
        option, equals, value = word.partition("=")
        if option == "--export":
            given = value if equals else words.pop(place + 1) if place + 1 < len(words) else ""
            exports = [name for name in given.split(",") if name not in ("", "NONE", "NIL")]
            if "ALL" not in exports:
                exports += left
            words[place] = "--export=" + ",".join([*exports, *written])
            return words, left
    return [words[0], "--export=" + ",".join(["ALL", *written]), *words[1:]], left


def _kind(words: Sequence[str], place: int, mpi_version_text: str | None) -> Kind | None:
    if place >= len(words):
        return None
    name = Path(words[place]).name
    if name in ("mpirun", "mpiexec"):
        lowered = (mpi_version_text or "").lower()
        return "mpich" if any(text in lowered for text in _HYDRA_TEXTS) else "openmpi"
    if name.startswith("python") and tuple(words[place + 1 : place + 3]) == _TORCHRUN_MODULE:
        return "torchrun"
    return _KIND_BY_PROGRAM.get(name)


def _names_program(word: str, kind: Kind) -> bool:
    # To srun -m is --distribution, so only torchrun's -m is a program.
    if kind == "torchrun" and word in ("-m", "--module"):
        return True
    return word.endswith(".py") or Path(word).name.startswith("python")


def _unusable(found: str) -> UsageError:
    return UsageError(
        "a launch line cannot be used",
        expected="torchrun, mpirun, mpiexec or srun with its own options, and no program",
        found=found,
        fix="write for example --launch 'torchrun --standalone --nproc-per-node 8', or --launch 'mpirun -n 2'",
    )
