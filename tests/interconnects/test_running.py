"""Runs of launches with a fake start: what is kept, continued, marked and refused."""

from collections.abc import Callable
from pathlib import Path

import pytest

from commbench.errors import CommbenchError
from commbench.interconnects.order import Step, order
from commbench.interconnects.programs import job
from commbench.interconnects.running import run_all
from commbench.interconnects.stored import Asked, claim
from commbench.launching.lines import LaunchLine, parse_launch
from commbench.launching.settings import parse_settings
from commbench.sweepfile.reader import read_sweeps
from commbench.sweepfile.records import Record
from tests.sweepfile.building import end, file_of, header, measurement

SETTINGS = parse_settings(["sm,tcp"])


class Starts:
    """Stands for the launcher: writes the file that a launch would write, over the path that `path` says."""

    def __init__(self, path: Callable[[str], str] = str, *, code: int = 0, finished: bool = True) -> None:
        self.lines: list[str] = []
        self._path, self._code, self._finished = path, code, finished

    def __call__(self, line: LaunchLine) -> int:
        words = list(line.words)
        self.lines.append(" ".join(words))
        option = "--resume" if "--resume" in words else "-J"
        file = Path(words[words.index(option) + 1])
        name = file.parent.name
        variables = {"OMPI_MCA_btl": f"self,{name}", "OMPI_MCA_pml": "ob1"}
        pairs = [{"from": 0, "to": 1, "path": self._path(name)}]
        head = header(
            sweep=str(file), label=name, environment={"variables": variables},
            transport={"setting": name, "proved": [self._path(name)], "pairs": pairs},
        )  # fmt: skip
        records: list[Record] = [
            head,
            measurement(sweep=str(file)),
            *([end(sweep=str(file))] if self._finished else []),
        ]
        file.write_bytes(file_of(*records))
        return self._code


@pytest.fixture(autouse=True)
def launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    """mpirun is on PATH."""
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")


def run(folder: Path, start: Starts) -> tuple[tuple[Step, ...], list[tuple[str, ...]]]:
    """All steps, and why each is void."""
    steps = order(SETTINGS, 2, folder)
    outcomes = run_all(steps, job(parse_launch("mpirun -n 2"), None, ["-b", "8"], {}), lambda text: None, start)
    return steps, [outcome.void for outcome in outcomes]


def test_every_launch_is_run_once(tmp_path: Path) -> None:
    start = Starts()
    run(tmp_path, start)
    assert len(start.lines) == 4


def test_what_took_is_not_void(tmp_path: Path) -> None:
    assert run(tmp_path, Starts())[1] == [(), (), (), ()]


def test_what_is_finished_is_not_run_again(tmp_path: Path) -> None:
    run(tmp_path, Starts())
    again = Starts()
    run(tmp_path, again)
    assert again.lines == []


def test_what_was_interrupted_is_continued(tmp_path: Path) -> None:
    with pytest.raises(CommbenchError, match="a launch failed"):
        run(tmp_path, Starts(code=1, finished=False))
    again = Starts()
    run(tmp_path, again)
    assert f"--resume {tmp_path}/sm/1.jsonl" in again.lines[0]


def test_a_launch_that_leaves_no_file_is_an_error(tmp_path: Path) -> None:
    start = Starts()

    def fail(line: LaunchLine) -> int:
        start.lines.append("")
        return 2

    with pytest.raises(CommbenchError, match="exit code 2, and no sweep file"):
        run_all(order(SETTINGS, 1, tmp_path), job(parse_launch("mpirun"), None, [], {}), lambda text: None, fail)
    assert len(start.lines) == 1


def test_a_setting_that_did_not_take_is_marked_in_its_file(tmp_path: Path) -> None:
    steps, void = run(tmp_path, Starts(lambda name: "sm"))
    assert [bool(reasons) for reasons in void] == [False, True]
    (sweep,) = read_sweeps(steps[1].file)
    assert (sweep.voids[0].setting, sweep.voids[0].found) == ("tcp", "0 -> 1 via sm")


def test_both_files_are_kept(tmp_path: Path) -> None:
    steps, _ = run(tmp_path, Starts(lambda name: "sm"))
    assert all(read_sweeps(step.file)[0].measurements for step in steps[:2])


def test_a_marked_sweep_is_still_complete(tmp_path: Path) -> None:
    steps, _ = run(tmp_path, Starts(lambda name: "sm"))
    assert read_sweeps(steps[1].file)[0].status == "complete"


def test_a_void_file_is_not_continued(tmp_path: Path) -> None:
    run(tmp_path, Starts(lambda name: "sm"))
    with pytest.raises(CommbenchError, match="an earlier launch is void"):
        run(tmp_path, Starts())


def test_a_rank_0_elsewhere_is_no_error(tmp_path: Path) -> None:
    outcomes = run_all(
        order(SETTINGS, 1, tmp_path), job(parse_launch("mpirun"), None, [], {}), lambda text: None, lambda line: 0
    )
    assert [outcome.elsewhere for outcome in outcomes] == [True, True]


ASKED = Asked(launch="mpirun -n 2", program="mpi.sweep", arguments=("-b", "8"), settings={"sm": {}})


def test_a_folder_belongs_to_one_line(tmp_path: Path) -> None:
    claim(tmp_path / "r", ASKED)
    claim(tmp_path / "r", ASKED)
    other = Asked(launch="mpirun -n 4", program="mpi.sweep", arguments=("-b", "8"), settings={"sm": {}})
    with pytest.raises(CommbenchError, match='launch: "mpirun -n 2" then, "mpirun -n 4" now'):
        claim(tmp_path / "r", other)


def test_a_file_in_the_way_is_said(tmp_path: Path) -> None:
    (tmp_path / "r").write_text("")
    with pytest.raises(CommbenchError, match="the folder for the results cannot be used"):
        claim(tmp_path / "r", ASKED)
