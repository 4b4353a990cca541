"""The JSON and the table of one run must tell the same."""

from msgspec.structs import replace

from commbench.importing.foreign import Row
from commbench.importing.nccl_tests.agreement import disagreement

TABLE = Row(line=1, message_bytes=1024, seconds=13.69e-6, placement="out", dtype="float32", correct=True, wrong=0)
LONG = Row(line=2, message_bytes=1 << 40, seconds=1.8e1, placement="out", dtype="float32")


def differs(table: Row, **exact: object) -> str | None:
    """What is said where the JSON has these values in the row."""
    return disagreement([table], [replace(table, **exact)])


def test_a_time_that_the_table_rounds_agrees() -> None:
    assert differs(TABLE, seconds=13.6944e-6) is None


def test_a_time_beyond_rounding_does_not() -> None:
    assert differs(TABLE, seconds=13.7e-6) == "1 KiB float32 out of place: 13.69 us in the table, 13.7 us in the JSON"


def test_a_time_with_an_exponent_has_two_digits() -> None:
    assert differs(LONG, seconds=1.77e1) is None


def test_another_size_does_not_agree() -> None:
    assert "the table has 1 KiB" in str(differs(TABLE, message_bytes=2048))


def test_another_count_of_rows_does_not_agree() -> None:
    assert disagreement([TABLE], [TABLE, TABLE]) == "1 rows in the table, 2 in the JSON"


def test_a_wrong_count_that_only_the_json_has_does_not_agree() -> None:
    assert differs(TABLE, correct=False, wrong=3) == "1 KiB float32 out of place: 0 wrong in the table, 3 in the JSON"


def test_a_large_wrong_count_is_rounded_in_the_table() -> None:
    assert differs(replace(TABLE, correct=False, wrong=1048580), wrong=1048576) is None
