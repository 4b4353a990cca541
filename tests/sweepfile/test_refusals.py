"""What the reader refuses, and what it says: the line, the field, the rule, the value."""

import bz2
import gzip
import lzma

import pytest

from .building import SWEEP, file_of, header, measurement, point_with, refused

HEADER, POINT = file_of(header()), file_of(measurement())


@pytest.mark.parametrize("line", [POINT[:50] + b"\n", b"\0" * 64 + b"\n", b"3\n", b"[1]\n", b"null\n"])
def test_damage_before_the_end_is_an_error_that_names_the_line(line: bytes) -> None:
    """A bad line with a newline behind it is damage, even as the last one."""
    assert "f.jsonl:2:" in refused(HEADER + line).found


@pytest.mark.parametrize(
    ("expected", "found", "field"),
    [
        ("`message_bytes`: int >= 0", "`message_bytes` is -8", '"message_bytes":-8'),
        ("`message_bytes`: int", "`message_bytes` is 8.5", '"message_bytes":8.5'),
        ("`message_bytes`: int <= 9223372036854775807", f"`message_bytes` is {10**30}", f'"message_bytes":{10**30}'),
        ("`message_bytes`: a number within range", "`message_bytes` is 9999", f'"message_bytes":{"9" * 5000}'),
        ("`seconds[1]`: float >= 0", "`seconds[1]` is -1e-6", '"seconds":[1,-1e-6]'),
        ("`seconds[0]`: a number within range", "`seconds[0]` is 1e999", '"seconds":[1e999]'),
        ("`seconds[0]`: float <= 1000000000", "`seconds[0]` is 1e300", '"seconds":[1e300]'),
        ("`seconds[0]`: float", '`seconds[0]` is "1"', '"seconds":["1"]'),
        ("`seconds`: array", "`seconds` is null", '"seconds":null'),
        ("agrees with itself", "`seconds` is empty", '"seconds":[]'),
        ("agrees with itself", "differ in length", '"seconds":[1]'),
        ("isolated, pipelined, graph", '`mode` is "fast"', '"mode":"fast"'),
        ("`placement`: one of in, out", '`placement` is "inside"', '"placement":"inside"'),
        ("`correct`: bool | null", "`correct` is 1", '"correct":1'),
        ("`group_seconds[1][0]`: float", "`group_seconds[1][0]` is -2", '"group_seconds":[[1],[-2]]'),
        ("`reported`: a number within range", "`reported` holds", '"reported":{"x":1e999}'),
        ("one `record` field", 'is "end"', '"record":"end"'),
        ("strict JSON", "[NaN", '"seconds":[NaN]'),
        ("strict JSON", "stands for no character", '"statistic":"\\ud800"'),
        ("strict JSON", "a\\x1b[2J", '"statistic":"a\x1b[2J"'),
        ("few levels", "nested too deeply", f'"x":{"[" * 10**5}{"]" * 10**5}'),
    ],
)
def test_an_error_names_field_rule_and_value(expected: str, found: str, field: str) -> None:
    """What the field must be, and what stands there as it was written."""
    error = refused(HEADER + point_with(field))
    assert expected in error.expected
    assert found in error.found


def test_a_missing_field_is_named() -> None:
    """The first field that a record lacks."""
    assert "no field `message_bytes`" in refused(HEADER + POINT.replace(b"message_bytes", b"message_byte")).found


def test_broken_utf8_is_named_with_its_byte() -> None:
    """Byte 1 based, and the bytes around it escaped, so that a terminal survives the message."""
    error = refused(HEADER + POINT.replace(b"float32", b"flo\xff\xfe32"))
    assert f"byte {POINT.index(b'float32') + 4} is not UTF-8" in error.found
    assert "\\xff\\xfe" in error.found


def test_a_found_value_is_cut_to_a_line() -> None:
    """A value of a thousand characters does not fill the screen."""
    assert len(refused(HEADER + point_with(f'"mode":"{"x" * 1000}"')).found) < 120


def test_a_record_before_its_header_is_damage() -> None:
    """A point whose sweep has no header above it belongs to nothing."""
    assert f"f.jsonl:1: no header of sweep '{SWEEP}' above" in refused(POINT + HEADER).found


def test_a_record_of_another_sweep_is_damage() -> None:
    """Every record's sweep needs a header."""
    assert "f.jsonl:2: no header of sweep 'other' above" in refused(HEADER + file_of(measurement(sweep="other"))).found


def test_a_second_header_of_a_sweep_is_damage() -> None:
    """Resume appends under the same header; two headers are two copies pasted together."""
    assert "f.jsonl:3: a second header" in refused(HEADER + POINT + HEADER).found


@pytest.mark.parametrize("line", [HEADER.replace(b'"format":1', b'"format":2'), b'{"record":"sweep","format":"x"}\n'])
def test_an_unknown_format_is_refused_before_its_fields_are_judged(line: bytes) -> None:
    """A later format may mean anything by any field: say so, instead of calling it damaged."""
    assert "has a format this version does not read" in refused(line + POINT).wrong


@pytest.mark.parametrize(
    ("found", "content"),
    [
        ("is empty", b""),
        ("holds no such record", b"\n\n"),
        ("holds no such record", b'{"record":"later"}\n'),
        ("begins with # nThread 1", b"# nThread 1 nGpus 8\n"),
        ('f.jsonl:1: {"models":[]}', b'{"models":[]}\n'),
        ("the run ended while writing the first record", HEADER[:40]),
        ("begins with \\x00", b"\0" * 100),
        ("is compressed with gzip", gzip.compress(HEADER)),
        ("is compressed with bzip2", bz2.compress(HEADER)),
        ("is compressed with xz", lzma.compress(HEADER)),
        ("is text with a byte-order mark", b"\xef\xbb\xbf" + HEADER),
        ("is UTF-16 text", HEADER.decode().encode("utf-16")),
    ],
)
def test_what_never_was_a_sweep_file_is_said_to_be_none(found: str, content: bytes) -> None:
    """No line to blame: the error says what the file seems to be."""
    error = refused(content)
    assert (error.wrong, found in error.found) == ("this is not a sweep file", True), error


def test_a_damaged_first_line_is_damage_not_another_kind_of_file() -> None:
    """A header with a wrong value names its field."""
    assert "`world_size` is 0" in refused(HEADER.replace(b'"world_size":2', b'"world_size":0')).found
