"""Scripts on torch.distributed, and the tests of torchcomms."""

from commbench.importing.other_tools import torch_bench, torchcomms
from tests.importing.logs import points, reading, refused

RANGE = "invented/torch-bench-range.log"


def test_several_sizes_are_rows_of_one_run() -> None:
    """`Size: 64.0 MB` is binary; the ratio of the bandwidths tells 8 ranks."""
    (run,) = reading(torch_bench, RANGE).runs
    assert [row.message_bytes for row in run.rows] == [1 << 26, 1 << 27]
    assert (run.world_size, run.world_size_basis) == (8, "factor")


def test_what_tput_counts_is_known_for_all_reduce_only() -> None:
    """Stated as another collective, the rows have no time."""
    (run,) = reading(torch_bench, RANGE, collective="all_reduce").runs
    assert (run.collective, run.collective_basis) == ("all_reduce", "stated by the user")
    found = reading(torch_bench, RANGE, collective="all_gather")
    assert (found.runs, refused(found)) == ((), [3, 5])


def test_results_without_size_or_number_are_refused() -> None:
    """A cut figure is no figure."""
    assert refused(reading(torch_bench, "x\ntput_avg (Gbps): 12.5 busbw_avg (Gbps): 11.0\n")) == [2]
    assert refused(reading(torch_bench, "0 data size: 6.0 GB\ntput_avg (Gbps): nan busbw_avg (Gbps): nan\n")) == [2]


def test_a_sent_size_of_torchcomms_is_a_block_where_it_is_gathered() -> None:
    """All-gather sends a block; all-reduce the whole message."""
    reduce, gather, new = reading(torchcomms, "invented/torchcomms.log").runs
    assert points(reduce) == [(4, 20.0), (1 << 26, 500.0)]
    assert points(gather) == [(8 << 26, 500.0)]
    assert points(new) == [(1 << 26, 500.0)]
    assert {run.world_size for run in (reduce, gather, new)} == {8}


def test_gibibytes_of_old_builds_are_said() -> None:
    """109.38 is what 64 MiB in 500 us give with 2^30."""
    _, gather, _ = reading(torchcomms, "invented/torchcomms.log").runs
    assert "BusBw is GiB/s though labelled GB/s" in gather.notes
    assert gather.complete is False


def test_the_new_table_and_its_csv_say_how_calls_were_waited_for() -> None:
    """SyncInterval 0 is back to back, 1 waits for every call; device names hold blanks."""
    assert reading(torchcomms, "invented/torchcomms.log").runs[2].mode == "pipelined"
    (run,) = reading(torchcomms, "invented/torchcomms.csv").runs
    assert (run.mode, run.rows[0].dtype, run.collective) == ("isolated", "bfloat16", "all_gather")
    assert run.rows[0].reported["DeviceName"] == "NVIDIA H100 80GB HBM3"


def test_a_table_without_its_title_needs_the_users_word() -> None:
    """The old table does not name the operation."""
    text = (
        "SendMsgSize(B) Ranks     Iters     Avg(us)        Min(us)        Max(us)        BusBw(GB/s)\n"
        "67108864       8         100       500.00         500.00         500.00         234.88\n"
    )
    assert refused(reading(torchcomms, text)) == [2]
    (run,) = reading(torchcomms, text, collective="all_reduce").runs
    assert (run.collective, points(run)) == ("all_reduce", [(1 << 26, 500.0)])
