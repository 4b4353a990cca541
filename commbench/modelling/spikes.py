"""Single times that their neighbours contradict: the weight each point deserves before anything is fitted.

A spike is one point far above or below the straight line (in log-log) between its neighbours, whose removal leaves
its surroundings smooth. A jump to another protocol is no spike: without either of its points the other still stands
out.
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

SMALLEST = 0.15  # of log time: a bend between two straight parts of a sweep by factors of 2 or 4 reaches about that
TIMES_TYPICAL = 4.0  # as often as one point in 15000 of normal noise
SMOOTH_AFTER = 0.5  # what may be left at the neighbours, as a share of the spike
HALVED = 0.69  # of log time: less may be a link that slows down with the size, which nothing above it can tell
_NORMAL = 1.4826  # from the median of absolute values to a standard deviation, for normal noise
_FEWEST = 6  # points that must be left, or there are no surroundings


def spike_weights(sizes: Floats, seconds: Floats) -> Floats:
    """1 for ordinary points, and for a spike the squared share of it that would be ordinary."""
    logs, times = np.log(sizes), np.log(seconds)
    weights = np.ones(len(sizes))
    for _ in range(len(sizes) // 8 + 1):
        kept = np.flatnonzero(weights == 1.0)
        if len(kept) < _FEWEST:
            break
        bends = _bends(logs[kept], times[kept])
        typical = _NORMAL * float(np.median(np.abs(bends[1:-1])))
        worst = int(np.argmax(np.abs(bends)))
        height, ordinary = abs(float(bends[worst])), max(SMALLEST, TIMES_TYPICAL * typical)
        if height <= ordinary:
            break
        others = np.delete(kept, worst)
        left = np.abs(_bends(logs[others], times[others])[max(0, worst - 1) : worst + 1])
        if len(left) and float(left.max()) > SMOOTH_AFTER * height:
            break
        weights[kept[worst]] = (ordinary / height) ** 2 / 10.0
    return weights


def _bends(logs: Floats, times: Floats) -> Floats:
    """How far each point is above the line between its neighbours.

    Ends can only be too slow: the first slower than those above it, the last slower than a bandwidth that halves there.
    """
    bends = np.zeros(len(times))
    share = (logs[1:-1] - logs[:-2]) / (logs[2:] - logs[:-2])
    bends[1:-1] = times[1:-1] - times[:-2] - share * (times[2:] - times[:-2])
    bends[0] = max(0.0, times[0] - max(times[1], times[2]))
    slower = (times[-1] - times[-2]) - (logs[-1] - logs[-2])
    bends[-1] = slower if slower > HALVED else 0.0
    return bends
