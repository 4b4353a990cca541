"""The command line, and what of it reaches nccl-tests."""

from pathlib import Path

import pytest

from commbench.errors import CommbenchError, UsageError
from commbench.importing.nccl_tests.binaries import Binary
from commbench.importing.nccl_tests.capabilities import read_help
from commbench.importing.nccl_tests.command import Command, command, remarks
from commbench.importing.nccl_tests.launch_words import shown_launch
from commbench.importing.nccl_tests.options import Options, parse
from tests.importing.runner.fake import USAGE_NEW, USAGE_OLD

NEW, OLD = read_help(USAGE_NEW), read_help(USAGE_OLD)
BINARY = Binary("all_reduce", "/x/all_reduce_perf")


def asked(line: str) -> Options:
    """The options of a line."""
    return parse(line.split())


def words(line: str, able: object = NEW) -> Command:
    """The command that a line makes."""
    return command(BINARY, NEW if able is NEW else OLD, asked(line), Path("/tmp/o.json"))


def test_collectives_are_understood_in_any_spelling() -> None:
    assert asked("allreduce redsct -b 8 alltoall_perf").collectives == ("all_reduce", "reduce_scatter", "all_to_all")


def test_programs_may_be_named_with_their_folder() -> None:
    """As nccl-tests is started by hand; --binaries may name one of them too."""
    options = parse(["./build/all_reduce_perf", "./build/all_gather_perf_mpi"])
    assert (options.collectives, options.binaries) == (("all_reduce", "all_gather"), Path("build"))
    assert parse(["all_reduce", "--binaries", "/opt/build/reduce_perf"]).binaries == Path("/opt/build")
    with pytest.raises(UsageError, match="several folders"):
        parse(["a/all_reduce_perf", "b/all_reduce_perf"])


def test_four_collectives_are_the_default() -> None:
    assert asked("-b 8").collectives == ("all_reduce", "reduce", "reduce_scatter", "all_gather")


def test_own_options_pass_as_they_are() -> None:
    shown = words("-b 8 -e 8G -f 2 -n 5 -w 1 -m 3 -c 0 -d half -o avg -G 4 -a 1 -z 3 -R 2 -g 2 -t 1 -I 1").shown
    assert " ".join(shown) == ("-t 1 -g 2 -b 8 -e 8G -f 2 -n 5 -m 3 -w 1 -c 0 -o avg -d half -z 3 -G 4 -a 1 -R 2 -I 1")


def test_long_options_of_nccl_tests_are_understood() -> None:
    assert words("--minbytes 8 --agg_iters 3 --warmup-iters=2").shown == ("-b", "8", "-m", "3", "-w", "2", "-a", "3")


def test_words_after_two_dashes_pass_unread() -> None:
    assert words("-b 8 -a 1 -- -Q 7").shown == ("-b", "8", "-a", "1", "-Q", "7")


@pytest.mark.parametrize(("name", "theirs"), [("float32", "float"), ("fp16", "half"), ("bf16", "bfloat16")])
def test_our_dtype_names_become_theirs(name: str, theirs: str) -> None:
    """nccl-tests would take an unknown one for float and say so in one line only."""
    assert asked(f"-d {name}").own == {"d": theirs}


@pytest.mark.parametrize(
    ("size", "theirs"), [("8G", "8G"), ("1.5K", "1.5K"), ("8GiB", "8589934592"), ("1T", str(1 << 40))]
)
def test_sizes_that_nccl_tests_cannot_read_become_bytes(size: str, theirs: str) -> None:
    assert asked(f"-e {size}").own == {"e": theirs}


def test_the_slowest_rank_and_json_are_asked_for_where_they_exist() -> None:
    assert words("-b 8").arguments == ("-J", "/tmp/o.json", "-b", "8", "-a", "3")
    assert words("-b 8").statistic == "maximum over ranks"


def test_an_old_version_gets_neither() -> None:
    made = words("-b 8", OLD)
    assert (made.arguments, made.statistic, made.json_file) == (("-b", "8"), "mean over ranks", None)


@pytest.mark.parametrize(
    ("average", "statistic"), [("0", "rank 0"), ("1", "mean over ranks"), ("2", "minimum over ranks")]
)
def test_the_users_average_is_the_statistic(average: str, statistic: str) -> None:
    assert words(f"-a {average}").statistic == statistic


def test_an_average_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UsageError, match="names no statistic"):
        words("-a 4")


def test_an_option_that_the_version_lacks_is_refused() -> None:
    """It would print its usage and end with exit code 0."""
    with pytest.raises(UsageError, match="has no -I"):
        words("-I 1", OLD)


@pytest.mark.parametrize(
    "line",
    [
        "-b 2G -e 1G", "-d foo", "-o foo", "-n x", "-n 0", "-g 0", "-f -1", "-b -8", "-b nan", "-T 0", "-T soon",
        "--agg 3", "-J", "frobnicate", "-n 99999999999", "-c ''", "--label ", "-G 1.5", "-Q 7", "-n ٣", "-n 010",
        "-- -a 1", "-- -G4", "-- --average=1", "-- -J x",
    ],
)  # fmt: skip
def test_nonsense_is_refused_in_four_parts(line: str) -> None:
    with pytest.raises(CommbenchError) as error:
        parse(line.split(" "))
    assert str(error.value).count("\n") == 3


def test_many_gpus_in_one_process_are_remarked_upon() -> None:
    assert "drives 8 GPUs" in "".join(remarks(asked("-g 4 -t 2"), NEW))


def test_one_gpu_in_one_process_is_not() -> None:
    assert not list(remarks(asked("-g 1"), NEW))


def test_no_check_is_remarked_upon() -> None:
    assert "nothing is checked" in "".join(remarks(asked("-c 0"), NEW))


def test_help_of_a_new_version() -> None:
    assert (NEW.known, NEW.slowest, NEW.json, "I" in NEW.options) == (True, True, True, True)


def test_help_of_an_old_version() -> None:
    assert (OLD.known, OLD.slowest, OLD.json, "I" in OLD.options) == (True, False, False, False)


def test_a_help_that_says_nothing_leaves_what_all_versions_have() -> None:
    able = read_help("Segmentation fault")
    assert (able.known, able.json, "b" in able.options, "a" in able.options) == (False, False, True, False)


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("mpirun -np 2", "mpirun -np 2"),
        ("mpirun -x API_TOKEN=abc -x NCCL_ALGO=Ring -np 2", "mpirun -x API_TOKEN=... -x NCCL_ALGO=Ring -np 2"),
        ("srun --export=ALL,my_key=abc,UCX_TLS=rc -n 2", "srun --export=ALL,my_key=...,UCX_TLS=rc -n 2"),
        ("mpiexec -genv WHO me -genv NCCL_ALGO Tree -n 2", "mpiexec -genv WHO ... -genv NCCL_ALGO Tree -n 2"),
        ("srun --mpi=pmix --container-image=nvcr.io#x:1", "srun --mpi=pmix '--container-image=nvcr.io#x:1'"),
    ],
)
def test_a_launch_line_is_stored_without_foreign_values(line: str, shown: str) -> None:
    assert shown_launch(line) == shown
