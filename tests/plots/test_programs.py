"""The programs: what they write, what they refuse, and how they end."""

import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from plots import bandwidth, interconnects, pairs, training_steps
from plots.report.__main__ import main as report
from tests.plots.building import SIZES, measured
from tests.showing.sweeps import write

NAMES = ("bandwidth", "interconnects", "model_error", "training_steps", "pairs", "scaling", "report.__main__")


@pytest.fixture(scope="module")
def nvlink(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write(tmp_path_factory.mktemp("sweeps") / "nvlink.jsonl", measured(sizes=SIZES[10:20])))


@pytest.mark.parametrize(("suffix", "beginning"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_the_name_says_the_format(nvlink: str, tmp_path: Path, suffix: str, beginning: bytes) -> None:
    output = tmp_path / f"figure.{suffix}"
    assert bandwidth.main([nvlink, "--output", str(output)]) == 0
    assert output.read_bytes().startswith(beginning)


def test_the_same_figure_gives_the_same_bytes(nvlink: str, tmp_path: Path) -> None:
    """A figure in a repository changes only when its data do."""
    both = [tmp_path / "a.svg", tmp_path / "b.svg"]
    for output in both:
        bandwidth.main([nvlink, "--output", str(output)])
    assert both[0].read_bytes() == both[1].read_bytes()


def test_a_slide_is_large_enough(nvlink: str, tmp_path: Path) -> None:
    """About 2000 pixels wide, 16:9."""
    from PIL import Image

    output = tmp_path / "figure.png"
    bandwidth.main([nvlink, "--output", str(output)])
    with Image.open(output) as image:
        assert image.size[0] >= 1920
        assert image.size[0] / image.size[1] == pytest.approx(16 / 9, rel=0.01)


def test_the_written_file_is_named_on_stdout(nvlink: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "figure.svg"
    bandwidth.main([nvlink, "--output", str(output)])
    assert capsys.readouterr().out == f"{output}\n"


@pytest.mark.parametrize(
    "words",
    [
        ["--output", "figure.gif"],
        ["--output", "no-such-folder/figure.png"],
        ["--output", "figure"],
        ["--output", "figure.png", "--collective", "nonsense"],
        ["--output", "figure.png", "--mode", "fast"],
        ["--output", "figure.png", "--nonsense"],
        [],
    ],
)
def test_options_that_make_no_sense_are_usage_errors(
    nvlink: str, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert bandwidth.main([nvlink, *words]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(":")[0].strip() for line in lines[1:4]] == ["expected", "found", "to do"]


@pytest.mark.parametrize(
    "content", [b"", b"\x00\xff\xfe", b"{}", b'{"record":"pairs"}', b"[" * 9999, b"\xf0\x9f\xa6\x80"]
)
def test_files_that_are_none_are_errors(tmp_path: Path, content: bytes) -> None:
    """Never a traceback, whatever the bytes."""
    file = tmp_path / "file.jsonl"
    file.write_bytes(content)
    output = ["--output", str(tmp_path / "figure.svg")]
    assert bandwidth.main([str(file), *output]) == 2
    assert pairs.main([str(file), *output]) == 2
    assert report([str(file), "--output", str(tmp_path / "page.html")]) == 2


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    assert interconnects.main([str(tmp_path / "a"), str(tmp_path / "b"), "--output", str(tmp_path / "figure.svg")]) == 2


def test_wrong_results_are_not_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = measured(sizes=SIZES[10:20])
    wrong = (*one.measurements[:-1], replace(one.measurements[-1], correct=False, wrong=7))
    file = write(tmp_path / "wrong.jsonl", one.__class__(one.header, wrong, end=one.end))
    assert bandwidth.main([str(file), "--output", str(tmp_path / "figure.svg")]) == 1
    assert "wrong results in 1 measurement" in capsys.readouterr().err
    assert not (tmp_path / "figure.svg").exists()


def test_one_side_is_nothing_to_compare(nvlink: str, tmp_path: Path) -> None:
    assert interconnects.main([nvlink, "--output", str(tmp_path / "figure.svg")]) == 2


def test_a_model_is_needed_for_a_step(nvlink: str, tmp_path: Path) -> None:
    assert training_steps.main([nvlink, "--output", str(tmp_path / "figure.svg")]) == 2


def test_help_loads_neither_matplotlib_nor_scipy_nor_torch() -> None:
    """And importing a figure's module does not either; commbench itself never imports plots."""
    code = (
        "import sys, importlib\n"
        f"for name in {NAMES!r}: importlib.import_module('plots.' + name)\n"
        "print(sorted({'matplotlib', 'scipy', 'torch', 'jinja2'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_without_matplotlib_the_extra_is_named(nvlink: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                               capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert bandwidth.main([nvlink, "--output", str(tmp_path / "figure.svg")]) == 2
    assert "pip install 'commbench[plots]'" in capsys.readouterr().err


@pytest.mark.parametrize("label", ["x" * 400, "名前 🦀", "\u202eevil\x1b[31m", "_hidden", "$a_b$"])
def test_labels_may_be_anything(tmp_path: Path, label: str) -> None:
    """Endless, of characters that the font lacks, of control characters: a figure all the same, without a warning."""
    one, other = measured(label, sizes=SIZES[10:20]), measured("other", sizes=SIZES[10:20])
    files = [str(write(tmp_path / f"{n}.jsonl", each)) for n, each in enumerate((one, other))]
    assert interconnects.main([*files, "--output", str(tmp_path / "figure.svg")]) == 0
