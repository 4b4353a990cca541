"""Over nights: steps and drifts are found, dated and explained, and chance is not taken for one."""

from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from commbench.errors import CommbenchError
from commbench.judging.history import judge_history, keep
from commbench.judging.judged import Check
from commbench.judging.limits import parse_limits
from commbench.judging.steps import FALSE_ALARMS, changes
from commbench.sweepfile.reader import Sweep, read_sweeps
from commbench.sweepfile.records import End

from .limits_files import limits_text
from .synthetic import law, sweep

LIMITS = parse_limits(limits_text().encode())


def night(number: int, factor: float = 1.0, nccl: str = "2.27.7", **more: object) -> Sweep:
    one = sweep(
        "a", seed=number, seconds=lambda size: factor * law(size), launch_noise=0.005, noise=0.005,
        environment={"nccl": nccl}, **more,  # type: ignore[arg-type]
    )  # fmt: skip
    return Sweep(
        msgspec.structs.replace(one.header, started_at=f"2026-10-{number + 1:02}T02:00:00Z"),
        one.measurements,
        end=one.end,
    )


def judged(folder: Path, nights: list[Sweep]) -> tuple[tuple[Check, ...], tuple[str, ...]]:
    keep(nights[:-1], str(folder))
    return judge_history(LIMITS, nights[-1:], str(folder))


def test_alike_nights_pass(tmp_path: Path) -> None:
    checks, _ = judged(tmp_path, [night(number) for number in range(12)])
    assert {check.outcome for check in checks} == {"pass"}


def test_a_step_fails_with_its_night_and_what_changed(tmp_path: Path) -> None:
    """8 % slower since the ninth night, when NCCL was upgraded."""
    nights = [night(n, 1.08 if n >= 8 else 1.0, "2.28.9" if n >= 8 else "2.27.7") for n in range(12)]
    checks, _ = judged(tmp_path, nights)
    assert {check.outcome for check in checks} == {"fail"}
    assert "since 2026-10-09T02:00:00Z (changed that night: nccl 2.27.7 -> 2.28.9)" in checks[0].reason


def test_a_step_tonight_is_found(tmp_path: Path) -> None:
    checks, _ = judged(tmp_path, [night(n, 1.08 if n == 11 else 1.0) for n in range(12)])
    assert "slower since 2026-10-12" in checks[0].reason


def test_a_drift_fails_as_a_drift(tmp_path: Path) -> None:
    checks, _ = judged(tmp_path, [night(n, 1.0 + 0.01 * n) for n in range(14)])
    assert checks[0].outcome == "fail"
    assert checks[0].reason.startswith("drifted")


def test_a_faster_machine_passes_and_is_remarked_on(tmp_path: Path) -> None:
    checks, _ = judged(tmp_path, [night(n, 0.9 if n >= 6 else 1.0) for n in range(12)])
    assert checks[0].outcome == "pass"
    assert "faster since 2026-10-07" in checks[0].reason


def test_a_step_that_went_back_passes(tmp_path: Path) -> None:
    checks, _ = judged(tmp_path, [night(n, 1.1 if 5 <= n < 10 else 1.0) for n in range(16)])
    assert checks[0].outcome == "pass"


def test_few_nights_are_no_history(tmp_path: Path) -> None:
    checks, notes = judged(tmp_path, [night(number) for number in range(4)])
    assert (checks, "4 nights" in notes[0]) == ((), True)


def test_no_folder_yet_is_an_empty_history(tmp_path: Path) -> None:
    assert judge_history(LIMITS, [night(0)], str(tmp_path / "none"))[0] == ()


def test_nights_of_another_machine_or_with_wrong_data_do_not_count(tmp_path: Path) -> None:
    other = [night(n, 0.5, world_size=4, ranks_per_host=(4,)) for n in range(6)]
    wrong = [night(n, 0.5, correct=False) for n in range(6, 12)]
    checks, notes = judged(tmp_path, [*other, *wrong, night(20)])
    assert checks == ()
    assert "12 of 12 sweeps" in notes[0]


def test_what_is_kept_is_the_whole_sweep(tmp_path: Path) -> None:
    one = night(3)
    keep([one, one], str(tmp_path))
    (file,) = tmp_path.glob("*.jsonl")
    assert read_sweeps(file) == (one,)


def test_a_damaged_night_is_remarked_on_and_the_others_count(tmp_path: Path) -> None:
    """A nightly job goes on after a disk was full once."""
    keep([night(number) for number in range(8)], str(tmp_path))
    (tmp_path / "bad.jsonl").write_text("not a sweep\n")
    checks, notes = judge_history(LIMITS, [night(8)], str(tmp_path))
    assert {check.outcome for check in checks} == {"pass"}
    assert [note for note in notes if "bad.jsonl is not used" in note]


def test_a_file_is_no_history(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CommbenchError):
        judge_history(LIMITS, [night(0)], str(tmp_path / "file"))


def test_chance_alone_hardly_ever_shows_a_change() -> None:
    chance = np.random.default_rng(3)
    found = sum(bool(changes(chance.normal(0.0, 0.01, 30))) for _ in range(600))
    assert found <= 3.0 * 600 * FALSE_ALARMS


def test_two_steps_are_two() -> None:
    values = np.repeat([0.0, 0.1, 0.3], 10) + np.random.default_rng(1).normal(0.0, 0.005, 30)
    assert [change.at for change in changes(values)] == [10, 20]


def test_nights_that_share_an_id_are_nights(tmp_path: Path) -> None:
    """One file that was copied and changed, night by night."""
    some = [night(n, 1.2 if n >= 8 else 1.0) for n in range(12)]
    alike = [
        replace(
            one,
            header=msgspec.structs.replace(one.header, sweep="same"),
            measurements=tuple(msgspec.structs.replace(m, sweep="same") for m in one.measurements),
            end=End(sweep="same", finished_at="2026-10-30T02:00:00Z", status="complete"),
        )
        for one in some
    ]
    checks, _ = judged(tmp_path, alike)
    assert {check.outcome for check in checks} == {"fail"}
