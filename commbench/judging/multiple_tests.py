"""Many questions at once: p-values corrected so that the chance of any false alarm among them stays bounded."""

from collections.abc import Sequence

FALSE_ALARMS = 0.02
"""The chance that two sides without any difference are called different at any size of any curve (family-wise)."""


def adjusted(p_values: Sequence[float]) -> tuple[float, ...]:
    """Holm's step-down correction: each adjusted value may be held against the family-wise rate by itself.

    Valid however the tests depend on each other. Source: Holm, "A simple sequentially rejective multiple test
    procedure", Scandinavian Journal of Statistics 6, 1979.
    """
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    result = [1.0] * len(p_values)
    highest = 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        result[place] = highest
    return tuple(result)
