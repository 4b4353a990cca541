"""Which models answer a question about sizes, and their answers."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from commbench.modelling.model import Model, ModelKey, Prediction
from commbench.modelling.predicting import predict
from commbench.modelling.scaling import RefusedScalingError, Scaling, families, fit_scaling

_NOT_MEASURED = "this collective was not measured"


class Forecast(NamedTuple):
    """The answer of one model, or of the scaling law of several, for one size.

    Attributes:
        key: whose answer; its world size is the one that was asked for.
        prediction: None where refused.
        scaling: the law of several numbers of ranks that answers, None where this number was measured.
    """

    key: ModelKey
    message_bytes: int
    prediction: Prediction | None
    refused: str | None = None
    scaling: Scaling | None = None


def chosen(models: Iterable[Model], collectives: Sequence[str], modes: Sequence[str]) -> tuple[Model, ...]:
    """The models of these collectives and modes; of all where none is named."""
    return tuple(
        model
        for model in models
        if (not collectives or model.key.collective in collectives) and (not modes or model.key.mode in modes)
    )


def forecasts(
    models: Sequence[Model], collectives: Sequence[str], sizes: Sequence[int], world_size: int | None
) -> tuple[Forecast, ...]:
    """The answers of all models, in their order, for all sizes; a collective without a model is refused."""
    found: list[Forecast] = []
    if world_size is None or any(model.key.world_size == world_size for model in models):
        answering = [model for model in models if world_size in (None, model.key.world_size)]
        found += [_of_model(model, size) for model in answering for size in sizes]
    else:
        found += [forecast for family in families(models) for forecast in _scaled(family, sizes, world_size)]
    answered = {forecast.key.collective for forecast in found}
    missing = [name for name in collectives if name not in answered]
    found += [Forecast(_nobody(name, world_size), size, None, _NOT_MEASURED) for name in missing for size in sizes]
    return tuple(found)


def _of_model(model: Model, size: int) -> Forecast:
    if model.refused:
        return Forecast(model.key, size, None, model.refused)
    return Forecast(model.key, size, predict(model, size))


def _scaled(family: tuple[Model, ...], sizes: Sequence[int], world_size: int) -> list[Forecast]:
    key = family[0].key._replace(world_size=world_size, ranks_per_host=None)
    try:
        law = fit_scaling(family)
    except RefusedScalingError as refused:
        reason = f"{refused.wrong}: expected {refused.expected}, found {refused.found}"
        return [Forecast(key, size, None, reason) for size in sizes]
    return [Forecast(key, size, law.predict(size, world_size), None, law) for size in sizes]


def _nobody(collective: str, world_size: int | None) -> ModelKey:
    return ModelKey(None, world_size, None, collective, None, None, None, None, None)
