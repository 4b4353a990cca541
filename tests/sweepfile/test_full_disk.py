"""A full disk: the file keeps every record that was acknowledged, and ends at a whole line."""

import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from commbench.errors import SweepFileError
from commbench.sweepfile.reader import read_sweeps
from commbench.sweepfile.writer import SweepWriter

# Runs in a process of its own: writes points until the file may not grow any more, then reports what it got.
FILL = """
import sys
from commbench.errors import SweepFileError
from commbench.sweepfile.records import Header, Measurement, Source
from commbench.sweepfile.writer import SweepWriter
writer, written = SweepWriter.create(sys.argv[1]), 0
writer.write(Header(sweep="s", started_at="t", world_size=1, source=Source(tool="commbench")))
try:
    while written < 10_000:
        writer.write(Measurement(sweep="s", collective="all_reduce", message_bytes=written, seconds=(1.0,) * 40))
        written += 1
except SweepFileError as error:
    print(written, error.found)
writer.close()
"""


def filled(path: Path, limit: int | None) -> tuple[int, str]:
    """(points written, the reason the next one was refused) by a process that fills `path`."""

    def restrict() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = subprocess.run(
        [sys.executable, "-c", FILL, str(path)], preexec_fn=restrict, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    number, reason = done.stdout.split(maxsplit=1)
    return int(number), reason.strip()


@pytest.mark.parametrize("limit", [9_999, 10_000, 10_001, 12_345])
def test_a_full_disk_keeps_every_earlier_record(tmp_path: Path, limit: int) -> None:
    """At any limit the file holds what was acknowledged, ends at a whole line, and the error says why."""
    path = tmp_path / "a.jsonl"
    written, reason = filled(path, limit)
    assert reason == "File too large"
    assert path.read_bytes().endswith(b"}\n")
    assert path.stat().st_size <= limit
    assert [m.message_bytes for m in read_sweeps(path)[0].measurements] == list(range(written))


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)], capture_output=True)
    if mounted.returncode:
        pytest.skip(f"cannot mount a tmpfs: {mounted.stderr.decode().strip()}")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.cluster
def test_a_really_full_disk_keeps_every_earlier_record(tiny_disk: Path) -> None:
    """The same on a file system without room."""
    written, reason = filled(tiny_disk / "a.jsonl", None)
    assert reason == "No space left on device"
    assert (tiny_disk / "a.jsonl").read_bytes().endswith(b"}\n")
    assert len(read_sweeps(tiny_disk / "a.jsonl")[0].measurements) == written > 50


@pytest.mark.cluster
def test_room_is_proved_on_a_real_disk(tiny_disk: Path) -> None:
    """128 KiB do not fit on 64 KiB; nothing is left behind."""
    with pytest.raises(SweepFileError) as caught:
        SweepWriter.create(tiny_disk / "a.jsonl", expected_bytes=1 << 17)
    assert caught.value.found == "No space left on device"
    assert list(tiny_disk.iterdir()) == []
