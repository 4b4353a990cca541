"""The `commbench` command: verbs, help, and how errors end."""

import subprocess
import sys
from pathlib import Path

import pytest

from commbench import __version__
from commbench.__main__ import VERBS, main

HEAVY = ("numpy", "torch", "scipy", "matplotlib", "rich", "msgspec")


def loaded(statement: str) -> set[str]:
    """The heavy modules that are loaded after a statement in a fresh interpreter."""
    code = f"{statement}\nimport sys\nprint('loaded', *(set({HEAVY!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split()[1:])


def test_importing_commbench_loads_nothing_heavy() -> None:
    assert loaded("import commbench") == set()


def test_help_loads_nothing_heavy() -> None:
    assert loaded("from commbench.__main__ import main; main(['--help'])") == set()


def test_show_loads_no_torch() -> None:
    assert "torch" not in loaded("import commbench.showing.show, commbench.showing.table")


@pytest.mark.parametrize("verb", VERBS)
def test_help_has_a_line_for_each_verb(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["--help"])
    assert f"\n  {verb} " in capsys.readouterr().out


def test_help_fits_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--help"])
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--version"])
    assert capsys.readouterr().out == f"commbench {__version__}\n"


def test_no_verb_is_a_usage_error_that_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert (main([]), capsys.readouterr().err[:6]) == (2, "usage:")


def test_an_unknown_verb_is_a_usage_error() -> None:
    assert main(["frobnicate"]) == 2


def test_an_unknown_verb_is_answered_with_the_nearest_one(capsys: pytest.CaptureFixture[str]) -> None:
    main(["shwo"])
    assert "did you mean `commbench show`?" in capsys.readouterr().err


def test_an_error_is_told_in_four_parts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["show", str(tmp_path / "nothing.jsonl")])
    assert [line.split(":")[0].strip() for line in capsys.readouterr().err.splitlines()[1:]] == [
        "expected",
        "found",
        "to do",
    ]


def test_an_error_ends_with_its_code(tmp_path: Path) -> None:
    assert main(["show", str(tmp_path / "nothing.jsonl")]) == 2


def test_a_reader_that_leaves_is_no_error() -> None:
    """`commbench schema | true`: quiet, and ended as by SIGPIPE."""
    process = subprocess.Popen(
        [sys.executable, "-m", "commbench", "schema"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    stderr = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), stderr) == (141, b"")
