"""Tables and reports of nccom-test."""

from commbench.importing.other_tools import nccom
from tests.importing.logs import points, reading, refused

HEADER = "     size(B)  count(elems)   type  time(us)  algbw(GB/s)  busbw(GB/s)\n"


def test_the_command_line_names_operation_and_ranks() -> None:
    """It stands above the table where the terminal was kept; new columns stand between the old ones."""
    found = reading(nccom, "invented/nccom-sizes-and-average.log")
    (run,) = found.runs
    assert (run.collective, run.world_size, run.collective_basis) == ("all_gather", 32, "command line")
    assert points(run) == [(1024, 6.2), (524288, 23.5)]
    assert run.rows[0].statistic == "mean over calls"
    assert [point.message_bytes for point in run.left_out] == [33554432]
    assert refused(found) == [5]


def test_decimal_bandwidths_are_not_converted() -> None:
    """New versions mean what they print."""
    (run,) = reading(nccom, "invented/nccom-sizes-and-average.log").runs
    assert run.notes == ()


def test_a_report_in_json_is_a_run() -> None:
    """Its figures have more digits: 32 ranks fit, three collectives do."""
    (run,) = reading(nccom, "invented/nccom-report.json").runs
    assert points(run) == [(1024, 6.3), (524288, 23.5)]
    assert (run.world_size, run.collective) == (32, None)
    assert run.lines == (4, 12)


def test_a_factor_above_1_is_that_of_all_reduce() -> None:
    """195.31 over 111.61 is 1.75: all_reduce on 8 ranks. 1 may be several collectives."""
    first, second = reading(nccom, "invented/nccom-two-tables-gib.log").runs
    assert (first.collective, first.world_size, first.collective_basis) == ("all_reduce", 8, "factor")
    assert "111.61 at line 2 is 119.8 GB/s" in first.notes[0]
    assert (second.collective, second.world_size) == (None, None)
    assert {"all_reduce", "send_recv"} <= set(second.candidates)


def test_an_average_of_other_rows_is_not_attached() -> None:
    """The printed average must be the mean of the rows above it."""
    row = "    16777216       4194304   fp32       140       111.61       195.31\n"
    (run,) = reading(nccom, f"{HEADER}{row}Avg bus bandwidth:  23.5GB/s\n").runs
    assert run.footer == {"average": 23.5, "average_is_of_these_rows": False}
    assert any("not that of these rows" in note for note in run.notes)


def test_what_the_user_states_is_used_and_tested() -> None:
    """A factor of 1.75 is not that of 16 ranks, nor of all_gather."""
    row = "    16777216       4194304   fp32       140       111.61       195.31\n"
    (run,) = reading(nccom, HEADER + row, world_size=16, collective="all_reduce").runs
    assert (run.collective, run.world_size) == ("all_reduce", 16)
    assert any("fit 8 ranks" in note for note in run.notes)


def test_cut_and_mixed_rows_are_refused() -> None:
    """A row of fewer or more columns is none."""
    found = reading(nccom, f"{HEADER}    16777216       4194304   fp32       140\n    1024 256 fp32 1 2 3 4\n")
    assert (found.runs, refused(found)) == ((), [2, 3])


def test_a_permutation_is_no_collective() -> None:
    """Its pairs are the user's, and its factor of 1 is not that of a ring."""
    row = "    33554432      33554432  uint8    894.24        37.52        37.52\n"
    found = reading(nccom, f"nccom-test -r 8 --custom-src-target-pairs pairs.json permute\n{HEADER}{row}")
    assert (found.runs, [reject.matters for reject in found.rejects]) == ((), [False])
