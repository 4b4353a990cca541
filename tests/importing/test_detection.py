"""A file is read by its content: several tools in one file, and what is no log at all."""

import gzip
from pathlib import Path

import pytest

from commbench.importing.foreign import Stated
from commbench.importing.reading import Log, read_content, read_log
from tests.importing.logs import FOLDER
from tests.importing.nccl_family.printing import Printer, points
from tests.importing.nccl_family.test_rccl_reporter import FORMS
from tests.importing.other_tools.test_ubx_bench import TEXT as UBX

NCCL = Printer().log(points([1 << k for k in range(10, 28, 3)]))
OSU = """\
# OSU MPI Allreduce Latency Test v7.1
# Size       Avg Latency(us)
4                       7.91
8                       7.95
"""


def read(content: str | bytes) -> Log:
    """What is made of a file's content."""
    return read_content("x", content.encode() if isinstance(content, str) else content, Stated())


@pytest.mark.parametrize(
    "logs", [(NCCL, OSU), (OSU, NCCL), (OSU, NCCL, OSU), (UBX, NCCL), (NCCL, UBX)],
    ids=["nccl osu", "osu nccl", "osu nccl osu", "ubx nccl", "nccl ubx"],
)  # fmt: skip
def test_runs_of_several_tools_stand_in_one_file(logs: tuple[str, ...]) -> None:
    """Each reader takes its own lines, and nothing of one is a reject of another."""
    tools = {NCCL: ["nccl-tests"], OSU: ["osu"], UBX: ["ubx_bench", "ubx_bench"]}
    reading = read("\n".join(logs)).reading
    assert [run.tool for run in reading.runs] == [tool for log in logs for tool in tools[log]]
    assert not [reject for reject in reading.rejects if reject.matters]


@pytest.mark.parametrize("form", FORMS)
def test_a_reporters_file_is_found_by_content(form: str) -> None:
    """CSV and JSON, with and without a header."""
    assert [run.tool for run in read("\n".join(FORMS[form])).reading.runs] == ["rccl-tests"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"), (b" \n\n", "empty"), (bytes(range(256)) * 8, "no text"), (gzip.compress(NCCL.encode()), "gzip"),
        (b"PK\x03\x04", "zip"), (b'{"record":"sweep","sweep":"x"}\n', "commbench show"),
        (b"hello\nworld 1 2 3\n", "no line of any format"), (b"{}", "no line of any format"),
        (b"\xff\xfe", "no line of any format"), (b"[" * 100000, "no line of any format"),
    ],
)  # fmt: skip
def test_what_is_no_log_is_refused_with_a_reason(content: bytes, words: str) -> None:
    """One reject for the file, no run."""
    reading = read(content).reading
    assert not reading.runs
    assert words in reading.rejects[0].reason


def test_a_whole_gzip_file_is_read_and_a_cut_one_refused(tmp_path: Path) -> None:
    """Job scripts compress their logs."""
    packed = tmp_path / "run.log.gz"
    packed.write_bytes(gzip.compress(NCCL.encode()))
    (found,), (expected,) = (log.reading.runs for log in (read_log(str(packed), Stated()), read(NCCL)))
    assert list(found.rows) == list(expected.rows)
    packed.write_bytes(gzip.compress(NCCL.encode())[:-20])
    assert "cut, broken" in read_log(str(packed), Stated()).reading.rejects[0].reason


def test_the_name_of_a_file_decides_nothing() -> None:
    """A JSON of nccl-tests called .log, and a log called .csv."""
    content = (FOLDER / "nccl-tests-h200/reduce-1.json").read_bytes()
    assert read_content("a.log", content, Stated()).reading.runs[0].variant == "nccl-tests JSON 3"
    assert read_content("a.csv", NCCL.encode(), Stated()).reading.runs[0].variant == "nccl-tests text C3"
