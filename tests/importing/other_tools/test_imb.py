"""Tables of the Intel MPI Benchmarks."""

from commbench.importing.other_tools import imb
from tests.importing.logs import FOLDER, noticed, points, reading, refused

LOG = "invented/imb-2021.7.log"
OLD = "invented/imb-3.2-old-megabytes-multi.log"


def test_each_number_of_processes_is_a_run_of_its_own() -> None:
    """The same benchmark on 2 and on 4 ranks is two curves, whatever it is called."""
    runs = [run for run in reading(imb, LOG).runs if run.settings["operation"] == "allreduce"]
    assert [(run.world_size, points(run)) for run in runs] == [(2, [(1 << 20, 195.11)]), (4, [(1 << 20, 395.11)])]
    assert {run.world_size_basis for run in runs} == {"header"}


def test_the_average_over_ranks_is_the_time_and_the_others_are_kept() -> None:
    """t_min and t_max are over ranks, not over calls."""
    row = reading(imb, LOG).runs[0].rows[0]
    assert (row.statistic, row.reported["t_max[usec]"]) == ("mean over ranks", 202.75)
    assert (row.dtype, row.op) == ("float32", "sum")


def test_a_row_of_0_bytes_and_one_out_of_memory_are_left_out() -> None:
    """Neither is a measurement; the second says why in IMB's words."""
    run = reading(imb, LOG).runs[1]
    assert [(point.line, point.message_bytes) for point in run.left_out] == [(31, 0), (33, 2 << 20)]
    assert run.left_out[1].reason.startswith("out-of-mem.; needed X= 1.500 GB")


def test_a_failure_behind_the_repetitions_is_left_out_too() -> None:
    """Versions differ in whether the repetitions are printed before IMB's words."""
    log = (FOLDER / LOG).read_text().replace("  out-of-mem.;", "  40  out-of-mem.;")
    run = reading(imb, log).runs[1]
    assert run.left_out[1].reason.startswith("out-of-mem.; needed X= 1.500 GB")


def test_a_block_is_multiplied_by_the_processes() -> None:
    """#bytes of Allgather is what one rank gives."""
    (run,) = [run for run in reading(imb, LOG).runs if run.collective == "all_gather"]
    assert points(run) == [(4096, 1.12)]


def test_a_barrier_has_no_bytes() -> None:
    """Its table begins with #repetitions."""
    (run,) = [run for run in reading(imb, LOG).runs if run.collective == "barrier"]
    assert points(run) == [(0, 2.12)]


def test_pingpong_is_noticed_and_sendrecv_is_a_ring() -> None:
    """Sendrecv is nccl-tests' sendrecv; PingPong is none of our collectives."""
    found = reading(imb, LOG)
    (run,) = [run for run in found.runs if run.collective == "send_recv"]
    assert points(run) == [(1 << 20, 100.0)]
    assert run.rows[0].notes == ()
    assert noticed(found) == [51]


def test_pure_time_and_defects_of_a_nonblocking_collective() -> None:
    """t_pure is the latency; a defect of 0.00 is a check that passed, under a header that names it or not."""
    run = reading(imb, LOG).runs[-1]
    assert (points(run), run.rows[0].correct, run.settings["operation"]) == ([(1024, 5.14)], True, "iallreduce")
    text = f"{_block('Allreduce', 4)}  1024  1000  1.00  1.00  1.00  0.05\n"
    assert reading(imb, text).runs[0].rows[0].correct is False


def test_old_megabytes_are_said() -> None:
    """Mbytes/sec counted 2^20 bytes: the figure that 2 MiB in 100 us give."""
    (row,) = reading(imb, OLD).runs[0].rows
    assert row.notes == ("Mbytes/sec counts 2^20 bytes",)


def test_groups_that_ran_at_once_are_runs_of_their_own() -> None:
    """-multi prints a column of groups; reduce_scatter_block counts one rank's block."""
    first, second = reading(imb, OLD).runs[1:]
    assert (first.world_size, first.settings["group"], points(first)) == (4, 0, [(4096, 5.22), (8192, 7.22)])
    assert (second.settings["group"], points(second)) == (1, [(4096, 6.22)])
    assert [point.message_bytes for point in second.left_out] == [8192]
    assert any("2 groups of 4 ranks ran at once" in note for note in first.notes)


def test_a_log_that_ends_is_complete_and_a_cut_row_is_none() -> None:
    """IMB says when it ends; a row whose last figure lacks a decimal is cut."""
    assert {run.complete for run in reading(imb, LOG).runs} == {True}
    for cut in ("  2048  1000  2.00  2.10  2.0", "  2048  1000  2.00"):
        found = reading(imb, f"{_block('Allreduce', 4)}  1024  1000  1.00  1.10  1.05\n{cut}\n")
        assert points(found.runs[0]) == [(1024, 1.05)]
        assert refused(found) == [5]
        assert found.runs[0].complete is False


def test_a_stated_world_size_does_not_overrule_the_log() -> None:
    """The log prints #processes for each table."""
    run = reading(imb, LOG, world_size=16).runs[0]
    assert run.world_size == 2
    assert "--world-size 16 is not used" in run.notes[-1]


def _block(name: str, processes: int) -> str:
    header = "#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]"
    return f"# Benchmarking {name}\n# #processes = {processes}\n{header}\n"


def test_one_rank_is_said_to_be_alone() -> None:
    """IMB runs on one process too: no link is measured there."""
    (run,) = reading(imb, f"{_block('Alltoall', 1)}  32768  1000  0.94  0.94  0.94\n").runs
    assert run.world_size == 1
    assert any("one rank" in note for note in run.notes)
