"""Resume: which points are the same, and when a run may not continue a file."""

from typing import Any

import pytest

from commbench.errors import SweepFileError
from commbench.sweepfile.reader import parse_sweeps
from commbench.sweepfile.resume import differences, point_key, refuse_unlike

from .building import file_of, header, left_out, measurement

SETTINGS: dict[str, Any] = {"warm_up": 5, "buffers": "rotate", "sizes": [8, 1024]}
ENVIRONMENT: dict[str, Any] = {"hosts": ["a"], "device": "cpu", "cpu": "Xeon", "torch": "2.6.0"}


def test_the_key_of_a_point() -> None:
    """Collective, size, dtype, operator, root, placement, mode, cycle, and what ran beside it."""
    expected = ("all_reduce", 1024, "float32", "sum", None, "in", "isolated", 3, "compute")
    assert expected == tuple(point_key(measurement(cycle=3, beside="compute")))


def test_a_point_left_out_has_the_key_of_its_measurement() -> None:
    """So that a resume can tell which points an earlier run gave up."""
    point = measurement()
    fields = ("collective", "message_bytes", "dtype", "op", "root", "placement", "mode", "cycle")
    assert point_key(left_out(**{name: getattr(point, name) for name in fields})) == point_key(point)


def test_results_and_sweep_are_not_part_of_the_key() -> None:
    """The same point measured twice, in two sweeps, is the same point."""
    again = measurement(sweep="other", seconds=(1.0,), fastest_seconds=None, correct=None, wrong=None)
    assert point_key(again) == point_key(measurement())


@pytest.mark.parametrize(
    "change",
    [
        {"collective": "reduce"},
        {"message_bytes": 8},
        {"dtype": "int8"},
        {"op": "max"},
        {"root": 0},
        {"placement": "out"},
        {"mode": "graph"},
        {"cycle": 1},
    ],
    ids=lambda change: next(iter(change)),
)
def test_each_part_of_the_key_tells_points_apart(change: dict[str, Any]) -> None:
    """One field differs, the point is another."""
    assert point_key(measurement(**change)) != point_key(measurement())


def test_the_same_run_may_continue() -> None:
    """No differences between a header and itself."""
    assert differences(header(), header()) == []


def test_a_header_from_the_file_is_like_the_one_it_was_written_from() -> None:
    """Tuples come back as lists; that is no difference."""
    now = header(settings={"groups": (0, 1), "limits": {"seconds": (1.0, 2)}}, groups=((0, 1),))
    (sweep,) = parse_sweeps(file_of(now))
    assert differences(sweep.header, now) == []


@pytest.mark.parametrize(
    ("entry", "change"),
    [
        ('backend: "gloo" in the file, "nccl" now', {"backend": "nccl"}),
        ("world_size: 2 in the file, 4 now", {"world_size": 4}),
        ("ranks_per_host: [2] in the file, [1,1] now", {"ranks_per_host": (1, 1)}),
        ('label: "here" in the file, "there" now', {"label": "there"}),
        (
            'transport.setting: "host" in the file, "nvlink" now',
            {"transport": {"setting": "nvlink"}},
        ),
        (
            'environment.hosts: ["a"] in the file, ["b"] now',
            {"environment": ENVIRONMENT | {"hosts": ["b"]}},
        ),
        ('environment.device: "cpu" in the file, "H200" now', {"environment": ENVIRONMENT | {"device": "H200"}}),
        ('environment.cpu: "Xeon" in the file, "EPYC" now', {"environment": ENVIRONMENT | {"cpu": "EPYC"}}),
        ('environment.torch: "2.6.0" in the file, "2.7.0" now', {"environment": ENVIRONMENT | {"torch": "2.7.0"}}),
        ("settings.warm_up: 5 in the file, 9 now", {"settings": SETTINGS | {"warm_up": 9}}),
        ("settings.check: not set in the file, true now", {"settings": SETTINGS | {"check": True}}),
        (
            'settings.buffers: "rotate" in the file, not set now',
            {"settings": {"warm_up": 5, "sizes": [8, 1024]}},
        ),
    ],
)
def test_a_difference_names_its_field_and_both_values(entry: str, change: dict[str, Any]) -> None:
    """One changed field, one entry."""
    assert differences(header(), header(**change)) == [entry]


@pytest.mark.parametrize(
    "key",
    [
        *("collectives", "sizes", "dtypes", "operators", "modes", "placements"),
        *("cycles", "shuffle", "time_limit", "world_sizes"),
    ],
)
def test_the_plan_may_change(key: str) -> None:
    """A resumed run may ask for more or other points, or for more time."""
    assert differences(header(), header(settings=SETTINGS | {key: "other"})) == []


@pytest.mark.parametrize(
    "change",
    [
        {"environment": {}},
        {"ranks_per_host": None},
        {"label": None},
        {"transport": {}},
        {"environment": ENVIRONMENT | {"kernel": "6.1", "nccl": "2.21"}},
    ],
)
def test_what_one_side_does_not_say_is_not_compared(change: dict[str, Any]) -> None:
    """A fact about the machine that is missing in the file or now is no difference, in either direction."""
    assert differences(header(), header(**change)) + differences(header(**change), header()) == []


def test_time_id_and_version_may_differ() -> None:
    """A resume happens later; that is the point of it."""
    assert differences(header(), header(sweep="x", started_at="2027-01-01T00:00:00Z")) == []


def test_a_run_that_differs_is_refused_with_every_difference() -> None:
    """All at once, and the way out: another -J file."""
    with pytest.raises(SweepFileError) as caught:
        refuse_unlike(header(), header(world_size=4, backend="nccl"))
    assert [word in caught.value.found for word in ("world_size", "backend")] == [True, True]
    assert "-J" in caught.value.fix


def test_a_run_that_is_alike_is_not_refused() -> None:
    """Nothing happens."""
    refuse_unlike(header(), header())
