"""Axes: sizes as KiB, MiB, GiB, times in µs, ratios around 1."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from plots import axes as house
from tests.plots.building import KIB, MIB, SIZES


def drawn() -> Axes:
    return Figure().subplots()


def x_labels(axes: Axes) -> list[str]:
    formatter = axes.xaxis.get_major_formatter()
    return [formatter(tick) for tick in axes.get_xticks()]


def y_labels(axes: Axes) -> list[str]:
    low, high = axes.get_ylim()
    formatter = axes.yaxis.get_major_formatter()
    return [formatter(tick) for tick in axes.get_yticks() if low <= tick <= high]


def test_sizes_are_labelled_in_powers_of_1024() -> None:
    """8 B to 1 GiB with room for four labels."""
    axes = drawn()
    house.size_axis(axes, SIZES, labels=4)
    assert x_labels(axes) == ["1 KiB", "1 MiB", "1 GiB"]


def test_few_sizes_are_all_labelled() -> None:
    axes = drawn()
    house.size_axis(axes, [KIB, 2 * KIB, 4 * KIB])
    assert x_labels(axes) == ["1 KiB", "2 KiB", "4 KiB"]


def test_one_size_has_a_label() -> None:
    """Even one that is no power of 2."""
    axes = drawn()
    house.size_axis(axes, [3 * MIB])
    assert x_labels(axes) == ["3 MiB"]


def test_the_size_axis_says_its_units() -> None:
    axes = drawn()
    house.size_axis(axes, SIZES)
    assert axes.get_xlabel() == "message size (B, KiB, MiB, GiB)"


def test_times_are_plain_microseconds() -> None:
    axes = drawn()
    house.time_axis(axes)
    axes.set_ylim(5.0, 20_000.0)
    assert (axes.get_ylabel(), y_labels(axes)) == ("time of one call (µs)", ["10", "100", "1 000", "10 000"])


def test_bandwidth_begins_at_nothing() -> None:
    """A bandwidth axis that is cut makes small differences look large."""
    axes = drawn()
    house.rate_axis(axes)
    assert (axes.get_ylabel(), axes.get_ylim()[0]) == ("bus bandwidth (GB/s)", 0.0)


def test_ratios_are_times() -> None:
    axes = drawn()
    house.ratio_axis(axes, most=11.6, least=0.7)
    assert y_labels(axes) == ["1×", "2×", "5×", "10×"]


def test_ratios_near_one_have_labels_too() -> None:
    axes = drawn()
    house.ratio_axis(axes, most=1.02, least=0.99)
    assert len(y_labels(axes)) >= 3


def test_every_number_of_ranks_is_labelled() -> None:
    axes = drawn()
    house.rank_axis(axes, [2, 6, 8])
    assert (x_labels(axes), axes.get_xlabel()) == (["2", "6", "8"], "ranks")


def test_wide_ratios_are_labelled_by_decades() -> None:
    axes = drawn()
    house.ratio_axis(axes, most=20_000.0, least=1.0)
    assert y_labels(axes) == ["1×", "10×", "100×", "1000×", "10000×"]
