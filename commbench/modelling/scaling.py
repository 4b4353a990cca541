"""Larger worlds than measured: which law of `laws` the measured worlds follow, and what it says of others.

The law's constants come from all worlds and sizes together, by relative least squares that keep them from being
negative. A time at another number of ranks is that of the nearest measured world, times the ratio the law gives: so
what is special about a size (a protocol, a buffer) is carried over rather than smoothed away.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from commbench.errors import RefusedModelError
from commbench.modelling.laws import Law, laws_of
from commbench.modelling.model import Model, ModelKey, Prediction
from commbench.modelling.predicting import predict_many
from commbench.modelling.worlds import World, grown, world_of

Floats = npt.NDArray[np.float64]

FEWEST_WORLDS = 3  # launch and hop are two unknowns; a third world can contradict them
SIZES = 24  # at which the law is fitted, spread evenly in log size over what all worlds measured
AS_GOOD = 1.5  # times the best law's error: laws up to that are possible too, and widen the interval
_TWO_SIDED = 1.96


class RefusedScalingError(RefusedModelError):
    """The measured worlds are too few for a law."""


class Constants(NamedTuple):
    """What the law's terms cost.

    Attributes:
        launch, hop, host_hop: s; of a call, and of a step inside a host or between hosts.
        link, host_link: s per byte, in worlds on one host and on several.
    """

    launch: float
    hop: float
    host_hop: float
    link: float
    host_link: float


class Scaling(NamedTuple):
    """A law fitted to models that differ in their number of ranks only.

    Attributes:
        key: of the models, without a number of ranks.
        law, constants: the law that predicts a left-out world best, and its constants.
        others: laws that do nearly as well, with theirs.
        models: ascending in ranks.
        error: the mean relative error on the largest world, predicted from the smaller ones.
    """

    key: ModelKey
    law: Law
    constants: Constants
    others: tuple[tuple[Law, Constants], ...]
    models: tuple[Model, ...]
    error: float

    @property
    def worlds(self) -> tuple[World, ...]:
        """The measured worlds, ascending."""
        return tuple(world_of(model.key) for model in self.models)

    @property
    def world_sizes(self) -> tuple[int, ...]:
        """The measured numbers of ranks, ascending."""
        return tuple(world.ranks for world in self.worlds)

    def predict(self, message_bytes: float, ranks: int) -> Prediction:
        """The time of one call of a size among so many ranks, with its 95 % interval.

        The interval joins the nearest model's own, the law's error on the largest world (growing with each further
        doubling of ranks), and what the other possible laws say.
        """
        near = _nearest(self.models, ranks)
        known = predict_many(near, [message_bytes])
        base, target = world_of(near.key), grown(self.worlds, ranks)
        ratios = [
            _seconds(law, constants, target, message_bytes) / max(_seconds(law, constants, base, message_bytes), 1e-300)
            for law, constants in ((self.law, self.constants), *self.others)
        ]
        seconds = float(known.seconds[0]) * ratios[0]
        doublings = abs(float(np.log2(ranks / base.ranks)))
        own = float(np.log(known.high[0] / known.seconds[0]))
        of_law = _TWO_SIDED * self.error * max(1.0, doublings)
        apart = max(abs(float(np.log(ratio / ratios[0]))) for ratio in ratios)
        spread = float(np.sqrt(own**2 + of_law**2)) + apart
        beyond = max(float(known.extrapolated[0]), ranks / base.ranks, base.ranks / ranks)
        return Prediction(seconds, (seconds * float(np.exp(-spread)), seconds * float(np.exp(spread))), beyond)


def families(models: Sequence[Model]) -> tuple[tuple[Model, ...], ...]:
    """Models sorted into families, which differ in their number of ranks only."""
    grouped: dict[tuple[object, ...], list[Model]] = {}
    for model in models:
        same = model.key._replace(world_size=0, ranks_per_host=None)
        grouped.setdefault((same, model.device, model.backend), []).append(model)
    return tuple(tuple(family) for family in grouped.values())


def scalings(models: Sequence[Model]) -> tuple[Scaling, ...]:
    """The laws of all families of models that have one."""
    found = []
    for family in families(models):
        try:
            found.append(fit_scaling(family))
        except RefusedScalingError:
            continue
    return tuple(found)


def fit_scaling(family: Sequence[Model]) -> Scaling:
    """The law of a family of models.

    Raises:
        RefusedScalingError: fewer than three numbers of ranks have a model.
    """
    by_ranks = {model.key.world_size: model for model in family if model.refused is None and model.key.world_size}
    models = tuple(by_ranks[ranks] for ranks in sorted(ranks for ranks in by_ranks if ranks is not None))
    sizes = _common_sizes(models)
    if len(models) < FEWEST_WORLDS or sizes is None:
        raise _too_few(family, models)
    times = np.array([predict_many(model, sizes).seconds for model in models])
    worlds = tuple(world_of(model.key) for model in models)
    judged = [
        (_largest_error(law, worlds, sizes, times), _cost(law, worlds, sizes, times), law)
        for law in laws_of(models[0].key.collective)
    ]
    best = min(judged, key=lambda one: one[0] + one[1])
    others = tuple(
        (law, _constants(law, worlds, sizes, times))
        for error, cost, law in judged
        if law is not best[2] and error + cost <= AS_GOOD * (best[0] + best[1])
    )
    return Scaling(
        models[0].key._replace(world_size=None, ranks_per_host=None),
        best[2], _constants(best[2], worlds, sizes, times), others, models, best[0],
    )  # fmt: skip


def _common_sizes(models: Sequence[Model]) -> Floats | None:
    if not models:
        return None
    first = max(model.sizes[0] for model in models)
    last = min(model.sizes[-1] for model in models)
    return np.geomspace(first, last, SIZES) if first < last else None


def _nearest(models: Sequence[Model], ranks: int) -> Model:
    return min(models, key=lambda model: abs(np.log((model.key.world_size or 1) / ranks)))


def _terms(law: Law, world: World, sizes: Floats) -> Floats:
    """(sizes, 5): what each of `Constants` is multiplied with."""
    inside, between = world.steps(law)
    bytes_over_link = law.share(world.ranks) * sizes
    ones, nothing = np.ones_like(sizes), np.zeros_like(sizes)
    links = (nothing, bytes_over_link) if world.hosts > 1 else (bytes_over_link, nothing)
    return np.stack([ones, inside * ones, between * ones, *links], axis=1)


def _constants(law: Law, worlds: Sequence[World], sizes: Floats, times: Floats) -> Constants:
    rows = np.concatenate([_terms(law, world, sizes) for world in worlds]) / times.reshape(-1, 1)
    from scipy.optimize import nnls  # here: loading it takes as long as fitting eight curves, and few have a law

    scale = np.maximum(rows.max(axis=0), 1e-300)
    solved, _ = nnls(rows / scale, np.ones(len(rows)))
    return Constants(*(solved / scale * (rows.max(axis=0) > 0.0)).tolist())


def _seconds(law: Law, constants: Constants, world: World, size: float) -> float:
    return float((_terms(law, world, np.array([size])) @ np.array(constants))[0])


def _cost(law: Law, worlds: Sequence[World], sizes: Floats, times: Floats) -> float:
    """The mean relative error of the law itself over all worlds and sizes."""
    constants = np.array(_constants(law, worlds, sizes, times))
    fitted = np.array([_terms(law, world, sizes) @ constants for world in worlds])
    return float(np.abs(fitted / times - 1.0).mean())


def _largest_error(law: Law, worlds: Sequence[World], sizes: Floats, times: Floats) -> float:
    """The mean relative error on the largest world, carried over from the second largest by the law of the others."""
    constants = np.array(_constants(law, worlds[:-1], sizes, times[:-1]))
    known, wanted = (np.maximum(_terms(law, world, sizes) @ constants, 1e-300) for world in worlds[-2:])
    return float(np.abs(np.minimum(times[-2] * wanted / known / times[-1], 1e6) - 1.0).mean())


def _too_few(family: Sequence[Model], models: Sequence[Model]) -> RefusedScalingError:
    measured = ", ".join(str(model.key.world_size) for model in models) or "none"
    return RefusedScalingError(
        f"{family[0].key.collective}: other numbers of ranks cannot be predicted",
        expected=f"models of {FEWEST_WORLDS} or more numbers of ranks, over sizes that they share",
        found=f"a model for {measured}",
        fix="measure smaller parts of the machine too (fewer ranks, fewer hosts) under the same --label",
    )
