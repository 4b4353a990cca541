"""Damage that only long fuzzing meets is read or refused like any other."""

import pytest

from commbench.importing.nccl_family.text import runs_of
from tests.importing.importing_once import outcome
from tests.importing.logs import FOLDER
from tests.importing.nccl_family.printing import Printer, points
from tests.importing.nccl_family.test_rccl_reporter import HEADER, ROWS

POINTS = points([1 << k for k in range(10, 28, 3)])
DIGITS = "9" * 5000  # more than Python turns into a number


def nccl(*below: str) -> str:
    """A log of nccl-tests with more lines at its end."""
    return "\n".join([Printer().log(POINTS), *below, ""])


def twice(log: str) -> str:
    """Two processes that print into one log, one of whose footers lost its verdict."""
    lines = log.split("\n")
    banner = next(line for line in lines if "nThread" in line)
    return "\n".join([banner, *lines, "# Out of bounds values : 0", "# Out of bounds values : 0 FAILED", ""])


def glued(log: str) -> str:
    """A library's line begins right behind a figure that has no end."""
    line = next(line for line in log.split("\n") if "float" in line)
    return log.replace(line, line.rstrip() + DIGITS + "NCCL INFO")


def test_the_worst_of_several_footers_counts() -> None:
    """One of them may have lost its verdict."""
    (run,) = runs_of(twice(Printer().log(POINTS)))
    assert run.footer["out_of_bounds_verdict"] == "FAILED"


def test_a_footer_too_many_is_refused() -> None:
    """Whose rows it speaks of is not known, and it may say that they were wrong."""
    assert outcome(nccl("# Out of bounds values : 3 FAILED").encode()) == "3 nccl-tests"


def test_a_rank_without_end_proves_no_path() -> None:
    log = nccl(f"hostA:1:2 [0] NCCL INFO Channel 00/0 : {DIGITS}[0] -> 1[1] via P2P/CUMEM")
    assert outcome(log.encode()) == "0 nccl-tests"


def test_a_figure_without_end_ends_its_row() -> None:
    assert outcome(glued(nccl()).encode()).endswith("nccl-tests")


def test_a_marked_time_of_the_reporter_is_a_time() -> None:
    """rccl-tests marks errors with an asterisk."""
    cells = ROWS[0].split(",")
    cells[HEADER.split(",").index("time")] += "*"
    assert outcome("\n".join([HEADER, ",".join(cells), *ROWS[1:], ""]).encode()).endswith("rccl-tests")


@pytest.mark.parametrize("word", ["Ranks", "LatAvg(us)"])
def test_a_column_of_torchcomms_may_stand_behind_the_rate(word: str) -> None:
    """Columns are found by their names."""
    lines = (FOLDER / "invented" / "torchcomms.log").read_text().split("\n")
    swapped = [_behind(line, lines, word) for line in lines]
    assert outcome("\n".join(swapped).encode()).endswith("torchcomms")


def _behind(line: str, lines: list[str], word: str) -> str:
    header = next(one for one in lines if "BusBw(GB/s)" in one and word in one)
    place, cells = header.split().index(word), line.split()
    moved = len(cells) == len(header.split())
    return " ".join([*cells[:place], *cells[place + 1 :], cells[place]]) if moved else line


def test_a_message_beyond_any_memory_is_left_out() -> None:
    """IMB says that rank times size overflowed; a sweep file holds no such size."""
    log = (FOLDER / "invented" / "imb-3.2-old-megabytes-multi.log").read_text()
    assert "int-overflow" in log
    size = next(line.split()[0] for line in log.split("\n") if "int-overflow" in line)
    assert outcome(log.replace(size, str((1 << 63) - 1)).encode()).endswith("imb")
