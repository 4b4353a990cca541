"""What the end of a run means."""

import pytest

from commbench.importing.nccl_tests.conduct import Conduct
from commbench.importing.nccl_tests.outcome import Counts, Ending, judge, together

BANNER = "# nThread 1 nGpus 1 minBytes 8 maxBytes 1024 step: 2(factor) warmup iters: 1 iters: 20"
FOOTER = ("# Out of bounds values : 0 OK", "# Avg bus bandwidth    : 12.5 ")


def seen(*lines: str) -> Conduct:
    """How a run went that printed these lines."""
    conduct = Conduct()
    for line in lines:
        conduct.see(line)
    return conduct


def test_a_footer_and_status_0_are_right() -> None:
    assert judge(Ending("itself", 0), seen(BANNER, *FOOTER), Counts(16, 0)).code == 0


def test_wrong_data_is_1_although_the_program_failed_too() -> None:
    conduct = seen(BANNER, "# Out of bounds values : 50 FAILED", FOOTER[1])
    assert judge(Ending("itself", 1), conduct, Counts(16, 5)).code == 1


def test_wrong_rows_count_without_a_failed_footer() -> None:
    assert judge(Ending("itself", 0), seen(BANNER, *FOOTER), Counts(16, 1)).code == 1


def test_a_crash_is_2_and_says_how_many_rows_are_kept() -> None:
    outcome = judge(Ending("itself", 3), seen(BANNER, "host: Test NCCL failure x.cu:1 'bad'"), Counts(5, 0))
    assert (outcome.code, outcome.status) == (2, "aborted")
    assert outcome.message == (
        "it crashed after 5 rows, which are kept (exit status 3): host: Test NCCL failure x.cu:1 'bad'"
    )


def test_a_signal_is_named() -> None:
    assert "signal SIGSEGV" in str(judge(Ending("itself", -11), seen(BANNER), Counts(5, 0)).message)


def test_a_failure_without_a_row_is_2() -> None:
    assert judge(Ending("itself", 3), seen(BANNER), Counts(0, 0)).code == 2


def test_no_row_without_a_failure_is_1() -> None:
    assert judge(Ending("itself", 0), seen(BANNER), Counts(0, 0)).code == 1


def test_the_time_limit_is_3() -> None:
    outcome = judge(Ending("limit", after=5.0), seen(BANNER), Counts(4, 0))
    assert (outcome.code, outcome.status) == (3, "timed-out")


def test_a_missing_footer_is_3() -> None:
    assert judge(Ending("itself", 0), seen(BANNER), Counts(4, 0)).code == 3


def test_sizes_beyond_memory_are_3_and_counted() -> None:
    conduct = seen(BANNER, "# Reducing maxBytes to 300 due to memory limitation", *FOOTER)
    outcome = judge(Ending("itself", 0), conduct, Counts(12, 0))
    assert (outcome.code, outcome.status) == (3, "complete")
    assert outcome.message == "2 sizes from 512 B were left out: memory allows 300 B"


def test_an_average_below_the_minimum_is_1() -> None:
    conduct = seen(BANNER, FOOTER[0], "# Avg bus bandwidth    : 12.5 FAILED")
    assert judge(Ending("itself", 1), conduct, Counts(16, 0)).code == 1


def test_a_failure_after_everything_was_printed_keeps_the_sweep_complete() -> None:
    outcome = judge(Ending("itself", 134), seen(BANNER, *FOOTER), Counts(16, 0))
    assert (outcome.code, outcome.status) == (2, "complete")


def test_unread_rows_are_3() -> None:
    assert judge(Ending("itself", 0), seen(BANNER, *FOOTER), Counts(16, 0, ("line 9: cut",))).code == 3


@pytest.mark.parametrize(("codes", "code"), [([0, 0], 0), ([3, 2], 2), ([2, 1, 3], 1), ([], 0)])
def test_the_gravest_code_counts(codes: list[int], code: int) -> None:
    assert together(codes) == code


def test_two_processes_of_rank_0_have_not_met() -> None:
    line = "#  Rank  0 Group  0 Pid   {} on     node-0 device  0 [0000:00:06] NVIDIA H200"
    assert seen(line.format(1), line.format(2)).alone == 2


def test_groups_have_one_rank_0() -> None:
    line = "#  Rank  {} Group  {} Pid   1 on     node-0 device  0 [0000:00:06] NVIDIA H200"
    assert seen(line.format(0, 0), line.format(1, 1)).alone == 1


def test_steps_in_bytes_are_understood() -> None:
    assert seen("minBytes 8 maxBytes 40 step: 16(bytes)").sizes() == [8, 24, 40]


@pytest.mark.parametrize("plan", ["minBytes 0 maxBytes 8 step: 2(factor)", "minBytes 8 maxBytes 8 step: 0(bytes)"])
def test_a_plan_without_an_end_is_no_plan(plan: str) -> None:
    assert seen(plan).sizes() == []
