"""Blocks of ds_bench and of the EleutherAI cookbook."""

from commbench.importing.other_tools import ds_bench
from tests.importing.logs import noticed, points, reading, refused

LOG = "invented/ds_bench.log"


def test_the_description_gives_the_bytes_and_the_row_its_unit() -> None:
    """16777216x4 is exact where 64.0 MB is not; 410 us and 12.345 ms stand in one table."""
    run = reading(ds_bench, LOG).runs[0]
    assert points(run) == [(1 << 26, 410.0), (1 << 27, 12345.0)]
    assert (run.world_size, run.collective) == (8, "all_reduce")
    assert {row.notes for row in run.rows} == {()}
    assert any("twice" in note for note in run.notes)


def test_a_block_that_ran_out_of_memory_is_not_complete() -> None:
    """The warning is the reason."""
    run = reading(ds_bench, LOG).runs[0]
    assert run.complete is False
    assert run.reason is not None
    assert "GPU memory" in run.reason


def test_the_size_of_all_gather_is_one_ranks_input() -> None:
    """The message is 8 times as much; raw tables name the unit in the header; GBps are bytes."""
    found = reading(ds_bench, LOG)
    run = found.runs[1]
    assert points(run) == [(8 << 26, 410.0)]
    assert run.rows[0].notes == ()
    assert run.variant == "ds_bench GBps raw"


def test_cut_rows_and_empty_blocks_are_refused_and_pt2pt_is_noticed() -> None:
    """A block without a row is no empty result."""
    found = reading(ds_bench, LOG)
    assert refused(found) == [13, 20]
    assert noticed(found) == [18]


def test_host_names_before_every_line_do_not_hide_a_block() -> None:
    """pdsh writes the host before each line, a mail quotes it."""
    (run,) = reading(ds_bench, "invented/ds_bench-behind-host-names.log").runs
    assert points(run) == [(4250527334 * 4, 1588310.0)]
    assert run.rows[0].notes == ()


def _block(row: str, operation: str = "all_reduce") -> str:
    header = "Size (Bytes)  Description  Duration  Throughput (Gbps)  BusBW (Gbps)"
    return f"---- Performance of {operation} on 8 devices ----\n{header}\n{row}\n"


def test_size_and_description_must_agree() -> None:
    """64.0 MB of 8388608x4 is neither."""
    found = reading(ds_bench, _block("64.0 MB   8388608x4   410.000 us   2618.882   2291.522"))
    assert refused(found) == [3]
    assert "differ" in found.rejects[0].reason


def test_a_rounded_size_is_said_to_be_rounded() -> None:
    """A fork describes the call in words: 1.5 GB is then all that is known."""
    (run,) = reading(ds_bench, _block("1.5 GB    all_reduce(8x2)   410.000 ms   2618.882   2291.522")).runs
    assert run.rows[0].message_bytes == 1610612736
    assert "1.5 GB only" in run.rows[0].notes[0]


def test_a_time_without_unit_is_refused_and_a_wrong_throughput_is_said() -> None:
    """Only --raw drops the unit, and then the header has it."""
    assert refused(reading(ds_bench, _block("64.0 MB   16777216x4   410.000   2618.882   2291.522"))) == [3]
    (run,) = reading(ds_bench, _block("64.0 MB   16777216x4   410.000 us   1309.441   2291.522")).runs
    assert "throughput" in run.rows[0].notes[0]


def test_all_to_all_with_a_vector_is_named() -> None:
    """The cookbook names alltoallv when that option is on."""
    (run,) = reading(ds_bench, _block("64.0 MB   16777216x4   410.000 us   1309.441   1145.761", "alltoallv")).runs
    assert (run.collective, run.settings["operation"]) == ("all_to_all", "alltoallv")
