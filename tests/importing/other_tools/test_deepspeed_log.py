"""Summaries of DeepSpeed's communication logger."""

from commbench.importing.other_tools import deepspeed_calls, deepspeed_log
from tests.importing.logs import noticed, points, reading, refused

LOG = "invented/deepspeed-logger-two-summaries.log"


def test_bandwidths_of_all_operations_tell_the_ranks() -> None:
    """busbw is (n-1)/n of tput, all_reduce included: 8 ranks."""
    runs = reading(deepspeed_log, LOG).runs
    assert {(run.world_size, run.world_size_basis) for run in runs} == {(8, "factor")}


def test_the_tensor_of_all_gather_is_one_ranks_block() -> None:
    """reduce_scatter prints its whole input, though its bandwidths count it once for every rank."""
    reduce, gather, scatter, _ = reading(deepspeed_log, LOG).runs
    assert points(reduce) == [(64 << 20, 820.0)]
    assert points(gather) == [(8 * 16 << 20, 500.0)]
    assert points(scatter) == [(16 << 20, 500.0)]


def test_two_summaries_are_two_runs_each() -> None:
    """A logger prints its sums again and again: rows of two summaries are never one curve."""
    runs = reading(deepspeed_log, LOG).runs
    assert [run.rows[0].reported["Count"] for run in runs] == [10, 4, 4, 20]


def test_the_straggler_breakdown_and_sends_are_noticed() -> None:
    """The breakdown holds other times of the same calls."""
    found = reading(deepspeed_log, LOG)
    assert noticed(found) == [10, 16]
    assert refused(found) == []


def test_blocks_without_ranks_are_refused() -> None:
    """Figures that allow several worlds do not tell one."""
    text = (
        "Comm. Op  Message Size  Count  Total Latency(ms)  Avg Latency(ms)  tput_avg (Gbps)  busbw_avg (Gbps)\n"
        "all_gather\n"
        "            128.0 B             1             0.32               0.32             0.03             0.03\n"
    )
    found = reading(deepspeed_log, text)
    assert (found.runs, refused(found)) == ((), [3])
    (run,) = reading(deepspeed_log, text, world_size=4).runs
    assert points(run) == [(512, 320.0)]


def test_single_calls_of_a_verbose_log_are_cycles() -> None:
    """Each line is one call; all operations together tell the ranks; a barrier moves nothing."""
    found = reading(deepspeed_calls, "invented/deepspeed-verbose.log")
    reduce, gather, barrier = found.runs
    assert [(row.message_bytes, row.seconds, row.cycle) for row in reduce.rows] == [
        (64 << 20, 0.82e-3, 0),
        (64 << 20, 0.8e-3, 1),
    ]
    assert points(gather) == [(8 * 16 << 20, 500.0)]
    assert {run.world_size for run in found.runs} == {8}
    assert (len(barrier.rows), len(barrier.left_out)) == (0, 1)
    assert refused(found) == [5]
