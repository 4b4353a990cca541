"""Training steps priced from the files of a figure, as `commbench training` prices them."""

from collections.abc import Mapping, Sequence
from typing import Any

from commbench.errors import RefusedModelError
from commbench.modelling.inputs import read_files
from commbench.sweepfile.curves import curves_of
from commbench.sweepfile.sets import SweepSet, sets_of
from commbench.training.predictions import StepPrediction, predict_steps
from commbench.training.sources import Source, read_sources, sources_of, unfitted
from commbench.training.step_options import Steps, steps_of, world_size_of
from plots.captions import path
from plots.choosing import refuse_void


def predicted(given: Mapping[str, Any]) -> tuple[tuple[StepPrediction, ...], tuple[tuple[str, str], ...]]:
    """The steps, strategy by strategy, and the path of each interconnect in words.

    Raises:
        CommbenchError: for options, files or sweeps that cannot answer.
    """
    asked, world_size = steps_of(given), world_size_of(given["world_size"])
    paths = _paths(given["files"])
    sources = read_sources(given["files"])
    return _predict(sources, asked, world_size, mode=given["mode"], assume_ring=given["assume_ring"]), paths


def predict_on(
    sets: Sequence[SweepSet], asked: Steps, world_size: int | None, *, mode: str | None, assume_ring: bool
) -> tuple[StepPrediction, ...]:
    """The steps on sets that are in memory. Raises RefusedModelError where they cannot answer."""
    curves = [(one, curve) for one in sets for curve in curves_of(one)]
    sources = sources_of(unfitted(curve, one) for one, curve in curves)
    return _predict(sources, asked, world_size, mode=mode, assume_ring=assume_ring)


def _predict(
    sources: Sequence[Source], asked: Steps, world_size: int | None, *, mode: str | None, assume_ring: bool
) -> tuple[StepPrediction, ...]:
    if not sources:
        raise RefusedModelError("nothing can be priced from these files", expected="measured curves", found="none",
                           fix="commbench show FILE says what they hold")  # fmt: skip
    columns = [(source, asked.schedules(world_size or _ranks(source))) for source in sources]
    steps = [(row[number], source) for number in range(len(asked.wanted)) for source, row in columns]
    return predict_steps(steps, modes=None if mode is None else (mode,), assume_ring=assume_ring)


def _ranks(source: Source) -> int:
    if not source.world_sizes:
        raise RefusedModelError(f"{source.name} does not say among how many ranks it was measured",
                           expected="the number of ranks", found="none in the file",
                           fix="import it again with --world-size N")  # fmt: skip
    return max(source.world_sizes)


def _paths(files: list[str]) -> tuple[tuple[str, str], ...]:
    models, sweeps = read_files(files)
    sets = sets_of(sweeps)
    for one in sets:
        refuse_void(one)
    saved = {m.key.label or "models": ", ".join(m.proved or ()) + " (proved)" if m.proved else path([]) for m in models}
    return (*((one.name, path(one.sweeps)) for one in sets), *saved.items())
