"""Command lines above the tables of nccl-tests: which table each of them started, and over how many ranks."""

from collections.abc import Callable

import pytest

from commbench.importing.foreign import Reading, Stated
from commbench.importing.lines import Lines
from commbench.importing.nccl_family import text as nccl_text
from tests.importing.nccl_family.printing import Printer, points

ROWS = points([1 << k for k in range(10, 28, 3)])
GATHER, SCATTER, BROADCAST = (
    Printer(name, generation="C1").log(ROWS, devices=False) for name in ("gather", "scatter", "broadcast")
)


def read(text: str) -> Reading:
    """What the reader of nccl-tests makes of a text."""
    return nccl_text.read(Lines(text.encode()), Stated())


def tagged(text: str, rank: int = 0) -> str:
    """The output of a rank as `mpirun --tag-output` prints it."""
    return "".join(f"[1,{rank}]<stdout>:{line}\n" for line in text.splitlines())


@pytest.mark.parametrize("through", [str, tagged])
def test_a_command_starts_the_table_below_it(through: Callable[[str], str]) -> None:
    """Not the one above, and not one that another command started."""
    log = "".join(f"+ mpirun -np 8 ./{name}_perf -b 8\n{through(text)}" for name, text in
                  (("gather", GATHER), ("scatter", SCATTER)))  # fmt: skip
    assert [(run.collective, run.collective_basis) for run in read(log).runs] == [
        ("gather", "command line"), ("scatter", "command line")
    ]  # fmt: skip


def test_a_command_behind_a_cut_table_starts_the_next() -> None:
    """A first run that crashed without a footer."""
    cut = "\n".join(GATHER.splitlines()[:7])
    log = f"$ mpirun -np 8 ./gather_perf -b 8\n{cut}\n$ mpirun -np 8 ./scatter_perf -b 8\n{SCATTER}"
    assert [run.collective for run in read(log).runs] == ["gather", "scatter"]


@pytest.mark.parametrize(
    "words", ["I ran gather_perf, then scatter_perf\n", "gather_perf scatter_perf all_reduce_perf\n"]
)
def test_a_line_that_names_several_programs_names_none(words: str) -> None:
    """A sentence, or a list of what was built."""
    (run,) = read(words + SCATTER).runs
    assert (run.collective, run.candidates) == (None, ("gather", "scatter"))


def test_words_below_a_table_do_not_name_it() -> None:
    """What comes next is no fact about what was read."""
    assert [run.collective for run in read(SCATTER + "next is gather_perf, tomorrow\n" + SCATTER).runs] == [None, None]


@pytest.mark.parametrize(
    ("command", "ranks"),
    [
        ("mpirun -np 8 ./broadcast_perf -b 8 -e 1G", 8),
        ("srun -N 2 --ntasks-per-node=2 ./broadcast_perf -b 8 -g 2 -t 1", 8),
        ("mpirun -np 2 ./broadcast_perf -g4", 8),
        ("./broadcast_perf -b 8 -g 8", None),
        ("NCCL_TESTS_SPLIT=AND1 mpirun -np 8 ./broadcast_perf -b 8", None),
    ],
)
def test_a_command_says_how_many_ranks_it_starts(command: str, ranks: int | None) -> None:
    """Processes times the GPUs of each, where a launcher is told a number and nothing splits them."""
    (run,) = read(f"$ {command}\n{BROADCAST}").runs
    assert run.world_size == ranks
    assert run.world_size_basis == (None if ranks is None else "command line")


def test_ranks_of_a_command_that_the_rows_contradict_are_not_used() -> None:
    """Eight ranks, whatever the line above says."""
    text = Printer(generation="C1").log(points([1 << k for k in range(14, 31, 2)]), devices=False)
    (run,) = read(f"$ mpirun -np 16 ./all_reduce_perf -b 8\n{text}").runs
    assert (run.world_size, run.world_size_basis) == (8, "factor")
    assert any("starts 16 ranks" in note for note in run.notes)


def test_ranks_that_print_a_table_each_are_not_counted_together() -> None:
    """A build without MPI: the launcher started two programs of one rank."""
    found = read("$ mpirun -np 2 ./broadcast_perf -b 8\n" + tagged(BROADCAST, 0) + tagged(BROADCAST, 1))
    assert [run.world_size for run in found.runs] == [None, None]


def test_an_average_that_the_tool_calls_failed_is_said() -> None:
    """NCCL_TESTS_MIN_BW asks for more."""
    log = "\n".join(f"{line}FAILED" if "Avg bus" in line else line for line in SCATTER.splitlines())
    assert any("NCCL_TESTS_MIN_BW" in note for note in read(log).runs[0].notes)


def test_a_command_that_the_rows_contradict_names_nothing() -> None:
    """It stands above them by chance; what the rows allow is said."""
    (run,) = read(f"$ mpirun -np 8 ./all_reduce_perf -b 8\n{SCATTER}").runs
    assert (run.collective, run.candidates) == (None, ("gather", "scatter"))
    assert any("the command line above runs all_reduce, which the bandwidths do not fit" in note for note in run.notes)
