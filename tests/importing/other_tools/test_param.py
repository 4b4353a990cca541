"""Lines of results of PARAM's comms.py."""

from commbench.importing.other_tools import param
from tests.importing.logs import noticed, points, reading, refused

LOG = "invented/param.log"


def test_the_median_over_ranks_is_the_time() -> None:
    """p50 is what AlgBW is computed from; 139.230 and 243.653 GB/s fit 8 ranks only."""
    run = reading(param, LOG).runs[0]
    assert points(run) == [(1 << 24, 120.5), (2 << 24, 240.5)]
    assert (run.world_size, run.world_size_basis) == (8, "factor")
    assert {row.statistic for row in run.rows} == {"median over ranks"}


def test_elements_per_rank_tell_the_ranks_of_operations_that_shard() -> None:
    """16 MiB of bfloat16 in shares of 1048576 elements are 8 ranks; the tag follows the dtype."""
    run = reading(param, LOG).runs[1]
    assert (run.collective, run.world_size, run.world_size_basis) == ("all_gather", 8, "count")
    assert run.rows[0].dtype == "bfloat16"
    assert run.settings["tag"] == "_my-tag"


def test_a_cut_row_is_refused_and_other_benches_are_noticed() -> None:
    """Quantised and point-to-point rows are no measurement of a collective of that size."""
    found = reading(param, LOG)
    assert refused(found) == [9]
    assert found.runs[1].complete is False
    assert noticed(found) == [12, 15]


def test_the_old_header_and_names_of_torch_are_read() -> None:
    """`size (B)`, `Latency(us):p50`, reduce_scatter_base, behind a rank's prefix."""
    (run,) = reading(param, "invented/param-old-header.log").runs
    assert (run.collective, run.world_size, points(run)) == ("reduce_scatter", 8, [(1 << 24, 120.5)])


def test_rows_without_a_header_are_read_where_their_number_of_values_is_known() -> None:
    """Ten values are today's columns; three are not known."""
    row = "COMMS-RES-all_reduce-float32 16777216 4194304 120.5 121.3 122.9 119.0 123.4 139.230 243.653 0.0"
    assert points(reading(param, f"\t{row}\n\t{row}\n").runs[0]) == [(1 << 24, 120.5)] * 2
    assert [one.cycle for one in reading(param, f"\t{row}\n\t{row}\n").runs[0].rows] == [0, 1]
    assert refused(reading(param, "0: \tCOMMS-RES-all_reduce-float32  1073741824  41.187  77.226\n\n")) == [1]


def test_a_bandwidth_that_does_not_follow_is_said() -> None:
    """Columns may be shifted by a fork: AlgBW is then not size / p50."""
    row = "COMMS-RES-all_reduce-float32 16777216 4194304 120.5 121.3 122.9 119.0 123.4 243.653 139.230 0.0"
    (run,) = reading(param, f"\t{row}\n\n").runs
    assert "AlgBW is not" in run.rows[0].notes[0]
    assert run.world_size is None


def test_vectors_of_param_have_a_factor_of_their_own() -> None:
    """all_to_allv and all_gather_v are printed with a factor of 1, which tells no ranks; their counts do."""
    for name, collective in (("all_to_allv", "all_to_all"), ("all_gather_v", "all_gather")):
        row = f"COMMS-RES-{name}-int32 16777216 524288 120.5 121.3 122.9 119.0 123.4 139.230 139.230 0.0"
        (run,) = reading(param, f"\t{row}\n\n").runs
        assert (run.collective, run.world_size, run.world_size_basis) == (collective, 8, "count")


def test_an_endless_line_is_refused_without_a_search() -> None:
    """A log whose line ends were lost is no row, and takes no time."""
    assert refused(reading(param, "COMMS-RES-all_reduce-" * 200 + "\n\n")) == [1]
