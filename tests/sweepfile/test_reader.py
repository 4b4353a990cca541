"""The reader: what it accepts and what it skips; see test_refusals.py for the rest."""

import io
import os
import threading
from pathlib import Path

import pytest

from commbench.errors import SweepFileError
from commbench.sweepfile import reader
from commbench.sweepfile.reader import parse_sweeps, read_sweeps
from commbench.sweepfile.records import Record, Transport

from .building import SWEEP, end, every_kind, file_of, header, left_out, measurement, point_with, refused

HEADER = file_of(header())
POINT = file_of(measurement())
CUT = "line 3 is cut off and was skipped: the run ended while writing it"
NO_END = "no end record: the run was aborted before it could write one"


def test_every_record_comes_back() -> None:
    """Header, points, left-out points and end of a file, in the file's order."""
    records = (header(), measurement(), measurement(message_bytes=8), left_out(), end())
    (sweep,) = parse_sweeps(file_of(*records))
    assert (sweep.header, *sweep.measurements, *sweep.left_out, sweep.end) == records


def test_a_whole_file_has_no_notices() -> None:
    """Nothing to say about a complete sweep."""
    assert parse_sweeps(every_kind())[0].notices == ()


def test_a_file_on_disk_reads_as_its_bytes(tmp_path: Path) -> None:
    """read_sweeps and parse_sweeps agree."""
    (tmp_path / "a.jsonl").write_bytes(every_kind())
    assert read_sweeps(tmp_path / "a.jsonl") == parse_sweeps(every_kind())


def test_sweeps_in_one_file_stay_apart() -> None:
    """Records of two sweeps may alternate; each goes to its own header."""
    both = file_of(header(), header(sweep="b"), measurement(), measurement(sweep="b", cycle=1), measurement(cycle=2))
    assert [[m.cycle for m in sweep.measurements] for sweep in parse_sweeps(both)] == [[0, 2], [1]]


@pytest.mark.parametrize("kind", ['{"record":"new_kind","sweep":7}', '{"x":[1,{}],"record":"more"}'])
def test_unknown_kinds_are_skipped(kind: str) -> None:
    """A record of a later version is no damage, wherever its `record` field stands."""
    assert len(parse_sweeps(HEADER + kind.encode() + b"\n" + POINT)[0].measurements) == 1


def test_unknown_fields_are_skipped() -> None:
    """A field of a later version is no damage."""
    assert parse_sweeps(HEADER + point_with('"later":{"a":[1,2]}'))[0].measurements == (measurement(),)


def test_other_spacing_and_order_are_the_same_json() -> None:
    """Files that other programs rewrote: spaces, another order of fields, CRLF."""
    line = b' {"sweep": "%s", "seconds": [1], "message_bytes": 8,  "collective": null, "record": "measurement" }\r\n'
    assert parse_sweeps(HEADER + line % SWEEP.encode())[0].measurements[0].seconds == (1.0,)


def test_blank_lines_are_skipped() -> None:
    """An empty line is nothing, and line numbers count it."""
    assert ":4:" in refused(HEADER + b"\n  \n" + b"nonsense\n").found


@pytest.mark.parametrize(
    ("status", "records"),
    [
        ("aborted", ()),
        ("complete", (end(),)),
        ("complete", (end(status="aborted"), measurement(), end())),
        ("timed-out", (end(), end(status="timed-out", reason="-T 20"))),
    ],
)
def test_the_last_end_counts(status: str, records: tuple[Record, ...]) -> None:
    """No end record means aborted; after a resume the later end wins."""
    assert parse_sweeps(file_of(header(), *records))[0].status == status


@pytest.mark.parametrize(
    ("proved", "records"),
    [
        (("SHM",), ()),
        (("P2P", "SHM"), (Transport(sweep=SWEEP, proved=("P2P",)),)),
        (("P2P", "SHM"), (Transport(sweep=SWEEP, proved=("P2P",)), Transport(sweep=SWEEP, proved=None))),
    ],
)
def test_the_proved_paths_are_all_that_became_known(proved: tuple[str, ...], records: tuple[Transport, ...]) -> None:
    """A path that a library takes later (another algorithm, another pair) stands beside the first one."""
    assert parse_sweeps(file_of(header(), *records))[0].proved == proved


def test_a_resume_that_was_killed_is_aborted() -> None:
    """Records after an end record were written by a later run, whose own end is missing."""
    assert parse_sweeps(file_of(header(), measurement(), end(), measurement()))[0].status == "aborted"


@pytest.mark.parametrize("transport", [{}, {"proved": None}, {"proved": 3}])
def test_no_proof_is_none(transport: dict[str, object]) -> None:
    """What no record proves is not known, whatever else stands there."""
    assert parse_sweeps(file_of(header(transport=transport)))[0].proved is None


@pytest.mark.parametrize("kept", [1, 15, 60, len(POINT) - 2])
def test_a_cut_last_line_is_skipped_with_a_notice(kept: int) -> None:
    """Wherever a kill cut the line, what was finished is there and the notice names the line."""
    (sweep,) = parse_sweeps(HEADER + POINT + POINT[:kept])
    assert (len(sweep.measurements), sweep.notices) == (1, (CUT, NO_END))


@pytest.mark.parametrize("tail", [b"\0" * 4096, POINT[:70] + b"\0" * 900, b"\xff\xfe\x80", b"7", b"[" * 9999])
def test_a_cut_last_line_may_be_garbage(tail: bytes) -> None:
    """After a power loss anything may stand behind the last newline."""
    (sweep,) = parse_sweeps(HEADER + POINT + tail)
    assert (len(sweep.measurements), sweep.notices) == (1, (CUT, NO_END))


def test_a_last_line_without_newline_counts_when_it_is_whole() -> None:
    """Only the newline is missing: the record is there, and there is nothing to say about it."""
    (sweep,) = parse_sweeps(HEADER + POINT.rstrip())
    assert (len(sweep.measurements), sweep.notices) == (1, (NO_END,))


def test_a_whole_last_line_that_breaks_a_rule_is_damage() -> None:
    """A finished object with a wrong value was not cut; somebody edited it."""
    assert "`seconds[0]` is -1" in refused(HEADER + point_with('"seconds":[-1]').rstrip()).found


@pytest.mark.parametrize(("found", "path"), [("a folder", "."), ("No such file", "none"), ("a device", "/dev/zero")])
def test_a_path_that_is_no_file_is_refused(found: str, path: str, tmp_path: Path) -> None:
    """Folders, missing files and devices; an endless device is not read."""
    with pytest.raises(SweepFileError, match="cannot be read") as caught:
        read_sweeps(tmp_path / path)
    assert found in caught.value.found


def test_a_path_with_a_nul_is_refused() -> None:
    """Python's ValueError does not come through."""
    with pytest.raises(SweepFileError, match="cannot be read"):
        read_sweeps("a\0b")


@pytest.mark.timeout(20)
def test_a_named_pipe_that_nobody_writes_to_does_not_hang(tmp_path: Path) -> None:
    """It reads as empty."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SweepFileError, match="is empty"):
        read_sweeps(tmp_path / "pipe")


@pytest.mark.timeout(20)
def test_a_pipe_can_be_read() -> None:
    """`commbench show <(zcat sweep.gz)`: the writer may be slower than the reader."""
    there, here = os.pipe()

    def write() -> None:
        os.write(here, HEADER + POINT)
        os.close(here)

    writer = threading.Timer(0.2, write)
    writer.start()
    try:
        assert len(read_sweeps(f"/proc/self/fd/{there}")[0].measurements) == 1
    finally:
        writer.join()
        os.close(there)


def test_a_disk_that_fails_while_reading_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An I/O error in the middle of the file names the file and the reason."""

    class Failing(io.BytesIO):
        def readinto(self, buffer: object) -> int:
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(reader, "open_sweep_file", lambda path: io.BufferedReader(Failing()))
    with pytest.raises(SweepFileError) as caught:
        read_sweeps(tmp_path / "a.jsonl")
    assert caught.value.found == "Input/output error"
