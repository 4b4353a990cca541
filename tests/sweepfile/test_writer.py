"""The writer: never overwrites, and whatever happens the file ends at a whole line."""

import os
from pathlib import Path

import pytest

from commbench.errors import SweepFileError
from commbench.sweepfile.reader import read_sweeps
from commbench.sweepfile.writer import SweepWriter

from .building import end, file_of, header, measurement

HEADER, POINT = file_of(header()), file_of(measurement())


def test_what_is_written_is_what_is_read(tmp_path: Path) -> None:
    """Three records, in order."""
    with SweepWriter.create(tmp_path / "a.jsonl") as out:
        for record in (header(), measurement(), end()):
            out.write(record)
    (sweep,) = read_sweeps(tmp_path / "a.jsonl")
    assert (sweep.header, sweep.measurements, sweep.end) == (header(), (measurement(),), end())


def test_a_record_is_in_the_file_as_soon_as_it_is_written(tmp_path: Path) -> None:
    """Before close: a kill loses nothing that was finished."""
    out = SweepWriter.create(tmp_path / "a.jsonl")
    out.write(header())
    assert (tmp_path / "a.jsonl").read_bytes() == HEADER
    out.close()


@pytest.mark.parametrize("content", [b"", b"precious\n"])
def test_an_existing_file_is_never_overwritten(tmp_path: Path, content: bytes) -> None:
    """The error names --resume and the file is untouched."""
    (tmp_path / "a.jsonl").write_bytes(content)
    with pytest.raises(SweepFileError) as caught:
        SweepWriter.create(tmp_path / "a.jsonl")
    assert "--resume" in caught.value.fix
    assert (tmp_path / "a.jsonl").read_bytes() == content


def test_a_dangling_link_is_not_followed(tmp_path: Path) -> None:
    """A link to nowhere is something that is there: no file appears at its end."""
    (tmp_path / "a.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SweepFileError, match="never overwritten"):
        SweepWriter.create(tmp_path / "a.jsonl")
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("path", [".", "missing/a.jsonl", "file/a.jsonl"])
def test_a_path_that_cannot_be_written_is_refused_before_measuring(tmp_path: Path, path: str) -> None:
    """A folder, a file in a missing folder, a file in a file."""
    (tmp_path / "file").touch()
    with pytest.raises(SweepFileError):
        SweepWriter.create(tmp_path / path)


def test_the_working_folder_as_a_path_is_refused() -> None:
    """`-J .` has no name at all."""
    with pytest.raises(SweepFileError):
        SweepWriter.create(".")


def test_too_little_room_is_known_before_measuring(tmp_path: Path) -> None:
    """More bytes than any disk has: refused, and neither file nor probe is left behind."""
    with pytest.raises(SweepFileError, match="cannot be written"):
        SweepWriter.create(tmp_path / "a.jsonl", expected_bytes=1 << 60)
    assert list(tmp_path.iterdir()) == []


def test_the_probe_for_room_is_removed(tmp_path: Path) -> None:
    """Only the sweep file itself is there."""
    SweepWriter.create(tmp_path / "a.jsonl", expected_bytes=1 << 16).close()
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


def test_the_probe_of_a_killed_run_blocks_nobody(tmp_path: Path) -> None:
    """A left-over of any earlier name and the same process id is in nobody's way, nor is a name of 255 characters."""
    (tmp_path / f".a.jsonl.room-{os.getpid()}").touch()
    for name in ("a.jsonl", "n" * 255):
        SweepWriter.create(tmp_path / name, expected_bytes=8).close()


def test_append_continues_behind_the_last_record(tmp_path: Path) -> None:
    """Nothing that was there changes."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(HEADER + POINT)
    with SweepWriter.append(path) as out:
        out.write(end())
    assert path.read_bytes() == HEADER + POINT + file_of(end())


@pytest.mark.parametrize("tail", [POINT[:1], POINT[:50], POINT[:-2], b"\0" * 5000, b"\xff"])
def test_append_removes_a_cut_tail(tmp_path: Path, tail: bytes) -> None:
    """What a kill or a power loss left behind the last newline goes, or the next record would be damaged."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(HEADER + tail)
    with SweepWriter.append(path) as out:
        out.write(measurement())
    assert path.read_bytes() == HEADER + POINT


def test_append_keeps_a_whole_record_that_lacks_its_newline(tmp_path: Path) -> None:
    """Readers count it as measured, so a resume will not measure it again: it must stay."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(HEADER + POINT.rstrip())
    SweepWriter.append(path).close()
    assert path.read_bytes() == HEADER + POINT


def test_append_needs_a_file(tmp_path: Path) -> None:
    """A resume of nothing is refused, and creates nothing."""
    with pytest.raises(SweepFileError):
        SweepWriter.append(tmp_path / "none.jsonl")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "changes",
    [{"seconds": (float("nan"),) * 3}, {"seconds": (-1.0,) * 3}, {"message_bytes": -1}, {"dtype": "\udcff"}],
    ids=["nan", "negative time", "negative size", "lone surrogate"],
)
def test_what_no_reader_could_read_is_not_written(tmp_path: Path, changes: dict[str, object]) -> None:
    """One such record would make the whole file unreadable: it is refused, the file stays as it was."""
    with SweepWriter.create(tmp_path / "a.jsonl") as out:
        out.write(header())
        with pytest.raises(SweepFileError, match="no reader could read it"):
            out.write(measurement(**changes))
    assert (tmp_path / "a.jsonl").read_bytes() == HEADER


def test_closing_twice_is_fine(tmp_path: Path) -> None:
    """The watch and the main thread may both close."""
    out = SweepWriter.create(tmp_path / "a.jsonl")
    out.close()
    out.close()


def test_a_disk_that_refuses_the_last_data_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """fsync is where a full network disk answers."""
    out = SweepWriter.create(tmp_path / "a.jsonl")

    def refuse(descriptor: int) -> None:
        raise OSError(122, "Disk quota exceeded")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(SweepFileError, match="did not take the last records"):
        out.close()


def test_the_first_error_is_the_one_that_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failing close does not hide why the block ended."""

    def refuse(descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    def run() -> None:
        with SweepWriter.create(tmp_path / "a.jsonl"):
            raise KeyError("the first")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(KeyError, match="the first"):
        run()


def test_a_write_in_parts_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system may take fewer bytes than it was given."""
    whole = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, line: whole(descriptor, line[:7]))
    with SweepWriter.create(tmp_path / "a.jsonl") as out:
        out.write(header())
    assert (tmp_path / "a.jsonl").read_bytes() == HEADER


def test_two_runs_do_not_write_one_file(tmp_path: Path) -> None:
    """The second one is told, and the first one's records stay whole."""
    with SweepWriter.create(tmp_path / "a.jsonl") as first:
        first.write(header())
        with pytest.raises(SweepFileError, match="another run is writing"):
            SweepWriter.append(tmp_path / "a.jsonl")
