"""Which sweeps answer together, and the curves they hold."""

from commbench.sweepfile.curves import curves_of
from commbench.sweepfile.reader import Sweep
from commbench.sweepfile.records import Source
from commbench.sweepfile.sets import sets_of
from tests.sweepfile.building import header, measurement


def test_sweeps_that_share_everything_are_one_set() -> None:
    """One file a collective is normal: both answer together."""
    both = [Sweep(header(sweep="a")), Sweep(header(sweep="b"))]
    assert [len(one.sweeps) for one in sets_of(both)] == [2]


def test_another_label_world_size_device_or_buffers_is_another_set() -> None:
    """Each of them alone keeps two sweeps apart."""
    changes: list[dict[str, object]] = [
        {"label": "other"},
        {"world_size": 4},
        {"ranks_per_host": (1, 1)},
        {"environment": {"device": "NVIDIA H200"}},
        {"settings": {"buffers": "same"}},
        {"groups": ((0, 1), (2, 3))},
        {"backend": "nccl"},
        {"source": Source(tool="nccl-tests")},
    ]
    assert len(sets_of([Sweep(header()), *(Sweep(header(**change)) for change in changes)])) == 1 + len(changes)


def test_without_a_label_the_transport_setting_names_the_set() -> None:
    """Then what is proved, then the backend."""
    unlabelled: dict[str, object] = {"label": None, "environment": {}}
    names = [
        sets_of([Sweep(header(**unlabelled, transport=transport))])[0].name
        for transport in ({"setting": "nvlink"}, {"proved": ["SHM", "P2P"]}, {})
    ]
    assert names == ["nvlink", "P2P+SHM", "gloo"]


def test_a_curve_keeps_each_launch_apart() -> None:
    """Two sweeps of one size are two launches, whose medians' median is the point's time."""
    sweeps = [
        Sweep(header(sweep=name), (measurement(sweep=name, seconds=seconds, fastest_seconds=None),))
        for name, seconds in (("a", (1.0, 2.0, 3.0)), ("b", (4.0,)))
    ]
    (curve,) = curves_of(sets_of(sweeps)[0])
    (point,) = curve.points
    assert (curve.launches, point.seconds, point.samples) == (2, 3.0, (1.0, 2.0, 3.0, 4.0))


def test_modes_placements_and_companions_are_never_mixed() -> None:
    """Each makes a curve of its own."""
    rows = (measurement(), measurement(mode="pipelined"), measurement(placement="out"), measurement(beside="compute"))
    assert len(curves_of(sets_of([Sweep(header(), rows)])[0])) == 4


def test_sizes_ascend_and_unusable_points_are_left_out() -> None:
    """No collective, no size or no time: not a point of a curve."""
    rows = (
        measurement(message_bytes=64),
        measurement(message_bytes=8),
        measurement(message_bytes=0),
        measurement(message_bytes=16, seconds=(0.0, 0.0), fastest_seconds=None),
        measurement(collective=None),
    )
    (curve,) = curves_of(sets_of([Sweep(header(), rows)])[0])
    assert [point.message_bytes for point in curve.points] == [8, 64]


def test_wrong_beats_unchecked_beats_right() -> None:
    """One wrong launch makes the point wrong; one unchecked launch makes it unchecked."""

    def correct(*checks: bool | None) -> bool | None:
        rows = tuple(measurement(correct=check, wrong=0 if check else None) for check in checks)
        return curves_of(sets_of([Sweep(header(), rows)])[0])[0].points[0].correct

    assert [correct(True, True), correct(True, None), correct(None, False)] == [True, None, False]
