"""Real outputs of tools other than nccl-tests give what a careful reader gets from them."""

from types import ModuleType
from typing import Any

import pytest

from commbench.importing.other_tools import deepspeed_log, nccom, osu, torch_bench
from commbench.importing.sweeps import summary
from tests.importing.logs import noticed, points, reading, refused

_INIT, _FULL = "071-osu-init-bibw-allreduce-mixed-units.log", "073-osu-allreduce-mpichar-1byte-cut.log"

# log, reader, run: collective, ranks, rows, first point, last point, complete
CASES: list[tuple[str, ModuleType, tuple[Any, ...]]] = [
    ("061-osu-iallreduce-overlap-columns.log", osu, ("all_reduce", None, 2, (4, 53.25), (8, 52.61), None)),
    ("064-osu-cuda-allreduce-no-ucc-16mib.log", osu, ("all_reduce", None, 1, (1 << 24, 8630.58), None, None)),
    ("065-osu-cuda-allreduce-ucc-1gib.log", osu, ("all_reduce", None, 1, (1 << 30, 7327.25), None, None)),
    ("067-osu-allreduce-v75-lmod-noise.log", osu, ("all_reduce", None, 19, (4, 10.05), (1 << 20, 1064.92), None)),
    ("069-osu-allreduce-stdout-inside-json.json", osu, ("all_reduce", 2, 19, (4, 21.76), (1 << 20, 3291.21), None)),
    (_INIT, osu, ("all_reduce", None, 4, (4, 1.40), (32, 0.92), None)),
    (_FULL, osu, ("all_reduce", None, 7, (1, 174.36), (64, 172.15), False)),
    ("083-nccom-allg-32.log", nccom, (None, None, 4, (1024, 151.0), (524288, 179.0), True)),
    ("086-torch-allreduce-424ranks-gbps.log", torch_bench, (None, 424, 1, (6_000_000_000, 64034.8627), None, None)),
]


@pytest.mark.parametrize(("log", "reader", "expected"), CASES, ids=[case[0][:3] for case in CASES])
def test_a_real_log_gives_the_run_it_holds(log: str, reader: ModuleType, expected: tuple[Any, ...]) -> None:
    """Collective and ranks only where they are told; the times of the column that is the latency."""
    (run,) = reading(reader, log).runs
    collective, ranks, count, first, last, complete = expected
    assert (run.collective, run.world_size, len(run.rows)) == (collective, ranks, count)
    assert points(run)[0] == first
    assert points(run)[-1] == (last or first)
    assert run.complete is complete
    assert {row.correct for row in run.rows} == {None}


def test_pure_communication_is_the_latency_of_a_nonblocking_test() -> None:
    """Overall stays in `reported`, and the run says which column it took."""
    (run,) = reading(osu, "061-osu-iallreduce-overlap-columns.log").runs
    assert run.rows[0].reported["Overall(us)"] == 79.51
    assert run.settings["operation"] == "iallreduce"
    assert any("Pure Comm." in note for note in run.notes)
    assert run.lines == (6, 7)


def test_a_table_of_bandwidths_is_no_collective() -> None:
    """Each row of osu_bibw is noticed with its line, and nothing of it matters; osu_init prints no row at all."""
    found = reading(osu, _INIT)
    assert noticed(found) == [6, 7, 8, 9]
    assert refused(found) == []
    assert found.runs[0].lines == (13, 16)


def test_a_row_cut_in_its_time_is_no_row() -> None:
    """`128   1` is the beginning of a row, not 1 us."""
    found = reading(osu, _FULL)
    assert refused(found) == [11]
    assert "cut" in found.rejects[0].reason
    assert found.runs[0].rows[0].dtype == "int8"


def test_ranks_beside_a_log_in_json_are_told() -> None:
    """`num_procs` stands in the same document; the lines of the string carry the number of its line."""
    (run,) = reading(osu, "069-osu-allreduce-stdout-inside-json.json").runs
    assert run.world_size_basis == "json field"
    assert run.lines == (15, 15)
    assert summary(run)["rows"] == 19


def test_gibibytes_labelled_gigabytes_are_said() -> None:
    """2.73 of nccom-test is 2.93 GB/s, and the file proves neither collective nor ranks."""
    (run,) = reading(nccom, "083-nccom-allg-32.log").runs
    assert run.candidates == ("all_gather", "reduce_scatter", "all_to_all")
    assert run.world_size_range == (28, 34)
    assert run.footer == {"average": 0.7731, "average_is_of_these_rows": True}
    assert "2.73 at line 5 is 2.931 GB/s" in run.notes[0]


def test_a_failed_size_is_no_row() -> None:
    """The sentence in place of the figures is the reason."""
    found = reading(nccom, "084-nccom-failure.log")
    assert found.runs == ()
    assert refused(found) == [2]
    assert "Failure running neuron-bench" in found.rejects[0].reason


def test_gigabits_of_a_torch_script_are_kept_and_its_time_is_said_to_be_derived() -> None:
    """tput counts the message twice; 424 ranks are told by the log and fit the figures."""
    (run,) = reading(torch_bench, "086-torch-allreduce-424ranks-gbps.log").runs
    (row,) = run.rows
    assert row.reported["busbw_avg (Gbps)"] == 1495.6475830078125
    assert row.statistic == "derived from a mean of bandwidths"
    assert run.candidates == ("all_reduce", "all_gather", "reduce_scatter", "all_to_all")
    assert run.world_size_basis == "log line"
    assert run.lines == (5, 6)


def test_a_live_jobs_log_is_marked_as_observed() -> None:
    """Broadcasts with sizes to two decimals; 0B rows are left out; the cut row is refused."""
    found = reading(deepspeed_log, "098-deepspeed-comms-logger-broadcast-b-cut.log")
    broadcast, barrier = found.runs
    assert points(broadcast)[0] == (10240, 220.0)
    assert points(broadcast)[-1] == (1556925645, 135560.0)
    assert (len(broadcast.rows), len(broadcast.left_out), broadcast.lines) == (6, 1, (3, 9))
    assert (len(barrier.rows), len(barrier.left_out)) == (0, 1)
    assert broadcast.complete is barrier.complete is False
    assert broadcast.settings["observed"] is True
    assert refused(found) == [13]
    assert "5368709 bytes" in broadcast.rows[-1].notes[0]
