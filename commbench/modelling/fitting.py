"""Sweeps in, models out: one for each curve of each set."""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from commbench.modelling.blending import blend, climb
from commbench.modelling.held_out import LeftOut, baselines, leave_sizes_out
from commbench.modelling.knots import knots
from commbench.modelling.launches import launch_error
from commbench.modelling.model import HeldOut, Knots, Model, ModelKey, Outlier, Segment
from commbench.modelling.observed import SHORTEST, Observed, observe
from commbench.modelling.pieces import Pieces, fit_pieces
from commbench.modelling.refusing import FEWEST_SIZES, NO_BANDWIDTH, refusal, unknown_bandwidth
from commbench.modelling.resampling import ParameterIntervals, parameter_intervals
from commbench.modelling.segmenting import MOST_SEGMENTS
from commbench.modelling.spikes import spike_weights
from commbench.modelling.warning import SHARED_DEVICE, doubts
from commbench.modelling.weighing import robust_weights
from commbench.sweepfile.curves import Curve, curves_of
from commbench.sweepfile.reader import Sweep
from commbench.sweepfile.sets import SweepSet, sets_of

Floats = npt.NDArray[np.float64]

VAGUE = 10.0  # between the ends of the bandwidth's interval; beyond that it is no answer
LEAST_GROWTH = 0.2  # of the latency, that the largest message must take longer: less shows no bandwidth
UNSEEN = 0.04  # by which the interval of log time grows per factor e beyond the measured sizes, see docs/models.md


def fit_sweeps(sweeps: Iterable[Sweep]) -> tuple[Model, ...]:
    """One model for each curve of each set of these sweeps; a curve that has none says why (`refused`)."""
    return fit_sets(sets_of(sweeps))


def fit_sets(sets: Iterable[SweepSet]) -> tuple[Model, ...]:
    """One model for each curve of each set, in the order of the sets and of their curves."""
    return tuple(
        fit_curve(curve, sweep_set, curves)
        for sweep_set in sets
        for curves in (curves_of(sweep_set),)
        for curve in curves
    )


def fit_curve(curve: Curve, sweep_set: SweepSet, beside: Sequence[Curve] = ()) -> Model:
    """The model of one curve, or a model that is `refused`.

    Args:
        beside: all curves of the set, which may say that this one is wrong.
    """
    bare = _bare(curve, sweep_set)
    reason = refusal(curve, beside)
    if reason is None and len(bare.sizes) < FEWEST_SIZES:
        reason = f"{len(bare.sizes)} sizes with a time that a clock can tell from 0: at least {FEWEST_SIZES} are needed"
    if reason is not None:
        return replace(bare, refused=reason)
    observed = observe(curve)
    if len(observed.sizes) < FEWEST_SIZES:
        return replace(bare, refused=f"{len(observed.sizes)} sizes that differ: at least {FEWEST_SIZES} are needed")
    return _fit(bare, observed)


def _bare(curve: Curve, sweep_set: SweepSet) -> Model:
    """What is known without a fit."""
    points = [(point.message_bytes, seconds) for point in curve.points if (seconds := point.seconds) >= SHORTEST]
    of_set = sweep_set.key
    return Model(
        key=ModelKey(sweep_set.name, curve.world_size, of_set.ranks_per_host, *curve.key),
        sizes=tuple(size for size, _ in points),
        seconds=tuple(seconds for _, seconds in points),
        device=of_set.device,
        backend=of_set.backend,
        proved=tuple(sorted({path for sweep in sweep_set.sweeps for path in sweep.proved or ()})) or None,
        launches=curve.launches,
        warnings=(SHARED_DEVICE,)
        if any(sweep.header.settings.get("shared_device") is True for sweep in sweep_set.sweeps)
        else (),
    )


def _fit(bare: Model, observed: Observed) -> Model:
    weights = robust_weights(observed)
    most = MOST_SEGMENTS
    while most:
        left_out = leave_sizes_out(observed, weights.all, most)
        pieces = fit_pieces(observed.sizes, observed.seconds, weights.all, left_out.starts)
        found = parameter_intervals(observed, weights, pieces)
        slow, fast = found.slope[1], found.slope[0]
        if slow <= VAGUE * fast and _grows(pieces):
            return _assembled(bare, observed, left_out, pieces, found)
        most = left_out.segment_count - 1  # the last segment knows no bandwidth: let it join the one before
    known = fast > 0.0 and _grows(pieces)
    return replace(bare, refused=unknown_bandwidth(1.0 / slow, 1.0 / fast) if known else NO_BANDWIDTH)


def _grows(pieces: Pieces) -> bool:
    return float(pieces.seconds_at(pieces.last[-1:])[0]) >= (1.0 + LEAST_GROWTH) * float(pieces.latency[0])


def _assembled(bare: Model, observed: Observed, left_out: LeftOut, pieces: Pieces, found: ParameterIntervals) -> Model:
    curve = blend(pieces, observed.sizes, observed.seconds) if left_out.blend_wins else climb(pieces, observed.sizes)
    spikes = spike_weights(observed.sizes, observed.seconds)
    table = knots(curve, observed, left_out, spikes)
    rate = 1.0 / float(pieces.slope[-1])
    interval = (1.0 / found.slope[1], 1.0 / found.slope[0])
    outliers = _outliers(observed, spikes)
    return replace(
        bare,
        latency_seconds=float(pieces.latency[0]),
        latency_interval=found.latency,
        bytes_per_second=rate,
        bytes_per_second_interval=interval,
        half_bytes=_half_bytes(pieces, table, rate),
        segments=_segments(pieces),
        knots=table,
        beyond=UNSEEN,
        held_out=_held_out(observed, left_out),
        outliers=outliers,
        warnings=(*bare.warnings, *doubts(bare, outliers, interval)),
    )


def _segments(pieces: Pieces) -> tuple[Segment, ...]:
    return tuple(
        Segment(
            from_bytes=int(first), to_bytes=int(last), latency_seconds=float(latency),
            bytes_per_second=1.0 / float(slope) if slope > 0.0 else None,
        )
        for first, last, latency, slope in zip(*pieces, strict=True)
    )  # fmt: skip


def _half_bytes(pieces: Pieces, table: Knots, rate: float) -> float | None:
    """The smallest size whose rate is half of the last segment's; None if that is outside the measured sizes."""
    sizes, seconds = np.asarray(table.message_bytes), np.asarray(table.seconds)
    if len(pieces.first) == 1:
        half = float(pieces.latency[0]) * rate
        return half if sizes[0] <= half <= sizes[-1] else None
    rates = np.log(sizes / seconds / rate * 2.0)
    above = np.flatnonzero(rates >= 0.0)
    if not len(above) or above[0] == 0:
        return None
    right = int(above[0])
    share = rates[right - 1] / (rates[right - 1] - rates[right])
    return float(np.exp((1.0 - share) * np.log(sizes[right - 1]) + share * np.log(sizes[right])))


def _held_out(observed: Observed, left_out: LeftOut) -> HeldOut:
    errors = np.abs(np.expm1(left_out.errors))
    others = baselines(observed, left_out.indices)
    return HeldOut(
        median=float(np.median(errors)),
        mean=float(errors.mean()),
        worst=float(errors.max()),
        interpolation_mean=others.interpolation,
        relative_mean=others.relative,
        plain_mean=others.plain,
        launch_mean=launch_error(observed),
    )


def _outliers(observed: Observed, spikes: Floats) -> tuple[Outlier, ...]:
    ordinary = spikes >= 1.0
    logs, times = np.log(observed.sizes), np.log(observed.seconds)
    above = np.maximum(logs - logs[ordinary][-1], 0.0)  # there as much longer as the message is larger
    expected = np.exp(np.interp(logs, logs[ordinary], times[ordinary]) + above)
    return tuple(
        Outlier(
            message_bytes=int(observed.sizes[index]),
            seconds=float(observed.seconds[index]),
            expected_seconds=float(expected[index]),
        )
        for index in np.flatnonzero(~ordinary).tolist()
    )
