"""Limits files: strict about every key, and data only."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from commbench.errors import UsageError
from commbench.judging.acceptance import accept
from commbench.judging.limits import parse_limits, read_limits
from commbench.judging.starting_points import example, names, reference
from commbench.sweepfile.reader import read_sweeps

from .limits_files import CLUSTER, TIME, limits_text

EXAMPLES = Path(__file__).parents[2] / "examples"
HOST = read_sweeps(EXAMPLES / "h200x2-host.jsonl")
TEXT = (EXAMPLES / "two-h200.limits.toml").read_text()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("format = 1", "format = 2"),
        ("format = 1", ""),
        ("world_size = 2", ""),
        ("world_size = 2", "world_size = 1"),
        ("world_size = 2", "world_size = true"),
        ("world_size = 2", 'world_size = "2"'),
        ("ranks_per_host = 2", "ranks_per_host = 3"),
        ("ranks_per_host = 2", "ranks_per_host = [1, 2]"),
        ('device = "CPU"', ""),
        ('path = "sm"', ""),
        ('path = "sm"', "path = []"),
        ('path = "sm"', 'path = "any"\nalso_allowed = ["sm"]'),
        ('mode = "isolated"', ""),
        ('mode = "isolated"', 'mode = "fast"'),
        ('mode = "isolated"', 'mode = "isolated"\nspeed = 3'),
        ('quantity = "time"', 'quantity = "speed"'),
        ('collective = "all_reduce"', 'collective = "all_produce"'),
        ('collective = "all_reduce"', 'collective = "barrier"'),
        ('size = "2M"', ""),
        ('size = "2M"', 'size = "2M"\nsizes = "2M..4M"'),
        ('size = "2M"', 'size = "2M..4M"'),
        ('size = "2M"', 'sizes = "4M..2M"'),
        ('size = "2M"', 'size = "0"'),
        ('size = "2M"', 'size = "2M"\nfactor = 1.0'),
        ('size = "2M"', 'size = "2M"\nfactor = nan'),
        ('size = "2M"', 'size = "2M"\nfactor = 1.000001'),
        ('reason = "a test"', 'reason = "a test"\nlaunch_spread = "2 %"\nlaunch_freedom = nan'),
        ('reason = "a test"', 'reason = "a test"\nlaunch_spread = "2 %"\nlaunch_freedom = 0'),
        ('size = "2M"', 'size = "2M"\nfactor = inf'),
        ('at_most = "3 ms"', 'at_most = "3 ms"\nat_least = "1 us"'),
        ('at_most = "3 ms"', ""),
        ('at_most = "3 ms"', "at_most = 3"),
        ('at_most = "3 ms"', 'at_most = "0 ms"'),
        ('at_most = "3 ms"', 'at_most = "-3 ms"'),
        ('at_most = "3 ms"', 'at_most = "3"'),
        ('at_most = "3 ms"', 'at_most = "1e3 ms"'),
        ('at_most = "3 ms"', 'at_most = "nan ms"'),
        ('at_most = "3 ms"', 'at_most = "3 GB/s"'),
        ('at_most = "3 ms"', 'at_most = "80 % of peak"'),
        ('at_most = "3 ms"', 'at_most = "80 % of baseline"'),
        ('at_most = "3 ms"', "at_most = \"__import__('os').abort()\""),
        ('reason = "a test"', ""),
        ('reason = "a test"', 'reason = "a test"\ntolerance = "95 %"'),
        ('reason = "a test"', 'reason = "a test"\ntolerance = "-3 %"'),
        ('reason = "a test"', 'reason = "a test"\nlaunch_freedom = 3'),
        ('name = "two ranks"', 'name = "two ranks"\nname = "twice"'),
        ('name = "two ranks"', 'name = "two ranks"\nnetwork = "NDR"'),
        ("[[limit]]", "[[limits]]"),
        ('path = "sm"', 'path = ["any", "sm"]'),
        ('at_most = "3 ms"', 'at_most = "\u0663 ms"'),  # three, in another script
        ('size = "2M"', 'size = "2M"\ndtype = "flaot32"'),
        ('size = "2M"', 'size = "2M"\nop = "summ"'),
    ],
)
def test_what_makes_no_sense_is_refused(old: str, new: str) -> None:
    text = limits_text()
    assert old in text
    with pytest.raises(UsageError):
        parse_limits(text.replace(old, new).encode())


def test_no_limit_at_all_is_refused() -> None:
    with pytest.raises(UsageError):
        parse_limits(limits_text().partition("[[limit]]")[0].encode())


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[" * 5000, b"a = " + b"[" * 5000, b"\x00", b"x" * (1 << 21)])
def test_what_is_no_toml_is_refused(content: bytes) -> None:
    with pytest.raises(UsageError):
        parse_limits(content)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.toml", "\0"):
        with pytest.raises(UsageError):
            read_limits(path)


def test_an_error_names_the_limit() -> None:
    with pytest.raises(UsageError, match="limit 1"):
        parse_limits(limits_text("3 GB/s").encode())


def test_the_example_can_be_used() -> None:
    assert len(parse_limits(example().encode()).limits) == 5


@pytest.mark.parametrize("name", names())
def test_references_can_be_used_and_say_where_they_come_from(name: str) -> None:
    text = reference(name)
    assert parse_limits(text.encode()).limits
    assert 'source = """' in text
    assert "Collected 20" in text


def test_the_references_cover_the_well_known_machines() -> None:
    wanted = {"8x-a100-sxm", "8x-h100-sxm", "8x-h100-sxm-no-nvls", "8x-h200-sxm", "8x-h200-sxm-no-nvls", "8x-b200-sxm",
              "8x-b200-sxm-no-nvls", "8x-a800-sxm", "2x-rtx3090-nvlink", "2x-rtx3090-pcie", "4x-rtx4090-pcie",
              "32x-h100-ndr", "32x-h200-ndr"}  # fmt: skip
    assert wanted <= set(names())


def test_an_unknown_reference_is_refused() -> None:
    with pytest.raises(UsageError):
        reference("../../../etc/passwd")


VALUES = some.sampled_from(
    [
        "",
        "nan",
        "-1",
        "1e999",
        '"x"',
        '"0 %"',
        "[]",
        "{}",
        "true",
        "[[]]",
        "9" * 400,
        "1979-05-27",
        '"\\u0000"',
        '"any"',
    ]
)


@settings(max_examples=150, deadline=None)
@given(some.integers(0, len(TEXT.splitlines()) - 1), VALUES, some.integers(0, 2))
def test_a_damaged_line_never_ends_in_accepted(place: int, value: str, how: int) -> None:
    """A line loses its value, is cut in its middle, or is doubled. The sweep went through host memory: never a pass."""
    lines = TEXT.splitlines()
    line = lines[place]
    damaged = [f"{line.partition('=')[0]}= {value}", line[: len(line) // 2], f"{line}\n{line}"][how]
    _never_accepted("\n".join([*lines[:place], damaged, *lines[place + 1 :]]).encode())


@settings(max_examples=150, deadline=None)
@given(some.data())
def test_damaged_bytes_never_end_in_accepted(data: some.DataObject) -> None:
    content = bytearray(TEXT.encode())
    for _ in range(data.draw(some.integers(1, 8))):
        content[data.draw(some.integers(0, len(content) - 1))] = data.draw(some.integers(0, 255))
    _never_accepted(bytes(content[: data.draw(some.integers(0, len(content)))]))


@settings(max_examples=100, deadline=None)
@given(some.binary(max_size=200) | some.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_anything_else_never_ends_in_accepted(content: bytes) -> None:
    _never_accepted(content)


def _never_accepted(content: bytes) -> None:
    try:
        limits = parse_limits(content)
    except UsageError:
        return
    assert accept(limits, HOST).verdict != "pass"


def test_a_mark_before_the_first_line_and_lines_that_end_as_on_windows_are_read() -> None:
    text = limits_text()
    assert parse_limits(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()) == parse_limits(text.encode())


def test_more_sizes_than_anybody_reads_are_refused() -> None:
    one = TIME.replace('size = "2M"', 'sizes = "1..1T"\nfactor = 1.01').replace("{bound}", "3 ms")
    with pytest.raises(UsageError, match="sizes in all limits together"):
        parse_limits((CLUSTER + 50 * one).encode())
