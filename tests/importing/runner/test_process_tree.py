"""Lines as they come, from programs that behave in any way."""

import sys
from pathlib import Path

import pytest

from commbench.importing.nccl_tests import process_tree
from commbench.importing.nccl_tests.process_tree import ProcessTree
from tests.importing.runner.fakes import gone


def lines(code: str) -> list[tuple[str, str]]:
    """What a Python program prints, by stream."""
    with ProcessTree([sys.executable, "-IS", "-c", code], {}) as tree:
        return [event for event in tree.lines() if event is not None]


def test_streams_are_told_apart() -> None:
    assert sorted(lines("import sys; print('a'); sys.stderr.write('b\\n')")) == [("err", "b"), ("out", "a")]


def test_a_last_line_without_an_end_counts() -> None:
    assert lines("print('a', end='')") == [("out", "a")]


def test_bytes_that_are_no_text_are_marked() -> None:
    assert lines("import sys; sys.stdout.buffer.write(b'a\\xff\\n')") == [("out", "a\ufffd")]


def test_a_line_without_end_comes_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory stays bounded."""
    monkeypatch.setattr(process_tree, "_LONGEST_LINE", 1000)
    pieces = lines("print('a' * 100_000)")
    assert "".join(text for _, text in pieces) == "a" * 100_000
    assert len(pieces) > 1


def test_a_program_that_closes_its_output_is_waited_for() -> None:
    code = "import os, time; os.close(1); os.close(2); time.sleep(0.3); os._exit(7)"
    with ProcessTree([sys.executable, "-IS", "-c", code], {}) as tree:
        assert [event for event in tree.lines() if event] == []
        assert tree.status == 7


def test_a_program_that_cannot_be_started_is_an_os_error() -> None:
    with pytest.raises(OSError, match="No such file"):
        ProcessTree(["/nowhere/program"], {})


def test_a_descendant_that_cleared_its_environment_is_ended_too(tmp_path: Path) -> None:
    """It has a session of its own and no mark, but its parents still run."""
    code = (
        "import subprocess, sys, time, pathlib\n"
        "words = [sys.executable, '-IS', '-c', 'import time; time.sleep(600)']\n"
        "child = subprocess.Popen(words, env={}, start_new_session=True)\n"
        f"pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(child.pid))\n"
        "print('started', flush=True)\n"
        "time.sleep(600)\n"
    )
    with ProcessTree([sys.executable, "-I", "-c", code], {}) as tree:
        assert next(event for event in tree.lines() if event) == ("out", "started")
        tree.end(0.1)
    assert gone(int((tmp_path / "pid").read_text()))
