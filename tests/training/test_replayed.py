"""Predicted against measured: which rank and which run count."""

import numpy as np
import pytest

from commbench.training.replayed import Replay

from .laws import call, step

CALLS = (call(), call("all_gather"), call())


def replay(*runs: tuple[tuple[float, ...], ...], predicted: tuple[float, ...] | None = (1.0, 1.0, 1.0)) -> Replay:
    """Runs of two ranks and three calls each."""
    return Replay(step(*CALLS), "fake", "pipelined", np.array(runs), predicted, "a law")


ONE = replay(((1.0, 2.0, 3.0), (2.0, 2.0, 3.0)))


def test_a_run_is_that_of_its_slowest_rank() -> None:
    """Rank 1 takes 7 s for all calls, rank 0 takes 6."""
    assert ONE.total_seconds == (7.0,)


def test_parts_sum_up_to_the_whole() -> None:
    assert [(row.collective, row.measured_seconds) for row in ONE.rows] == [("all_reduce", 5.0), ("all_gather", 2.0)]


def test_the_median_run_counts() -> None:
    runs = [((seconds,) * 3, (0.0,) * 3) for seconds in (1.0, 5.0, 2.0)]
    assert replay(*runs).total.measured_seconds == 6.0


def test_the_error_is_relative_to_what_was_measured() -> None:
    assert [row.error for row in ONE.rows] == pytest.approx([-0.6, -0.5])


def test_without_a_prediction_there_is_no_error() -> None:
    assert replay(((1.0, 1.0, 1.0), (1.0, 1.0, 1.0)), predicted=None).total.error is None
