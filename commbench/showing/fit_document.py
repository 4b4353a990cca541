"""Models and predictions for programs: strict JSON, seconds, bytes and bytes per second, shares with 1 = 100 %."""

from collections.abc import Iterable
from typing import Any

import msgspec

from commbench.modelling.forecasts import Forecast
from commbench.modelling.model import Model
from commbench.modelling.reference import reference
from commbench.modelling.scaling import Scaling, scalings


def fit_json(models: Iterable[Model]) -> str:
    """`{"models": [...], "scaling": [...]}`, one entry a curve and a law; what a refused one lacks is null."""
    known = tuple(models)
    laws = [{**law.key._asdict(), **_scaling(law)} for law in scalings(known)]
    return _json({"models": [_model(model) for model in known], "scaling": laws})


def predict_json(forecasts: Iterable[Forecast]) -> str:
    """`{"predictions": [...]}`, one entry a curve and size; what a refused one lacks is null."""
    return _json({"predictions": [_forecast(forecast) for forecast in forecasts]})


def _model(model: Model) -> dict[str, Any]:
    built = msgspec.to_builtins(model)
    found = reference(model) if model.refused is None else None
    return {
        **model.key._asdict(),
        **{name: built[name] for name in ("device", "backend", "launches")},
        **{name: built[name] for name in ("latency_seconds", "latency_interval", "bytes_per_second")},
        "bytes_per_second_interval": model.bytes_per_second_interval,
        "bus_bytes_per_second": model.bus_bytes_per_second,
        "bus_bytes_per_second_interval": model.bus_bytes_per_second_interval,
        **{name: built[name] for name in ("half_bytes", "segments", "held_out", "outliers", "warnings", "refused")},
        "sizes": {"count": len(model.sizes), "smallest": min(model.sizes, default=None),
                  "largest": max(model.sizes, default=None)},
        "reference": found and found._asdict(),
    }  # fmt: skip


def _forecast(forecast: Forecast) -> dict[str, Any]:
    known = forecast.prediction
    return {
        **forecast.key._asdict(),
        "message_bytes": forecast.message_bytes,
        "seconds": known and known.seconds,
        "interval": known and known.interval,
        "extrapolated": None if known is None else known.is_extrapolated,
        "extrapolated_by": known and known.extrapolated,
        "scaling": forecast.scaling and _scaling(forecast.scaling),
        "refused": forecast.refused,
    }


def _scaling(law: Scaling) -> dict[str, Any]:
    """A law of several numbers of ranks. A constant that these worlds do not have is null."""
    constants = law.constants
    return {
        "law": law.law.name,
        "from_world_sizes": law.world_sizes,
        "launch_seconds": constants.launch,
        "hop_seconds": constants.hop,
        "host_hop_seconds": constants.host_hop or None,
        "link_bytes_per_second": 1.0 / constants.link if constants.link else None,
        "host_link_bytes_per_second": 1.0 / constants.host_link if constants.host_link else None,
        "largest_world_error": law.error,
        "also_possible": [other.name for other, _ in law.others],
    }


def _json(document: dict[str, Any]) -> str:
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"
