"""The figure of bandwidth and time, read back from matplotlib."""

import io
from functools import cache

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from msgspec.structs import replace

from commbench.errors import UsageError
from plots.bandwidth import figure
from plots.style import DARK, caption_of, title_of
from tests.plots.building import SIZES, TIMES, line, measured, sets, texts, x_of, y_of


@cache
def nvlink() -> Figure:
    return figure(sets(measured(collectives=("all_reduce", "all_gather"))))


@cache
def unproved() -> Figure:
    return figure(sets(measured("a"), measured("b", path=None)))


def test_a_column_a_collective() -> None:
    assert [axes.get_title(loc="left") for axes in nvlink().axes] == ["all_reduce", "all_gather", "", ""]


def test_dots_are_bus_bandwidth_in_gigabytes() -> None:
    """all_gather among 2 ranks: half of size over time."""
    drawn = line(nvlink().axes[1], "median nvlink")
    assert x_of(drawn) == SIZES
    assert y_of(drawn) == pytest.approx([0.5 * size / TIMES(size) / 1e9 for size in SIZES])


def test_below_are_times_in_microseconds() -> None:
    axes = nvlink().axes[2]
    assert y_of(line(axes, "median nvlink")) == pytest.approx([1e6 * TIMES(size) for size in SIZES])
    assert axes.get_ylabel() == "time of one call (µs)"


def test_dots_are_not_joined() -> None:
    """Between two sizes nothing was measured; only the model may speak there."""
    assert line(nvlink().axes[0], "median nvlink").get_linestyle() == "None"


def test_the_fit_is_a_line_of_its_own() -> None:
    """It follows the law at sizes that nobody measured."""
    fit = line(nvlink().axes[2], "fit nvlink")
    expected = [1e6 * TIMES(int(size)) for size in x_of(fit)]
    assert y_of(fit) == pytest.approx(expected, rel=0.05)


def test_the_band_holds_the_middle_of_the_samples() -> None:
    """Samples lie evenly within 10 % of the law: the middle 80 % within 8 %."""
    band = next(c for c in nvlink().axes[2].collections if c.get_gid() == "band nvlink")
    corners = np.asarray(band.get_paths()[0].vertices)
    at_first = corners[corners[:, 0] == SIZES[0]][:, 1]
    assert (at_first.min(), at_first.max()) == pytest.approx((0.92 * 1e6 * TIMES(8), 1.08 * 1e6 * TIMES(8)))


def test_links_limit_what_is_possible() -> None:
    """H200: 450 GB/s a direction, and 371 where NCCL's rings end."""
    assert texts(nvlink().axes[0], "ceiling") == ["NVLink 4, 18 links: 450", "end of NCCL's rings: 371"]


def test_through_the_host_pcie_is_the_limit() -> None:
    host = figure(sets(measured("host", path="SHM/direct/direct")))
    assert texts(host.axes[0], "ceiling") == ["PCIe gen5 x16 to the host: 63"]


def test_no_limit_without_a_proved_path() -> None:
    assert texts(figure(sets(measured(path=None))).axes[0], "ceiling") == []


def test_the_caption_names_machine_library_mode_and_path() -> None:
    caption = caption_of(nvlink())
    words = ("nvlink: P2P/CUMEM (proved)", "NVIDIA H200", "2 ranks on 1 host", "NCCL 2.28.9", "pipelined", "2026-08-01")
    assert [word for word in words if word not in caption] == []


def test_the_caption_says_the_units() -> None:
    assert "KiB = 1024 bytes, GB/s = 1e9 bytes/s" in caption_of(nvlink()).replace("\n", " ")


def test_a_proved_path_needs_no_word_in_the_title() -> None:
    assert title_of(nvlink()) == "Bandwidth and time of collectives"


def test_an_unproved_path_stands_in_the_title() -> None:
    assert title_of(unproved()) == "Bandwidth and time of all_reduce (path NOT proved of b)"


def test_a_title_of_ones_own_does_not_hide_it() -> None:
    drawn = figure(sets(measured(path=None)), title="Our cluster")
    assert title_of(drawn) == "Our cluster (path NOT proved)"


def test_modes_of_one_setting_are_lines_of_their_own() -> None:
    drawn = figure(sets(measured(modes=("isolated", "pipelined"))))
    legend = drawn.legends[0]
    assert [text.get_text() for text in legend.get_texts()] == ["isolated", "pipelined"]


def test_single_values_have_no_band() -> None:
    """An imported row is one value, and the caption says so."""
    one = measured()
    rows = tuple(replace(m, seconds=m.seconds[:1], statistic="mean over ranks") for m in one.measurements)
    single = figure(sets(one.__class__(one.header, rows)))
    assert not single.axes[0].collections
    assert "one value a size" in caption_of(single)


def test_series_have_markers_and_colours_of_their_own() -> None:
    """So that they survive a black-and-white printer."""
    axes = unproved().axes[0]
    looks = [(line(axes, f"median {name}").get_marker(), line(axes, f"median {name}").get_color()) for name in "ab"]
    assert len({marker for marker, _ in looks}) == len({colour for _, colour in looks}) == 2


def test_a_dark_figure_is_dark() -> None:
    drawn = figure(sets(measured()), theme=DARK)
    assert max(to_rgb(drawn.get_facecolor())) < 0.2


def test_too_many_settings_are_refused() -> None:
    with pytest.raises(UsageError, match="too many lines"):
        figure(sets(*(measured(f"s{n}", sizes=SIZES[:6]) for n in range(7))))


def test_a_label_with_markup_is_drawn_as_it_is() -> None:
    """Dollar signs start mathematics in matplotlib, and a broken formula ends in an error."""
    drawn = figure(sets(measured("$\\frac{a$"), measured("b")))
    drawn.savefig(io.BytesIO(), format="svg")
    assert drawn.legends[0].get_texts()[0].get_text() == "$\\frac{a$"


def test_a_curve_without_a_model_has_no_line_and_says_so() -> None:
    """Three sizes are too few."""
    drawn = figure(sets(measured(sizes=SIZES[:3])))
    assert "dots without a line: no model describes them" in caption_of(drawn).replace("\n", " ")
    assert [each.get_gid() for each in drawn.axes[1].lines] == ["median nvlink"]


def test_many_unproved_settings_are_counted_in_the_title() -> None:
    """Their names would crowd out the words that matter."""
    names = [f"a-long-name-{n}" for n in range(3)]
    drawn = figure(sets(measured("a"), *(measured(name, path=None) for name in names)))
    assert title_of(drawn) == "Bandwidth and time of all_reduce (path NOT proved of 3 settings)"


def test_names_with_an_underscore_stand_in_the_legend() -> None:
    """matplotlib hides such labels."""
    drawn = figure(sets(measured("_a"), measured("b")))
    assert [text.get_text().strip() for text in drawn.legends[0].get_texts()] == ["_a", "b"]
