"""Text and JSON of one run of nccl-tests 2.19.6 on H200 give the same sweep, and no secret of the JSON leaves it."""

from pathlib import Path

import msgspec
import pytest

from commbench.sweepfile.reader import Sweep, read_sweeps
from commbench.verbs.importing import main
from tests.importing.logs import FOLDER

BOTH = sorted(str(path.relative_to(FOLDER).with_suffix("")) for path in FOLDER.glob("nccl-tests-h200*/*.json")
              if path.with_suffix(".log").exists())  # fmt: skip
PLANTED = "this-must-never-reach-a-sweep-file"


def sweep_of(log: Path, folder: Path) -> Sweep:
    """The only sweep of a log, through the sweep file."""
    file = folder / "out.jsonl"
    assert main([str(log), "-J", str(file)]) == 0
    (sweep,) = read_sweeps(file)
    file.unlink()
    return sweep


@pytest.mark.parametrize("name", BOTH)
def test_text_and_json_give_the_same_sweep(name: str, tmp_path: Path) -> None:
    """The same points with the same facts; the times agree within the rounding of the text."""
    text, json = (sweep_of(FOLDER / (name + end), tmp_path) for end in (".log", ".json"))
    for field in ("world_size", "ranks_per_host", "backend", "groups", "label"):
        assert getattr(text.header, field) == getattr(json.header, field), field
    settings = [{k: v for k, v in s.header.settings.items() if k not in
                 ("arguments", "unalign", "variant", "footer", "notes")} for s in (text, json)]  # fmt: skip
    assert settings[0] == settings[1]
    assert text.header.environment["device"] == json.header.environment["device"]
    assert text.header.environment["hosts"] == json.header.environment["hosts"]
    assert text.status == json.status == "complete"
    assert len(text.left_out) == len(json.left_out)
    assert len(text.measurements) == len(json.measurements) > 0
    for a, b in zip(text.measurements, json.measurements, strict=True):
        assert _facts(a) == _facts(b)
        assert a.seconds[0] == pytest.approx(b.seconds[0], rel=6e-3, abs=6e-9)


def _facts(measurement: msgspec.Struct) -> dict[str, object]:
    fields = msgspec.to_builtins(measurement)
    return {name: value for name, value in fields.items() if name not in ("sweep", "seconds", "reported", "notes")}


@pytest.mark.parametrize("path", sorted(FOLDER.glob("nccl-tests-h200*/*.json")), ids=lambda path: path.stem)
def test_only_allow_listed_variables_leave_a_json(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The planted token is in the file and in no output: not the sweep file, the document, the summary or a warning."""
    assert PLANTED in path.read_text()
    file = tmp_path / "out.jsonl"
    main([str(path), "-J", str(file)])
    main([str(path), "--json"])
    captured = capsys.readouterr()
    for output in (file.read_text(), captured.out, captured.err):
        assert PLANTED not in output
        assert "PLANTED_API_TOKEN" not in output
        assert "/home/someone" not in output


def test_links_in_the_log_prove_the_path(tmp_path: Path) -> None:
    """A log with NCCL's own lines carries its proof."""
    host = sweep_of(FOLDER / "nccl-tests-h200x2/host-info.log", tmp_path)
    assert host.proved == ("SHM",)
    assert sweep_of(FOLDER / "nccl-tests-h200x2/nvlink-info.log", tmp_path).proved == ("P2P",)


def test_a_separate_log_of_nccl_proves_the_path(tmp_path: Path) -> None:
    """`--transport-log` makes a transport record with the pairs of ranks."""
    file = tmp_path / "out.jsonl"
    folder = FOLDER / "nccl-tests-h200x2"
    options = ["--transport-log", str(folder / "nvlink-info.log"), "--label", "nvlink", "-J", str(file)]
    assert main([str(folder / "nvlink-reduce.json"), *options]) == 0
    (sweep,) = read_sweeps(file)
    assert sweep.proved == ("P2P",)
    assert sweep.transports[0].setting == "nvlink"
    assert {(pair["from"], pair["to"]) for pair in sweep.transports[0].pairs} == {(0, 1), (1, 0)}
