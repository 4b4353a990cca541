"""Payloads against brute force: every rank's table cast to the dtype and reduced there, in more than one order."""

from math import inf
from typing import Any

import numpy as np
import pytest

from commbench.collectives import OPERATORS, Piece
from commbench.measuring.payload import PERIOD, Payload, Table

FLOATS = ("float16", "float32", "float64")
INTEGERS = ("int8", "uint8", "int32", "uint64")
LOOKED_AT = 6000  # elements: enough to hold every value and every number of factors of a product
FEW = tuple(range(1, 10))
LARGEST = {"float16": 65504.0, "bfloat16": float(2**127 * (2 - 2**-7)), "float32": float(np.finfo(np.float32).max)}


def tables(dtype: str, op: str | None, ranks: int) -> Table:
    """The beginning of what every rank sends, a row each, in the dtype."""
    payload = Payload(dtype, op, ranks)
    rows = [payload.table(rank)[:LOOKED_AT] for rank in range(ranks)]
    cast: Table = np.array(rows).astype(dtype)
    assert all((row == mine).all() for row, mine in zip(rows, cast, strict=True)), "the dtype holds every value"
    return cast


def brute_force(sent: Table, op: str) -> Table:
    """The reduction in the dtype itself, rank after rank, as a ring does it; integers wrap around."""
    kind = {"sum": np.add, "avg": np.add, "min": np.minimum, "max": np.maximum, "prod": np.multiply}[op]
    result = sent[0]
    for row in sent[1:]:
        result = kind(result, row)
    if op == "avg":
        wide = result.astype(np.int64 if result.dtype.kind in "iu" else result.dtype)
        result = (wide // len(sent) if wide.dtype.kind == "i" else wide / wide.dtype.type(len(sent))).astype(sent.dtype)
    return np.asarray(result)


def differing(found: Table, payload: Payload) -> int:
    """Elements that a backend would count as wrong."""
    expected = payload.expected(Piece(None, 0, PERIOD))[:LOOKED_AT].astype(payload.dtype)
    if payload.tolerance == 0.0:
        return int((found != expected).sum())
    wide = expected.astype(np.float64)
    return int((~(np.abs(found.astype(np.float64) - wide) <= payload.tolerance * np.abs(wide))).sum())


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
def test_few_ranks_agree_with_brute_force(dtype: str, op: str) -> None:
    """1 to 9 ranks, every dtype that numpy has, every operator, ranks in order and in reverse."""
    wrong = {}
    for ranks in FEW:
        sent = tables(dtype, op, ranks)
        wrong[ranks] = [differing(brute_force(order, op), Payload(dtype, op, ranks)) for order in (sent, sent[::-1])]
    assert {ranks: [0, 0] for ranks in FEW} == wrong


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize(
    ("ranks", "dtype"),
    [(64, "float16"), (64, "float32"), (64, "int8"), (64, "int32"), (300, "float16"), (300, "int8")],
)
def test_many_ranks_agree_with_brute_force(ranks: int, dtype: str, op: str) -> None:
    """More ranks than an int8 average or a bf16 sum can count."""
    assert differing(brute_force(tables(dtype, op, ranks), op), Payload(dtype, op, ranks)) == 0


@pytest.mark.parametrize("ranks", [*FEW, 64, 300])
@pytest.mark.parametrize("dtype", FLOATS)
def test_sums_that_are_exact_have_no_tolerance(dtype: str, ranks: int) -> None:
    """Up to 300 ranks in these types: one wrong bit is one wrong element."""
    assert Payload(dtype, "sum", ranks).tolerance == 0.0


@pytest.mark.parametrize(("tolerant", "dtype", "op", "ranks"), [
    (True, "bfloat16", "sum", 300), (False, "bfloat16", "sum", 128), (True, "float32", "avg", 3),
    (False, "bfloat16", "max", 300), (False, "int8", "avg", 300), (False, "float16", "prod", 300),
])  # fmt: skip
def test_a_tolerance_is_there_only_where_results_round(tolerant: bool, dtype: str, op: str, ranks: int) -> None:
    """A bf16 sum over more than 256 ranks and every floating average; nothing else."""
    assert (Payload(dtype, op, ranks).tolerance > 0.0) is tolerant


def test_a_tolerance_notices_a_missing_rank() -> None:
    """The average of 8 half-precision ranks without the last one differs in nearly all elements."""
    payload = Payload("float16", "avg", 8)
    without = tables("float16", "avg", 8)[:7].astype(np.float64).sum(axis=0) / 8
    assert differing(without.astype(np.float16), payload) > 0.9 * LOOKED_AT


@pytest.mark.parametrize("op", [None, "sum", "avg", "prod"])
@pytest.mark.parametrize(("ranks", "dtype"), [(2, "float32"), (8, "float16"), (8, "int8"), (300, "int8")])
def test_ranks_send_different_tables(ranks: int, dtype: str, op: str | None) -> None:
    """One rank's data in another's place, or counted twice, is wrong."""
    assert len({row.tobytes() for row in tables(dtype, op, ranks)}) == ranks


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("ranks", FEW)
def test_a_result_is_not_the_same_everywhere(ranks: int, op: str) -> None:
    """Results at a wrong place are wrong."""
    assert len(np.unique(Payload("float32", op, ranks).expected(Piece(None, 0, PERIOD)))) > 1


@pytest.mark.parametrize("power", range(1, 25))
def test_shards_of_power_of_two_length_differ(power: int) -> None:
    """For 64 ranks the beginnings of all shards of one table are different, whatever the shard's length."""
    table = Payload("float32", None, 64).table(0)
    starts = [np.roll(table, -(shard << power))[:8].tobytes() for shard in range(64)]
    assert len(set(starts)) == 64


def test_a_piece_starts_where_it_says() -> None:
    """Element i of the piece is element start + i of the rank's input, around the period too."""
    payload = Payload("float32", None, 4)
    found = payload.expected(Piece(3, 3 * PERIOD + 100, 10))[:10]
    assert payload.table(3)[100:110].tolist() == found.tolist()


@pytest.mark.parametrize(("dtype", "bits", "signed"), [("int8", 8, True), ("uint8", 8, False), ("int32", 32, True)])
def test_integer_sums_wrap_as_the_hardware_does(dtype: str, bits: int, signed: bool) -> None:
    """9 ranks: the true sum modulo 2**bits, shown signed or not; a sum of int8 really does wrap."""
    true = np.array([Payload(dtype, "sum", 9).table(rank) for rank in range(9)]).sum(axis=0)
    low = -(2 ** (bits - 1)) if signed else 0
    expected = (true - low) % 2**bits + low
    assert expected.tolist() == Payload(dtype, "sum", 9).expected(Piece(None, 0, PERIOD)).tolist()
    assert (bits == 8) == bool((expected != true).any())


@pytest.mark.parametrize("op", ["sum", "prod"])
@pytest.mark.parametrize("dtype", LARGEST)
@pytest.mark.parametrize("ranks", [*range(2, 10), 64, 300])
def test_in_place_calls_never_pass_the_largest_value(ranks: int, dtype: str, op: str) -> None:
    """After as many calls as allowed the largest element, followed in exact whole numbers, is still finite."""
    payload = Payload(dtype, op, ranks)
    value = int(payload.expected(Piece(None, 0, PERIOD)).max())  # after the first call, the same on all ranks
    calls = int(payload.calls_in_place)
    for _ in range(calls - 1):
        value = value * ranks if op == "sum" else value**ranks
    assert value <= LARGEST[dtype]


@pytest.mark.parametrize("op", ["sum", "prod"])
@pytest.mark.parametrize("dtype", LARGEST)
def test_in_place_calls_use_the_range_of_the_dtype(dtype: str, op: str) -> None:
    """Three calls more than allowed would pass it, so buffers are not refilled needlessly often."""
    payload = Payload(dtype, op, 2)
    value = int(payload.expected(Piece(None, 0, PERIOD)).max())
    for _ in range(int(payload.calls_in_place) + 2):
        value = value * 2 if op == "sum" else value**2
    assert value > LARGEST[dtype]


@pytest.mark.parametrize(
    ("dtype", "op", "ranks"), [("int8", "sum", 8), ("float32", "avg", 8), ("float32", "max", 8), ("float16", "sum", 1)]
)
def test_what_cannot_overflow_is_never_refilled(dtype: str, op: str, ranks: int) -> None:
    """Integers wrap, averages and extremes stay, one rank changes nothing."""
    assert Payload(dtype, op, ranks).calls_in_place == inf


@pytest.mark.parametrize("dtype", ["float8_e4m3", "float8_e5m2"])
def test_fp8_is_bytes(dtype: str) -> None:
    """Whole numbers that fit a byte."""
    table: Any = Payload(dtype, None, 8).table(3)
    assert 0 <= table.min() <= table.max() < 256


@pytest.mark.parametrize("op", OPERATORS)
def test_buffers_are_timed_with_values_that_reductions_take(op: str) -> None:
    """The table that fills buffers while they are timed holds nothing that its operator would overflow at once."""
    payload = Payload("float16", op, 8)
    assert payload.timed.table(7).max() * (8 if op in ("sum", "avg") else 1) < 65504


@pytest.mark.parametrize("op", ["sum", "avg", "min", "max", "prod"])
@pytest.mark.parametrize("ranks", [2, 3, 8])
@pytest.mark.parametrize("dtype", ["float16", "float32", "int8", "uint8"])
def test_one_element_tells_a_call_that_did_nothing(dtype: str, ranks: int, op: str) -> None:
    """The root's own first element is not the result, so a reduction in place that moves nothing is wrong there."""
    for root in range(ranks):
        payload = Payload(dtype, op, ranks).telling(root)
        assert payload.table(root)[0] != payload.expected(Piece(None, 0, 1))[0]
