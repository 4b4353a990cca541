"""Rows whose header is lost: runs that `grep -v '#'` glued together, and a first row that the log's head cuts."""

from commbench.importing.foreign import Reading
from commbench.importing.nccl_family import text as nccl_text
from tests.importing.logs import reading, refused

_ALL_REDUCE = [
    "1048576 262144 float sum -1 30.00 34.95 61.17 0 30.00 34.95 61.17 0",
    "2097152 524288 float sum -1 40.00 52.43 91.75 0 40.00 52.43 91.75 0",
    "4194304 1048576 float sum -1 60.00 69.91 122.33 0 60.00 69.91 122.33 0",
]  # 8 ranks
_ALL_REDUCE_4 = [
    "1048576 262144 float sum -1 30.00 34.95 52.43 0 30.00 34.95 52.43 0",
    "2097152 524288 float sum -1 40.00 52.43 78.64 0 40.00 52.43 78.64 0",
]
_ALL_GATHER = [
    "8388608 262144 float none -1 90.00 93.21 81.56 0 90.00 93.21 81.56 0",
    "16777216 524288 float none -1 150.00 111.85 97.87 0 150.00 111.85 97.87 0",
]  # 8 ranks


def _read(*lines: str) -> Reading:
    return reading(nccl_text, "\n".join(lines) + "\n")


def _runs(found: Reading) -> list[tuple[str | None, int | None, int]]:
    return [(run.collective, run.world_size, len(run.rows)) for run in found.runs]


def test_another_program_shows_in_its_operator() -> None:
    """An all-gather has none, also where its sizes go on those of the all-reduce above."""
    assert _runs(_read(*_ALL_REDUCE, *_ALL_GATHER)) == [("all_reduce", 8, 6), ("all_gather", 8, 4)]


def test_other_ranks_show_in_the_factor() -> None:
    """1.75 and then 1.5, where the sizes begin anew."""
    assert _runs(_read(*_ALL_REDUCE, *_ALL_REDUCE_4)) == [("all_reduce", 8, 6), ("all_reduce", 4, 4)]


def test_cycles_of_one_program_stay_one_run() -> None:
    """Sizes that begin anew with the same factor are another cycle."""
    found = _read(*_ALL_REDUCE, *_ALL_REDUCE)
    assert _runs(found) == [("all_reduce", 8, 12)]
    assert max(row.cycle for row in found.runs[0].rows) == 1


def test_a_size_that_lost_its_first_digits_is_refused() -> None:
    """48576 B in 30 us are not 34.95 GB/s."""
    found = _read(_ALL_REDUCE[0][2:], *_ALL_REDUCE[1:])
    assert [row.message_bytes for row in found.runs[0].rows] == [2097152] * 2 + [4194304] * 2
    assert 1 in refused(found)
