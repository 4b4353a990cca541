"""Predicted times for a person: one line a model and size."""

from collections.abc import Sequence

from commbench.collectives import COLLECTIVES
from commbench.modelling.forecasts import Forecast
from commbench.showing.grid import Cells, grid
from commbench.showing.heading import clean
from commbench.units import format_rate, format_seconds, format_size

_HEAD = ("set", "ranks", "collective", "redop", "type", "place", "mode", "beside", "size", "time", "95 % from", "to",
         "algbw", "busbw", "extrapolated")  # fmt: skip


def draw(forecasts: Sequence[Forecast]) -> str:
    """The table, and below it the reasons of what could not be predicted."""
    parts = []
    known = [forecast for forecast in forecasts if forecast.prediction is not None]
    if known:
        parts.append(grid(_HEAD, [_row(forecast) for forecast in known], left={0, *range(2, 8), 14}))
    refusals = dict.fromkeys(
        f"refused  {_curve(forecast)}: {forecast.refused}" for forecast in forecasts if forecast.refused
    )
    return "".join([*parts, *(clean(line) + "\n" for line in refusals)])


def _row(forecast: Forecast) -> Cells:
    key, known = forecast.key, forecast.prediction
    assert known is not None
    rate = forecast.message_bytes / known.seconds
    factor = None if key.world_size is None else COLLECTIVES[key.collective].bus_factor(key.world_size)
    return (
        key.label or "", str(key.world_size or ""), key.collective, key.op or "", key.dtype or "", key.placement or "",
        key.mode or "", key.beside or "", format_size(forecast.message_bytes), format_seconds(known.seconds),
        format_seconds(known.interval[0]), format_seconds(known.interval[1]), format_rate(rate),
        "" if factor is None else format_rate(rate * factor), _beyond(forecast),
    )  # fmt: skip


def _beyond(forecast: Forecast) -> str:
    known = forecast.prediction
    if known is None or not known.is_extrapolated:
        return ""
    words = f"yes, {known.extrapolated:.3g} times beyond what was measured"
    law = forecast.scaling
    if law is not None:
        measured = ", ".join(map(str, law.world_sizes))
        words += f"; {law.law.name} law of {measured} ranks, {100 * law.error:.0f} % off on the largest held out"
    return words


def _curve(forecast: Forecast) -> str:
    key = forecast.key
    label = f"{key.label}: " if key.label else ""
    return label + str(key)
