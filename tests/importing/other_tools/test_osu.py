"""Tables of the OSU benchmarks, OMB-Py and mpi4py's demos."""

import pytest

from commbench.importing.other_tools import osu
from tests.importing.logs import noticed, points, reading, refused


def test_one_ranks_block_times_the_ranks_of_the_launch_line_is_the_message() -> None:
    """osu_allgather prints a block; `mpirun -np 64` above it says how many there are."""
    (run,) = reading(osu, "invented/osu-5.6-allgather-launched.log").runs
    assert (run.world_size, run.world_size_basis) == (64, "launch line")
    assert points(run) == [(1024 * 64, 11.84), (2048 * 64, 13.02), (4096 * 64, 17.91)]


def test_a_block_without_ranks_is_refused_row_by_row() -> None:
    """Nothing is guessed: the rows say what is missing, and --world-size supplies it."""
    log = "invented/osu-7.3-nonblocking-full.log"
    found = reading(osu, log)
    assert found.runs == ()
    assert refused(found) == [6]
    assert "--world-size" in found.rejects[0].reason
    (run,) = reading(osu, log, world_size=4).runs
    assert points(run) == [(1024, 4.28)]
    assert run.world_size_basis == "stated by the user"
    assert run.rows[0].reported["Min Comm.(us)"] == 4.01


def test_two_types_under_one_title_are_one_run() -> None:
    """-T repeats header and rows; Pass and Fail are what the check said."""
    (run,) = reading(osu, "invented/osu-7.4-full-validated-two-types.log").runs
    assert [(row.dtype, row.correct) for row in run.rows] == [
        *[("float32", True)] * 2,
        *[("float64", True), ("float64", False)],
    ]
    assert run.complete is False
    assert run.settings["memory"] == "rocm"


def test_percentiles_have_names_with_blanks() -> None:
    """`P50 Tail Lat(us)` is one column, and the time is still the average."""
    (run,) = reading(osu, "invented/osu-7.4-tails.log").runs
    assert points(run) == [(1, 1.21), (1024, 2.87)]
    assert run.rows[1].reported["P99 Tail Lat(us)"] == 4.15


def test_five_values_under_two_names_are_those_of_a_full_table() -> None:
    """The header forgets what -f adds; the row is trusted."""
    (run,) = reading(osu, "invented/osu-7.1-five-values-under-two-names.log").runs
    assert points(run) == [(4, 3.12), (8, 3.15)]
    assert run.rows[0].reported["Iterations"] == 1000


def test_a_barrier_has_a_time_and_no_size() -> None:
    """Its header begins with the average."""
    (run,) = reading(osu, "invented/osu-7.2-barrier.log").runs
    assert (run.collective, points(run)) == ("barrier", [(0, 9.37)])


def test_vectors_are_read_and_point_to_point_is_not() -> None:
    """All-to-Allv is an all_to_all of equal blocks, said so; message rates and one-sided calls are noticed."""
    found = reading(osu, "invented/osu-7.4-alltoallv-mbw-put.log", world_size=16)
    (run,) = found.runs
    assert (run.collective, points(run)) == ("all_to_all", [(1024 * 16, 21.5)])
    assert any("alltoallv" in note for note in run.notes)
    assert noticed(found) == [10, 11, 17]


def test_old_reduce_scatter_prints_elements() -> None:
    """A size of 1 in a program that only knows MPI_FLOAT is 4 bytes, and the run says so."""
    (run,) = reading(osu, "invented/osu-5.3-reduce-scatter-elements.log").runs
    assert points(run)[0] == (4, 2.11)
    assert any("MPI_FLOAT" in note for note in run.notes)


def test_omb_py_behind_a_logger_is_read() -> None:
    """Time, file and level stand before each line; the world size is in the log; calls are back to back."""
    (run,) = reading(osu, "invented/omb-py-7.4.log").runs
    assert (run.tool, run.world_size, run.mode) == ("omb-py", 4, "pipelined")
    assert points(run) == [(4096, 11.84), (8192, 13.02)]


def test_omb_py_orders_the_columns_of_nonblocking_tests_otherwise() -> None:
    """The header decides."""
    (run,) = reading(osu, "invented/omb-py-7.4-nonblocking.log").runs
    assert points(run) == [(1024, 11.33)]


def test_mpi4py_demos_time_rank_0() -> None:
    """Size 0 costs a call and moves nothing; a barrier has only size 0."""
    found = reading(osu, "invented/mpi4py-demo.log")
    broadcast, barrier = found.runs
    assert broadcast.tool == "mpi4py"
    assert points(broadcast) == [(1, 0.92), (1024, 1.87)]
    assert [point.line for point in broadcast.left_out] == [3]
    assert points(barrier) == [(0, 2.44)]
    assert {row.statistic for row in broadcast.rows} == {"rank 0"}
    assert noticed(found) == [11]


TABLE = "# OSU MPI Allreduce Latency Test v7.4\n# Size       Avg Latency(us)\n4                       7.91\n"


def test_the_user_cannot_rename_a_named_collective() -> None:
    """--collective is not used where the title says otherwise, and a note says so."""
    (run,) = reading(osu, TABLE, collective="broadcast").runs
    assert (run.collective, run.collective_basis) == ("all_reduce", "named")
    assert "--collective broadcast is not used" in run.notes[-1]


@pytest.mark.parametrize(
    ("row", "word"),
    [
        ("8                       7.9", "cut"),
        ("8", "cut"),
        ("8                       N/A", "no number"),
        ("8                       nan", "no number"),
        ("8                       7,91", "no number"),
        ("8                       7.91          3", "3 values"),
        ("99999999999999999999    7.91", "no whole number"),
    ],
)
def test_what_is_no_row_is_refused_with_its_line(row: str, word: str) -> None:
    """A cut time, a missing one, a comma and a column too many; a size beyond any memory is no row either."""
    found = reading(osu, TABLE + row + "\n")
    assert points(found.runs[0]) == [(4, 7.91)]
    assert refused(found) == [4]
    assert word in found.rejects[0].reason


def test_blanks_may_be_collapsed_and_hashes_lost() -> None:
    """Headers are found by their words."""
    text = (
        "OSU MPI-CUDA Allreduce Latency Test v7.0\nSize Avg Latency(us) Min Latency(us) Max Latency(us) Iterations\n"
        "8 7.91 7.01 8.02 100\n"
    )
    (run,) = reading(osu, text).runs
    assert points(run) == [(8, 7.91)]


def test_a_title_without_rows_is_refused() -> None:
    """A crash before the first row leaves a title: that is no empty result."""
    assert refused(reading(osu, "# OSU MPI Allreduce Latency Test v7.4\n# Size       Avg Latency(us)\n")) == [1]


def test_ranks_of_another_program_are_not_taken() -> None:
    """A launch line counts when it starts an OSU program, states one number, and stands above its table."""
    for line in ("mpirun -np 8 hostname", "mpirun -np 8 osu_bw : -np 4 osu_bw", "srun osu_allreduce"):
        (run,) = reading(osu, f"{line}\n{TABLE}").runs
        assert run.world_size is None
    (run,) = reading(osu, f"$ srun -N2 --ntasks-per-node=4 --mpi=pmix ./osu_allreduce\n{TABLE}").runs
    assert run.world_size == 8
    first, second = reading(osu, f"srun -n 16 --ntasks-per-node=8 osu_allreduce\n{TABLE}{TABLE}").runs
    assert (first.world_size, second.world_size) == (16, None)
