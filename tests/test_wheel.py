"""The wheel: what is in it, and that it works where nothing else of the checkout is."""

import json
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = [pytest.mark.wheel, pytest.mark.timeout(600)]  # installing downloads 60 MB where no cache has them

ROOT = Path(__file__).resolve().parents[1]
NOT_SOURCE = shutil.ignore_patterns(".git", ".venv", "*.egg-info", "build", "dist", "__pycache__", ".*_cache")
SWEEP = (
    '{"record":"sweep","sweep":"s","started_at":"2026-08-01T10:00:00Z","world_size":2,"source":{"tool":"commbench"}}\n'
    '{"record":"measurement","sweep":"s","collective":"all_reduce","message_bytes":1048576,"seconds":[0.001]}\n'
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, because setuptools writes into the folder that it builds and reads what it wrote."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT, folder / "source", ignore=NOT_SOURCE)
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder / "dist")]
    subprocess.run([*pip, str(folder / "source")], check=True, cwd=folder)
    (built,) = (folder / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def bin_folder(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an empty environment with nothing but the wheel and what it requires."""
    folder = tmp_path_factory.mktemp("empty")
    venv.create(folder, with_pip=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--constraint", str(ROOT / "constraints.txt"), str(wheel)], check=True, cwd=folder)
    return folder / "bin"


def commbench(bin_folder: Path, elsewhere: Path, *words: str) -> str:
    """What the installed command prints, run in another directory."""
    words = (str(bin_folder / "commbench"), *words)
    return subprocess.run(words, check=True, cwd=elsewhere, capture_output=True, text=True, env={}).stdout


def names(wheel: Path) -> list[str]:
    """The files of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def test_commbench_is_the_only_top_level_package(wheel: Path) -> None:
    """Tests, benchmarks, mpi and plots are programs of the checkout."""
    top = {name.split("/")[0] for name in names(wheel)}
    assert {name for name in top if not name.endswith(".dist-info")} == {"commbench"}


def test_every_module_is_in_it(wheel: Path) -> None:
    """No sub-package was forgotten."""
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / "commbench").rglob("*.py")}
    assert modules <= set(names(wheel))


def test_it_says_that_it_is_typed(wheel: Path) -> None:
    """So type checkers of those who import it look inside."""
    assert "commbench/py.typed" in names(wheel)


def test_the_licence_is_in_it(wheel: Path) -> None:
    """As Apache-2.0 asks."""
    assert any(name.endswith("LICENSE") for name in names(wheel))


def test_help_works_elsewhere(bin_folder: Path, tmp_path: Path) -> None:
    """Without torch, from a directory that is not the checkout."""
    assert "usage: commbench" in commbench(bin_folder, tmp_path, "--help")


def test_show_works_elsewhere(bin_folder: Path, tmp_path: Path) -> None:
    """A table of somebody's file."""
    (tmp_path / "sweep.jsonl").write_text(SWEEP)
    assert "all_reduce" in commbench(bin_folder, tmp_path, "show", "sweep.jsonl")


def test_schema_works_elsewhere(bin_folder: Path, tmp_path: Path) -> None:
    """Strict JSON."""
    assert json.loads(commbench(bin_folder, tmp_path, "schema"))


def test_the_environment_has_no_torch(bin_folder: Path) -> None:
    """Or these tests would show less than they say."""
    code = "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is not None)"
    assert subprocess.run([bin_folder / "python", "-c", code], check=False).returncode == 0
