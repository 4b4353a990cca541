"""pytest's plugin: one test a check, outcomes of their own, and nothing for those who have no limits file."""

import os
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"
TWO_H200 = str(EXAMPLES / "two-h200.limits.toml")
NVLINK, HOST = (str(EXAMPLES / f"h200x2-{name}.jsonl") for name in ("nvlink", "host"))


def run(folder: Path, *words: str) -> tuple[int, str]:
    """pytest as a user starts it, in an empty folder."""
    surroundings = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *words],
        cwd=folder, capture_output=True, text=True, check=False, env=surroundings,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_nvlink_passes_check_by_check(tmp_path: Path) -> None:
    code, said = run(tmp_path, TWO_H200, "--sweep", NVLINK)
    assert (code, "22 passed" in said) == (0, True)


def test_host_memory_fails_with_its_reason(tmp_path: Path) -> None:
    code, said = run(tmp_path, TWO_H200, "--sweep", HOST)
    assert (code, "17 failed, 5 passed" in said, "SHM/direct/direct was taken (proved)" in said) == (1, True, True)
    assert "Traceback" not in said


def test_a_check_can_be_selected(tmp_path: Path) -> None:
    code, said = run(tmp_path, TWO_H200, "--sweep", HOST, "-k", "correctness")
    assert (code, "1 passed" in said) == (0, True)


def test_not_verified_is_an_outcome_of_its_own_and_not_passed(tmp_path: Path) -> None:
    code, said = run(tmp_path, TWO_H200)
    assert (code, "1 not verified" in said, "passed" in said) == (1, True, False)


def test_a_bad_limits_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "bad.limits.toml").write_text("format = 3")
    code, said = run(tmp_path, "bad.limits.toml", "--sweep", NVLINK)
    assert (code, "a limits file cannot be used" in said, "Traceback" in said) == (2, True, False)


def test_other_tests_and_another_sweep_option_are_left_alone(tmp_path: Path) -> None:
    """A project with an option of the same name; nothing of ours is imported for it."""
    (tmp_path / "conftest.py").write_text("def pytest_addoption(parser): parser.addoption('--sweep', default='x')\n")
    (tmp_path / "test_it.py").write_text(
        "import sys\ndef test_it(pytestconfig):\n"
        "    assert pytestconfig.getoption('--sweep') == 'x'\n"
        "    assert not {'numpy', 'msgspec', 'scipy', 'commbench.judging.limits'} & set(sys.modules)\n"
    )
    code, said = run(tmp_path)
    assert (code, "1 passed" in said) == (0, True), said


def test_a_folder_of_sweeps_is_read(tmp_path: Path) -> None:
    (tmp_path / "sweeps").mkdir()
    (tmp_path / "sweeps" / "nvlink.jsonl").write_bytes(Path(NVLINK).read_bytes())
    code, said = run(tmp_path, TWO_H200, "--sweep", str(tmp_path / "sweeps"))
    assert (code, "22 passed" in said) == (0, True)
