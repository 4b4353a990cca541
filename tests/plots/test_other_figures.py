"""Figures of models, ranks, training steps and links, read back from matplotlib."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from matplotlib.figure import Figure

from commbench.modelling.fitting import fit_sweeps
from commbench.training.step_options import steps_of
from plots import model_error, pairs, scaling, training_steps
from plots.matrix import Links, read_links
from plots.panels.scaling import WORDS
from plots.running import DrawingError
from plots.steps import predict_on, predicted
from plots.style import caption_of, title_of
from tests.plots.building import MIB, SIZES, law, line, measured, sets, texts, x_of, y_of
from tests.showing.sweeps import write

FOUR = ("all_reduce", "reduce", "reduce_scatter", "all_gather")
STEP: dict[str, Any] = {
    "model": "llama2-7b", "parameters": None, "layers": None, "strategy": "dp,zero3", "variant": None, "settings": [],
    "ranks_per_host": None, "world_size": None, "mode": None, "assume_ring": False,
}  # fmt: skip


@cache
def errors() -> Figure:
    return model_error.figure(fit_sweeps([measured(collectives=("all_reduce", "all_gather"))]))


def test_an_error_a_curve_and_method() -> None:
    axes = errors().axes[0]
    assert [len(x_of(line(axes, name))) for name in ("mean", "interpolation_mean", "relative_mean", "plain_mean")] == [
        2
    ] * 4


def test_errors_are_percent() -> None:
    assert errors().axes[0].get_xlabel() == "mean relative error on held-out sizes (%)"


def test_rows_are_named_by_what_tells_them_apart() -> None:
    assert sorted(text.get_text() for text in errors().axes[0].get_yticklabels()) == ["all_gather", "all_reduce"]


def test_many_curves_become_shares_of_curves() -> None:
    """25 curves: a row each would be illegible."""
    models = fit_sweeps([measured(f"s{n}", sizes=SIZES[18:27]) for n in range(25)])
    axes = model_error.figure(models).axes[0]
    assert axes.get_ylabel() == "curves with at most this error (%)"
    assert y_of(line(axes, "mean"))[-1] == 100.0


def test_the_legend_of_errors_stays_on_the_page() -> None:
    drawn = errors()
    drawn.draw_without_rendering()
    legend = drawn.axes[0].get_legend()
    assert legend is not None
    assert legend.get_window_extent().x1 <= drawn.bbox.x1


def test_curves_without_a_model_are_counted() -> None:
    few = measured("few", sizes=SIZES[:3])
    drawn = model_error.figure(fit_sweeps([measured(), few]))
    assert "1 more have no model" in caption_of(drawn)


def test_nothing_to_judge_is_refused_with_the_reason() -> None:
    with pytest.raises(DrawingError, match="no model could be judged"):
        model_error.figure(fit_sweeps([measured(sizes=SIZES[:3])]))


@cache
def over_ranks() -> Figure:
    worlds = [
        measured(times=law(5e-6 + 3e-6 * (n - 1), 150e9 * n / (2 * (n - 1))), world_size=n, ranks_per_host=(n,))
        for n in (2, 4, 8)
    ]
    return scaling.figure(sets(*worlds))


def test_dots_over_ranks_are_bandwidth_of_the_largest_size() -> None:
    """All links carry 150 GB/s, whatever the number of ranks."""
    axes = over_ranks().axes[0]
    assert x_of(line(axes, "median nvlink")) == [2, 4, 8]
    assert y_of(line(axes, "median nvlink")) == pytest.approx([150] * 3, rel=0.02)
    assert axes.get_ylabel() == "bus bandwidth, 1 GiB (GB/s)"


def test_latency_over_ranks_is_time_of_the_smallest_size() -> None:
    axes = over_ranks().axes[1]
    assert y_of(line(axes, "median nvlink")) == pytest.approx([8, 14, 26], rel=0.01)
    assert axes.get_ylabel() == "time of one call, 8 B (µs)"


def test_the_law_is_drawn_through_three_numbers_of_ranks() -> None:
    law_line = line(over_ranks().axes[1], "law nvlink")
    assert np.interp(6, x_of(law_line), y_of(law_line)) == pytest.approx(20, rel=0.1)
    assert "the law" in WORDS


def test_one_number_of_ranks_has_no_scaling() -> None:
    with pytest.raises(DrawingError, match="several numbers of ranks"):
        scaling.figure(sets(measured()))


@cache
def steps() -> Figure:
    two = sets(measured("nvlink", collectives=FOUR), measured("host", law(10e-6, 25e9), collectives=FOUR, path="SHM"))
    found = predict_on(two, steps_of(STEP), None, mode=None, assume_ring=False)
    return training_steps.figure(found, paths=(("nvlink", "P2P (proved)"), ("host", "SHM (proved)")))


def bars(figure: Figure) -> dict[str, float]:
    return {str(bar.get_gid()): float(bar.get_width()) for bar in figure.axes[0].patches if bar.get_gid()}  # type: ignore[attr-defined]


def test_a_bar_a_strategy_interconnect_and_phase() -> None:
    assert {"dp (ddp) nvlink backward", "dp (ddp) host backward", "zero3 (deepspeed) host forward"} <= set(
        bars(steps())
    )


def test_bars_are_milliseconds_of_communication() -> None:
    """DDP all-reduces 2 bytes for each of 6.7e9 parameters: 12.6 GiB at 25 GB/s."""
    assert bars(steps())["dp (ddp) host backward"] == pytest.approx(1e3 * 2 * 6_738_415_616 / 25e9, rel=0.03)
    assert steps().axes[0].get_xlabel() == "communication of one step (ms)"


def test_totals_are_written_beside_the_bars() -> None:
    assert [text.partition(":")[0] for text in texts(steps().axes[0], "total")] == ["nvlink", "host"] * 2


def test_phases_stand_in_the_legend_in_order() -> None:
    assert [text.get_text() for text in steps().legends[0].get_texts()] == ["forward", "backward", "optimizer step"]


def test_a_step_on_an_unproved_path_says_so() -> None:
    host = sets(measured("host", law(10e-6, 25e9), collectives=FOUR))
    found = predict_on(host, steps_of(STEP), None, mode=None, assume_ring=False)
    title = title_of(training_steps.figure(found, paths=(("host", "path NOT proved"),)))
    assert title == "Communication of one training step, llama2-7b (path NOT proved of host)"


def test_an_unmeasured_collective_leaves_nothing_to_draw(tmp_path: Path) -> None:
    file = write(tmp_path / "one.jsonl", measured(collectives=("reduce",)))
    found, paths = predicted({**STEP, "files": [str(file)]})
    with pytest.raises(DrawingError, match="no step could be priced"):
        training_steps.figure(found, paths=paths)


DOCUMENT = {
    "verdict": "culprit", "sentence": "rank 2 is slow", "message_bytes": 4 * MIB, "backend": "gloo",
    "culprits": [{"kind": "rank", "fault": "slow", "name": "rank 2", "ranks": [2], "evidence": "…"}],
    "matrix": {"hosts": ["a", "a", "b", "b"]},
    "pairs": [
        {"ranks": [0, 1], "path": "inside", "bus_bytes_per_second": 200e9},
        {"ranks": [3, 0], "path": "between", "bus_bytes_per_second": 40e9},
        {"ranks": [1, 2], "path": "between", "bus_bytes_per_second": 20e9},
        {"ranks": [0, 2], "path": "between", "bus_bytes_per_second": None},
    ],
}  # fmt: skip


@pytest.fixture
def links(tmp_path: Path) -> Links:
    file = tmp_path / "pairs.json"
    file.write_bytes(msgspec.json.encode(DOCUMENT))
    return read_links(file)


def test_links_are_drawn_from_both_sides(links: Links) -> None:
    """In GB/s; what was not tested stays empty."""
    image = np.asarray(pairs.figure(links).axes[0].images[0].get_array().filled(np.nan))  # type: ignore[union-attr]
    assert (image[0, 3], image[3, 0], image[2, 1]) == (40.0, 40.0, 20.0)
    assert np.isnan([image[0, 2], image[0, 0], image[2, 3]]).all()


def test_ranks_are_named_with_their_hosts(links: Links) -> None:
    labels = [text.get_text() for text in pairs.figure(links).axes[0].get_yticklabels()]
    assert labels == ["0 (a)", "1 (a)", "2 (b)", "3 (b)"]


def test_the_culprit_is_framed(links: Links) -> None:
    frames = [patch for patch in pairs.figure(links).axes[0].patches if patch.get_gid() == "culprit"]
    assert [(frame.get_y(), frame.get_width()) for frame in frames] == [(1.5, 4)]  # type: ignore[attr-defined]


def test_the_colours_have_a_unit(links: Links) -> None:
    assert pairs.figure(links).axes[1].get_ylabel() == "bus bandwidth of the pair (GB/s)"


def test_rates_that_lie_close_together_are_told_by_the_colours(links: Links) -> None:
    """Between 30 and 40 GB/s there is no power of ten, nor twice or five times one."""
    drawn = pairs.figure(replace(links, rates=dict.fromkeys(links.rates, 35e9) | {(0, 1): 31e9}))
    drawn.draw_without_rendering()
    assert len([text for text in drawn.axes[1].get_yticklabels() if text.get_text()]) >= 3


def test_nobody_is_said_to_be_innocent_when_nothing_could_be_told(links: Links) -> None:
    undecided = replace(links, culprits=(), verdict="could not tell")
    assert texts(pairs.figure(undecided).axes[2], "culprit") == ["nobody is named"]


def test_the_verdict_stands_in_the_title(links: Links) -> None:
    assert title_of(pairs.figure(links)) == "Bandwidth between pairs of ranks: culprit (path NOT proved)"


def test_the_sentence_stands_in_the_caption(links: Links) -> None:
    assert caption_of(pairs.figure(links)).startswith("rank 2 is slow\n4 ranks on 2 hosts; gloo")


def test_the_culprit_is_named_with_its_evidence(links: Links) -> None:
    assert texts(pairs.figure(links).axes[2], "culprit") == ["rank 2: slow", "…"]
