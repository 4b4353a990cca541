"""What the verbs are given: sweep files and saved models, in any mixture, read as models."""

from collections.abc import Iterable
from pathlib import Path

from commbench.modelling.fitting import fit_sweeps
from commbench.modelling.model import Model
from commbench.modelling.saved import is_saved_models, load
from commbench.sweepfile.reader import Sweep, read_sweeps


def read_models(paths: Iterable[str | Path]) -> tuple[Model, ...]:
    """The models of all files: saved ones as they are, and those of the sweeps, which answer together by sets.

    Raises:
        SweepFileError: a file cannot be read.
    """
    models, sweeps = read_files(paths)
    return (*models, *fit_sweeps(sweeps))


def read_files(paths: Iterable[str | Path]) -> tuple[tuple[Model, ...], tuple[Sweep, ...]]:
    """The saved models of all files, and the sweeps, which are not fitted yet.

    Raises:
        SweepFileError: a file cannot be read.
    """
    models: list[Model] = []
    sweeps: list[Sweep] = []
    for path in paths:
        if _is_saved(path):
            models += load(path)
        else:
            sweeps += read_sweeps(path)
    return tuple(models), tuple(sweeps)


def _is_saved(path: str | Path) -> bool:
    try:
        return is_saved_models(path)
    except (OSError, ValueError):
        return False  # the sweep file's reader says what is wrong
