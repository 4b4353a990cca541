"""Where nccl-tests' programs are: --binaries, else NCCL_TESTS_HOME, else PATH and the usual places.

A place that the user names counts alone: a typing error there must not end in another build being measured.
"""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from commbench.collectives import COLLECTIVES
from commbench.errors import UsageError

HOME = "NCCL_TESTS_HOME"

PROGRAMS = {
    "all_reduce": "all_reduce_perf",
    "reduce": "reduce_perf",
    "reduce_scatter": "reduce_scatter_perf",
    "all_gather": "all_gather_perf",
    "broadcast": "broadcast_perf",
    "all_to_all": "alltoall_perf",
    "gather": "gather_perf",
    "scatter": "scatter_perf",
    "send_recv": "sendrecv_perf",
}
# where its own README, AWS's and Azure's images, and NGC containers put it
USUAL_PLACES = (
    *("nccl-tests/build", "build", "~/nccl-tests/build", "/opt/nccl-tests/build", "/opt/nccl_tests/build"),
    *("/opt/nccl-tests", "/usr/local/nccl-tests/build", "/workspace/nccl-tests/build", "/nccl-tests/build"),
)
_SHOWN = 6  # places that a message lists
_WITH_MPI = "_mpi"  # NAME_SUFFIX of builds that have both

Which = Callable[[str], str | None]


@dataclass(frozen=True)
class Binary:
    """A program of nccl-tests.

    Attributes:
        here: whether this machine has it; in a container it may stand only where the launcher starts it.
    """

    collective: str
    path: str
    here: bool = True


def find(
    collective: str,
    folder: Path | None,
    environ: Mapping[str, str],
    *,
    launched: bool,
    which: Which = shutil.which,
    usual: tuple[str, ...] = USUAL_PLACES,
) -> Binary:
    """The program that measures a collective.

    Args:
        folder: what the user gave as --binaries, None to look around.
        launched: a launcher starts it: a build with MPI is then preferred, else one without.
        which, usual: how to look at PATH, and the places beyond it.

    Raises:
        UsageError: nccl-tests has no such program, or it is not there, or cannot be executed.
    """
    if collective not in PROGRAMS:
        raise UsageError(
            f"nccl-tests has no program for {collective}",
            expected=", ".join(name for name in COLLECTIVES if name in PROGRAMS),
            found=collective,
            fix="leave it out, or measure it with commbench.sweep",
        )
    plain = PROGRAMS[collective]
    names = (plain + _WITH_MPI, plain) if launched else (plain, plain + _WITH_MPI)
    looked: list[str] = []
    for place, named in _candidates(names, folder, environ, which, usual):
        if place is None:
            looked.append(named)
        elif place.is_file():
            if not os.access(place, os.X_OK):
                raise UsageError(
                    "an nccl-tests program cannot be executed", expected="an executable file", found=str(place),
                    fix=f"chmod +x {place}, or build it for this machine",
                )  # fmt: skip
            return Binary(collective, str(place.absolute()))
        else:
            looked.append(str(place))
    if folder is not None and launched and not folder.exists():
        return Binary(collective, str(folder / plain), here=False)
    raise _missing(plain, looked)


def found_folders(environ: Mapping[str, str], which: Which = shutil.which) -> dict[str, tuple[str, ...]]:
    """The collectives whose programs are found without --binaries, by folder."""
    folders: dict[str, list[str]] = {}
    for collective in PROGRAMS:
        try:
            binary = find(collective, None, environ, launched=False, which=which)
        except UsageError:
            continue
        folders.setdefault(str(Path(binary.path).parent), []).append(collective)
    return {folder: tuple(collectives) for folder, collectives in folders.items()}


def _candidates(
    names: tuple[str, ...], folder: Path | None, environ: Mapping[str, str], which: Which, usual: tuple[str, ...]
) -> Iterator[tuple[Path | None, str]]:
    """Files to try, in order; None with a word for a place that is no file."""
    named = folder or (Path(environ[HOME]).expanduser() if environ.get(HOME) else None)
    if named is not None:
        for inside in (named, named / "build"):
            yield from ((inside / name, name) for name in names)
        return
    for name in names:
        path = which(name)
        yield (Path(path), name) if path else (None, f"{name} on PATH")
    for place in usual:
        yield from (((Path(place).expanduser().absolute() / name), name) for name in names)


def _missing(program: str, looked: list[str]) -> UsageError:
    more = len(looked) - _SHOWN
    return UsageError(
        f"{program} was not found",
        expected=f"nccl-tests' {program} (github.com/NVIDIA/nccl-tests, built with `make`, or `make MPI=1`)",
        found="nothing at " + ", ".join(looked[:_SHOWN]) + (f" and {more} more places" if more > 0 else ""),
        fix=f"name its folder with --binaries DIR, or set {HOME}, or put it on PATH",
    )
