"""The curve that never falls and is nearest to the times: a larger message does not take less time."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def rising(values: Floats) -> Floats:
    """The isotonic regression of values under absolute errors: neighbours that fall are pooled at their median.

    Medians rather than means, because one slow point among ten must not lift the other nine. Pool-adjacent-violators;
    Barlow, Bartholomew, Bremner and Brunk, "Statistical Inference under Order Restrictions", 1972.
    """
    pools: list[list[float]] = []
    middles: list[float] = []
    for value in values.tolist():
        pools.append([value])
        middles.append(value)
        while len(middles) > 1 and middles[-2] > middles[-1]:
            fallen = pools.pop()
            pools[-1] += fallen
            middles[-2:] = [_median(pools[-1])]
    return np.repeat(np.array(middles), [len(pool) for pool in pools])


def _median(values: list[float]) -> float:
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2.0
