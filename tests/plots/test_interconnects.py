"""NVLink beside others, read back from matplotlib; and the real pair of two H200."""

from functools import cache
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from commbench.judging.sides import Side, read_sides, side_of
from commbench.sweepfile.reader import Sweep
from commbench.sweepfile.records import Void
from plots.interconnects import figure
from plots.running import DrawingError
from plots.style import caption_of, title_of
from tests.plots.building import MIB, SIZES, law, line, measured, texts, x_of, y_of

DATA = Path(__file__).parents[1] / "data" / "plots"
NVLINK, HOST = law(20e-6, 300e9), law(10e-6, 25e9)
CROSSING = 10e-6 / (1 / 25e9 - 1 / 300e9)  # where both laws agree (bytes)


def sides(**host: str | None) -> tuple[Side, ...]:
    slow: Sweep = measured("host", HOST, spread=0.02, **{"path": "SHM/direct/direct"} | host)  # type: ignore[arg-type]
    return side_of("nvlink", [measured(spread=0.02)]), side_of("host", [slow])


@cache
def pair() -> Figure:
    return figure(sides())


@cache
def h200() -> Figure:
    return figure(read_sides([str(DATA / "h200x2-nvlink.jsonl"), str(DATA / "h200x2-host.jsonl")]))


def test_the_ratio_is_of_times_over_the_first_side() -> None:
    drawn = line(pair().axes[1], "ratio host")
    assert x_of(drawn) == SIZES
    assert y_of(drawn) == pytest.approx([HOST(size) / NVLINK(size) for size in SIZES])


def test_the_ratio_axis_names_the_base() -> None:
    assert pair().axes[1].get_ylabel() == "time over that of nvlink"


def test_the_last_ratio_is_written_out() -> None:
    assert texts(pair().axes[1], "last host") == [f"{HOST(SIZES[-1]) / NVLINK(SIZES[-1]):.3g}×"]


def test_the_crossover_is_marked() -> None:
    """Two lines of known latency and bandwidth cross at a known size."""
    at = x_of(line(pair().axes[1], "crossover host"))[0]
    assert at == pytest.approx(CROSSING, rel=0.02)


def test_no_crossover_no_mark() -> None:
    both = side_of("nvlink", [measured()]), side_of("host", [measured("host", law(40e-6, 25e9), path="SHM")])
    assert texts(figure(both).axes[1], "crossover host") == []


def test_each_side_has_its_own_limit() -> None:
    assert texts(pair().axes[0], "ceiling") == [
        "NVLink 4, 18 links: 450", "end of NCCL's rings: 371", "PCIe gen5 x16 to the host: 63",
    ]  # fmt: skip


def test_the_caption_names_both_paths() -> None:
    assert "nvlink: P2P/CUMEM (proved) · host: SHM/direct/direct (proved)" in caption_of(pair())


def test_an_unproved_side_stands_in_the_title() -> None:
    """The likeliest way to publish a wrong plot."""
    assert title_of(figure(sides(path=None))) == "nvlink against host (path NOT proved of host)"


def test_a_void_side_is_refused() -> None:
    one = measured("host", HOST)
    void = one.__class__(one.header, one.measurements, voids=(Void(sweep="s", reason="it took P2P"),))
    with pytest.raises(DrawingError, match="host is void"):
        figure((side_of("nvlink", [measured()]), side_of("host", [void])))


def test_sides_without_a_common_collective_are_refused() -> None:
    with pytest.raises(DrawingError, match="no curve in common"):
        figure((side_of("a", [measured("a")]), side_of("b", [measured("b", collectives=("reduce",))])))


def test_nvlink_against_host_memory_on_two_h200() -> None:
    """nccl-tests on real hardware: 345 GB/s at 4 GiB over NVLink, 27.2 GB/s at 512 MiB through the host."""
    assert texts(h200().axes[0], "largest") == ["4 GiB: 345, 512 MiB: 27.2 GB/s"]


def test_at_the_same_size_the_ratio_is_smaller() -> None:
    """Both at 512 MiB: 11.6, as their times say."""
    assert texts(h200().axes[1], "last host") == ["11.6×"]
    assert x_of(line(h200().axes[1], "ratio host"))[-1] == 512 * MIB


def test_a_crossover_of_single_values_is_only_about() -> None:
    """One value a size has no error, so nothing shows where they really cross."""
    assert [text[:10] for text in texts(h200().axes[1], "crossover host")] == ["cross at ≈"]


def test_their_paths_are_proved() -> None:
    """From NCCL's own log, imported with --transport-log."""
    assert title_of(h200()) == "nvlink against host"
    assert "nvlink: P2P/direct pointer (proved) · host: SHM/direct/direct (proved)" in caption_of(h200())
