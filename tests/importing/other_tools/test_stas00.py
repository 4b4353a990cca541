"""Tables of all_reduce_bench.py."""

import pytest

from commbench.importing.other_tools import stas00
from tests.importing.logs import reading, refused

LOG = "invented/stas00.log"
LATENCY = "invented/stas00-latency-old-labels.log"
SIDE_BY_SIDE = "invented/stas00-collectives-side-by-side.log"


def test_the_time_is_rebuilt_from_the_bandwidth_and_said_to_be() -> None:
    """32 KiB at 0.80 GB/s are 40.96 us; payloads are binary, rates decimal."""
    run = reading(stas00, LOG).runs[0]
    assert [row.message_bytes for row in run.rows] == [32 << 10, 16 << 20, 16 << 30]
    assert run.rows[0].seconds == pytest.approx(40.96e-6)
    assert {row.statistic for row in run.rows} == {"derived from a mean of bandwidths"}
    assert (run.collective, run.world_size, run.settings["trials"]) == ("all_reduce", 8, 20)
    assert run.environment == {"torch": "2.9.1+cu130", "cuda": "13.0", "nccl": "(2, 27, 7)"}


def test_no_time_follows_from_a_bandwidth_of_0() -> None:
    """Such a point is left out; a cut row is refused."""
    found = reading(stas00, LOG)
    assert [point.line for point in found.runs[0].left_out] == [13]
    assert refused(found) == [12]


def test_a_table_without_its_sentence_is_known_by_its_factor() -> None:
    """1.75 is all_reduce on 8 ranks and nothing else."""
    run = reading(stas00, LOG).runs[1]
    assert (run.collective, run.world_size, run.collective_basis) == ("all_reduce", 8, "factor")


def test_trials_of_a_profile_are_cycles_of_one_payload() -> None:
    """The payload stands in the sentence above."""
    run = reading(stas00, LOG).runs[2]
    assert [(row.message_bytes, row.cycle) for row in run.rows] == [(4 << 30, 0), (4 << 30, 1)]


def test_few_digits_are_said() -> None:
    """0.02 GB/s may be 25 % off."""
    text = "| payload | busbw | algbw |\n| --: | --: | --: |\n| 32KiB | 0.04GBps | 0.02GBps |\n"
    (run,) = reading(stas00, text).runs
    assert "25% only" in run.rows[0].notes[0]
    assert run.world_size is None


def test_a_printed_latency_is_the_time() -> None:
    """Newer versions print the median call of the slowest rank; small payloads have no bandwidth then."""
    run = reading(stas00, LATENCY).runs[0]
    assert [(row.message_bytes, row.seconds) for row in run.rows] == [(4 << 10, 17.2e-6), (16 << 20, 132.8e-6)]
    assert {row.statistic for row in run.rows} == {"median over calls of the slowest rank"}
    assert (run.collective, run.world_size, run.notes, run.rows[0].op) == ("all_gather", 8, (), None)


def test_the_first_versions_call_binary_units_kb() -> None:
    """32KB is 2^15 bytes there; 94.15 over 48.59 is all_reduce on 32 ranks."""
    run = reading(stas00, LATENCY).runs[1]
    assert [row.message_bytes for row in run.rows] == [1 << 15, 1 << 30]
    assert run.collective == "all_reduce"
    assert run.world_size_range is None or 32 in range(run.world_size_range[0], run.world_size_range[1] + 1)


def test_collectives_side_by_side_are_a_run_each() -> None:
    """An empty cell is no row; a row of other columns is refused; the summary below repeats rows and is none."""
    found = reading(stas00, SIDE_BY_SIDE)
    assert [(run.collective, run.world_size, run.mode, len(run.rows)) for run in found.runs] == [
        ("all_reduce", 6, "pipelined", 2), ("all_gather", 6, "pipelined", 1), ("send_recv", 6, "pipelined", 2),
    ]  # fmt: skip
    assert [row.seconds for row in found.runs[0].rows] == [17.2e-6, 23.1e-6]
    assert refused(found) == [9]


def test_a_payload_of_equal_parts_is_known_to_the_byte() -> None:
    """127.969 KiB over 6 ranks are 6 parts of 21840 B, a multiple of 16."""
    assert reading(stas00, SIDE_BY_SIDE).runs[1].rows[0].message_bytes == 131040
