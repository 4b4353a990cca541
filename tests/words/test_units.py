"""Units: what nccl-tests and people type is read as bytes and seconds; what is printed says what is there."""

import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commbench.errors import UsageError
from commbench.units import format_rate, format_seconds, format_size, format_size_short, parse_duration, parse_size


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (8, "8"),
        (0, "0"),
        (1024, "1K"),
        (16 * 2**20, "16M"),
        (2**30, "1G"),
        (2**30, "1g"),
        (2**41, "2T"),
        (1536, "1.5K"),
        (2**31, "2GiB"),
        (64 * 2**20, "64MB"),
        (64 * 2**10, "64 KiB"),
        (33554432, " 32M "),
        (8, "8B"),
        (8, "8.0"),
        (1_000_000, "1e6"),
        (1536, "1.536E+3"),
        (2 * 2**20, "0.2e1M"),
    ],
)
def test_a_size_is_bytes_with_binary_suffixes_as_in_nccl_tests(size: int, text: str) -> None:
    """1K is 1024 bytes, KB and KiB are the same; a fraction is fine when it makes whole bytes."""
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text",
    [
        "",
        "K",
        "-8",
        "1.3",
        "1.0001K",
        "8 8",
        "8X",
        "0x10",
        "nan",
        "inf",
        "1..5K",
        "8E",
        "1e-1",
        "1e19",
        "1e999",
        "e6",
        "9" * 5000,
        f"{2**63}",
        "8T" * 9,
    ],
)
def test_what_is_no_whole_number_of_bytes_is_refused(text: str) -> None:
    """Anything else is a UsageError that shows what was typed; no other exception comes out."""
    with pytest.raises(UsageError, match="a size cannot be read") as caught:
        parse_size(text)
    assert repr(text) == caught.value.found


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(20.0, "20"), (20.0, "20s"), (0.25, "250ms"), (35e-6, "35us"), (600.0, "10min"), (7200.0, "2h"), (0.5, ".5")],
)
def test_a_time_without_a_unit_is_seconds(seconds: float, text: str) -> None:
    """20 is 20 s; us, ms, s, min and h are understood."""
    assert parse_duration(text) == pytest.approx(seconds, rel=1e-15)


@pytest.mark.parametrize("text", ["", "-1", "1 day", "ms", "nan", "inf", "1e999", "1m"])
def test_what_is_no_finite_time_is_refused(text: str) -> None:
    """1m could be a minute or a milli-something, 1e999 is infinite: both are refused."""
    with pytest.raises(UsageError, match="a time cannot be read"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0 B", 0),
        ("1023 B", 1023),
        ("1 KiB", 1024),
        ("1.5 MiB", 3 * 2**19),
        ("1025 KiB", 1025 * 1024),
        ("1048577 B", 2**20 + 1),
        ("16 GiB", 2**34),
        ("9999 TiB", 9999 * 2**40),
        ("10995116277760000 B", 10_000 * 2**40),
    ],
)
def test_a_printed_size_is_exact(text: str, size: int) -> None:
    """The largest suffix that holds the size in four digits is used, else bytes."""
    assert format_size(size) == text


@given(st.integers(0, 2**63 - 1))
def test_a_printed_size_is_read_back_as_the_same_size(size: int) -> None:
    """parse_size undoes format_size for every size."""
    assert parse_size(format_size(size)) == size


@given(st.integers(0, 4095), st.sampled_from(["", "K", "M", "G", "T"]))
def test_a_typed_size_survives_printing(number: int, suffix: str) -> None:
    """format_size of what was typed reads back as what was typed."""
    assert parse_size(format_size(parse_size(f"{number}{suffix}"))) == parse_size(f"{number}{suffix}")


@given(st.text("0123456789.,eEKMGTiBbusmhn +-_\t\0\u0663\u00b2", max_size=12))
def test_any_text_is_a_size_or_a_usage_error(text: str) -> None:
    """No text makes parse_size or parse_duration raise anything but UsageError."""
    for parse in (parse_size, parse_duration):
        with suppress(UsageError):
            assert parse(text) >= 0


@pytest.mark.parametrize(("text", "size"), [("64 KiB", 65536), ("119 MiB", 124_800_000), ("1000 KiB", 1024 * 999.9)])
def test_a_short_size_has_about_three_digits(text: str, size: float) -> None:
    """Near the next suffix it keeps its own, without an exponent."""
    assert format_size_short(size) == text


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0.00 us", 0.0),
        ("1.23 us", 1.23e-6),
        ("12.3 us", 12.34e-6),
        ("999 us", 999.4e-6),
        ("1.00 ms", 999.6e-6),
        ("45.6 ms", 45.6e-3),
        ("7.89 s", 7.89),
        ("12 min", 720.0),
        ("1000 min", 60_000.0),
        ("12345 min", 12345 * 60.0),
    ],
)
def test_a_printed_time_has_three_digits_and_its_unit(text: str, seconds: float) -> None:
    """The unit changes where three digits would overflow; nothing is printed with an exponent."""
    assert format_seconds(seconds) == text


@given(st.floats(0, 1e9))
def test_a_printed_time_is_within_its_last_digit(seconds: float) -> None:
    """Half a unit of the third digit, or 5 ns below 1 us where two decimals are printed."""
    number, unit = format_seconds(seconds).split()
    assert re.fullmatch(r"\d+(\.\d+)?", number)
    scale = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}[unit]
    assert float(number) * scale == pytest.approx(seconds, rel=5.1e-3, abs=5.1e-9)


@pytest.mark.parametrize(("text", "rate"), [("1.00 GB/s", 1e9), ("45.0 GB/s", 45e9), ("481 GB/s", 480.6e9)])
def test_rates_are_decimal_gigabytes_per_second(text: str, rate: float) -> None:
    """1 GB/s is 1e9 bytes per second, as in nccl-tests."""
    assert format_rate(rate) == text
