"""Names of collectives, dtypes and operators, as nccl-tests, torch, numpy and people write them."""

from collections.abc import Iterator

import pytest

from commbench.collectives import COLLECTIVES, OPERATORS, collective_named, operator_named
from commbench.dtypes import ELEMENT_BYTES, dtype_named
from commbench.errors import UsageError

EVERY = list(COLLECTIVES.values())


def _spellings() -> Iterator[tuple[str, str]]:
    for collective in EVERY:
        for word in (collective.name, *collective.aliases):
            yield collective.name, word
            yield collective.name, word.upper()
            yield collective.name, word.replace("_", "-")
            yield collective.name, word.replace("_", "") + "_perf"


@pytest.mark.parametrize(("name", "word"), list(_spellings()))
def test_every_alias_names_its_collective(name: str, word: str) -> None:
    """Names and aliases are found whatever their case, dashes and a _perf suffix."""
    assert collective_named(word).name == name


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("all_reduce", "AllReduce"),
        ("all_reduce", "all_reduce_perf"),
        ("broadcast", "broadcast_perf"),
        ("all_to_all", "alltoall_perf"),
        ("all_gather", "all_gather_into_tensor"),
        ("all_gather", "all_gather_single"),
        ("reduce_scatter", "reduce_scatter_tensor"),
        ("send_recv", "sendrecv_perf"),
    ],
)
def test_names_of_nccl_tests_and_torch_are_understood(name: str, word: str) -> None:
    """Binaries of nccl-tests and functions of torch.distributed name our collectives."""
    assert collective_named(word).name == name


def test_no_word_names_two_collectives() -> None:
    """Aliases are unique, so the order of the table decides nothing."""
    words = [word for c in EVERY for word in {c.name.replace("_", ""), *c.aliases}]
    assert sorted(words) == sorted(set(words))


@pytest.mark.parametrize("word", ["", "all", "allreduce2", "hypercube_perf", "_perf_perf"])
def test_an_unknown_collective_is_a_usage_error(word: str) -> None:
    """The error lists the known names."""
    with pytest.raises(UsageError) as caught:
        collective_named(word)
    assert "all_reduce" in caught.value.expected


@pytest.mark.parametrize(
    ("dtype", "word"),
    [
        ("float32", "float"),
        ("float32", "torch.float32"),
        ("float16", "half"),
        ("bfloat16", "BF16"),
        ("float64", "ncclDouble"),
        ("int64", "ncclInt64"),
        ("float8_e4m3", "ncclFloat8e4m3"),
        ("float8_e5m2", "torch.float8_e5m2"),
        ("float8_e4m3", "float8_e4m3fn"),
        ("uint8", "uint8"),
    ],
)
def test_dtypes_of_nccl_torch_and_numpy_are_understood(dtype: str, word: str) -> None:
    """Every library's spelling gives our name."""
    assert dtype_named(word) == dtype


@pytest.mark.parametrize("dtype", ELEMENT_BYTES)
def test_a_dtype_has_the_size_its_name_says(dtype: str) -> None:
    """The number in a dtype's name is its bits."""
    digits = dtype.partition("_")[0].lstrip("abcdefghijklmnopqrstuvwxyz")
    assert ELEMENT_BYTES[dtype_named(dtype)] * 8 == int(digits)


@pytest.mark.parametrize("word", ["", "float31", "complex64", "string"])
def test_an_unknown_dtype_is_a_usage_error(word: str) -> None:
    """The error lists the known ones."""
    with pytest.raises(UsageError, match="unknown dtype"):
        dtype_named(word)


@pytest.mark.parametrize(
    ("op", "word"), [("sum", "ReduceOp.SUM"), ("avg", "mean"), ("prod", "product"), ("max", "MAX")]
)
def test_operators_of_torch_are_understood(op: str, word: str) -> None:
    """Spellings of torch and of people."""
    assert operator_named(word) == op


def test_an_unknown_operator_is_a_usage_error() -> None:
    """The error lists the known ones."""
    with pytest.raises(UsageError) as caught:
        operator_named("xor")
    assert caught.value.expected == ", ".join(OPERATORS)
