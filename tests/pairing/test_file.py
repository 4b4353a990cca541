"""The pairs file: what was written is read, damage is told, and nothing ends in a traceback."""

from pathlib import Path

import msgspec
import pytest

from commbench.errors import SweepFileError
from commbench.pairing.reading import parse_pairs, read_pairs
from commbench.pairing.records import PairRecord, PairsHeader
from commbench.pairing.writing import PairsWriter

HEADER = PairsHeader(
    pairs="1", started_at="2026-11-29T00:00:00Z", world_size=2, hosts=("a", "b"), local_ranks=(0, 0),
    message_bytes=1 << 20, samples=3, tolerance=0.03,
)  # fmt: skip
TEST = PairRecord(round=0, path="between", ranks=(0, 1), seconds=((1.0, 2.0, 3.0), (1.0, 2.0, 3.0)))
HEAD = msgspec.json.encode(HEADER) + b"\n"
LINE = msgspec.json.encode(TEST) + b"\n"


def written(path: Path) -> PairsWriter:
    writer = PairsWriter(path, 1000)
    writer.begin(HEADER)
    writer.add([TEST])
    return writer


def test_what_was_written_is_read(tmp_path: Path) -> None:
    writer = written(tmp_path / "p")
    writer.end("complete")
    pairs = read_pairs(tmp_path / "p")
    assert (pairs.header, pairs.tests, pairs.status) == (HEADER, (TEST,), "complete")


def test_a_test_is_in_the_file_as_soon_as_it_is_known(tmp_path: Path) -> None:
    written(tmp_path / "p")
    assert read_pairs(tmp_path / "p").tests == (TEST,)


def test_an_abort_leaves_its_reason(tmp_path: Path) -> None:
    written(tmp_path / "p").abort("rank 1 on b died")
    pairs = read_pairs(tmp_path / "p")
    assert pairs.end is not None
    assert (pairs.status, pairs.end.reason) == ("aborted", "rank 1 on b died")


def test_a_file_is_never_overwritten(tmp_path: Path) -> None:
    written(tmp_path / "p")
    with pytest.raises(SweepFileError, match="never overwritten"):
        PairsWriter(tmp_path / "p", 0)


def test_without_a_file_tests_stay_in_memory() -> None:
    writer = PairsWriter(None, 0)
    writer.begin(HEADER)
    writer.add([TEST])
    assert writer.pairs.tests == (TEST,)


def test_a_cut_last_line_is_skipped() -> None:
    pairs = parse_pairs(HEAD + LINE + LINE[:40])
    assert (len(pairs.tests), pairs.status) == (1, "aborted")


def test_records_of_later_versions_are_skipped() -> None:
    assert len(parse_pairs(HEAD + b'{"record":"weather","rain":true}\n' + LINE).tests) == 1


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\n", b"{", b"[]", b"null\n", b"\xff\xfe\x00", b"\x00" * 50, b'{"record":"sweep","format":1}\n',
        LINE, HEAD + HEAD, HEAD + LINE[:40] + b"\n" + LINE, HEAD + b"{" * 100_000 + b"\n",
        HEAD.replace(b'"format":1', b'"format":2'), HEAD + LINE.replace(b"[0,1]", b"[0,7]"),
        HEAD + LINE.replace(b"[0,1]", b"[1,1]"), HEAD + LINE.replace(b"3.0],[", b"3.0,4.0],["),
        HEAD + LINE.replace(b"1.0", b"-1.0"), HEAD + LINE.replace(b"1.0", b"NaN"), HEAD.replace(b'"a",', b""),
        HEAD.replace(b"0.03", b"0"), HEAD + LINE.replace(b"between", b"inside"),
    ],
)  # fmt: skip
def test_what_is_no_whole_pairs_file_is_told_in_four_parts(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "p"
    path.write_bytes(content)
    with pytest.raises(SweepFileError) as caught:
        read_pairs(path)
    assert str(caught.value).count("\n") >= 3


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(SweepFileError):
        read_pairs(tmp_path)
