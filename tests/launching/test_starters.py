"""What mpirun and torchrun refuse before our programs start."""

from collections.abc import Callable
from pathlib import Path

import pytest

from commbench.launching.findings import Finding, has_problem
from commbench.launching.starters import ROOT_VARIABLES, Wanted, check_mpirun_program, check_starters, physical_cores

ALLOWED = dict.fromkeys(ROOT_VARIABLES, "1")


def _machine(
    programs: set[str],
    modules: set[str],
    environ: dict[str, str] | None = None,
    ranks: int | None = None,
    *,
    wanted: Wanted = "any",
    user_id: int = 1000,
    cores: int = 4,
) -> dict[str, Finding]:
    which: Callable[[str], str | None] = lambda name: f"/bin/{name}" if name in programs else None  # noqa: E731
    findings = check_starters(
        environ or {},
        ranks,
        wanted=wanted,
        which=which,
        installed=modules.__contains__,
        user_id=user_id,
        cores=cores,
    )
    assert len({finding.check for finding in findings}) == len(findings)
    return {finding.check: finding for finding in findings}


ALL_PROGRAMS, ALL_MODULES = {"mpirun", "torchrun"}, {"torch", "mpi4py"}


def test_a_complete_machine_has_nothing_to_complain_about() -> None:
    findings = _machine(ALL_PROGRAMS, ALL_MODULES, ranks=4)
    assert {finding.level for finding in findings.values()} == {"ok"}


@pytest.mark.parametrize(
    ("environ", "missing"),
    [
        ({}, list(ROOT_VARIABLES)),
        ({ROOT_VARIABLES[0]: "1"}, [ROOT_VARIABLES[1]]),
        ({**ALLOWED, ROOT_VARIABLES[0]: "0"}, [ROOT_VARIABLES[0]]),
        (ALLOWED, []),
    ],
)
def test_root_needs_both_variables(environ: dict[str, str], missing: list[str]) -> None:
    finding = _machine(ALL_PROGRAMS, ALL_MODULES, environ, user_id=0, wanted="mpirun")["mpirun as root"]
    assert finding.level == ("problem" if missing else "ok")
    if missing:
        assert finding.fix is not None
        assert f"`export {' '.join(f'{name}=1' for name in missing)}`" in finding.fix


def test_more_ranks_than_cores_are_refused() -> None:
    finding = _machine(ALL_PROGRAMS, ALL_MODULES, ranks=5, wanted="mpirun")["mpirun slots"]
    assert (finding.level, finding.fix and "--map-by :oversubscribe" in finding.fix) == ("problem", True)
    assert "5 ranks wanted, 4 cores" in finding.found


@pytest.mark.parametrize(
    ("programs", "modules", "missing"),
    [
        ({"torchrun"}, ALL_MODULES, "mpirun"),
        (ALL_PROGRAMS, {"torch"}, "mpi4py"),
        ({"mpirun"}, {"mpi4py"}, "torch"),
        ({"mpirun"}, {"mpi4py"}, "torchrun"),
        ({"mpirun"}, ALL_MODULES, "torchrun"),
    ],
)
def test_what_is_missing_is_one_finding_with_one_sentence(programs: set[str], modules: set[str], missing: str) -> None:
    finding = _machine(programs, modules)[missing]
    assert finding.level == "warning"
    assert finding.fix


def test_without_any_launcher_it_is_a_problem() -> None:
    findings = _machine(set(), set())
    assert {finding.level for finding in findings.values()} == {"problem"}
    assert "mpirun as root" not in findings


def test_root_stops_only_those_who_need_mpirun() -> None:
    assert not has_problem(_machine(ALL_PROGRAMS, ALL_MODULES, user_id=0).values())
    assert has_problem(_machine(ALL_PROGRAMS, ALL_MODULES, user_id=0, wanted="mpirun").values())
    assert has_problem(_machine({"mpirun"}, {"mpi4py"}, user_id=0).values())
    assert set(_machine(ALL_PROGRAMS, ALL_MODULES, user_id=0, wanted="torchrun")) == {"torch", "torchrun"}


def test_pips_mpirun_that_is_not_on_path_is_found(tmp_path: Path) -> None:
    beside = tmp_path / "mpirun"
    assert check_mpirun_program(lambda _: None, beside).found == "not on PATH"
    beside.touch()
    finding = check_mpirun_program(lambda _: None, beside)
    assert (finding.level, finding.found) == ("problem", f"installed as {beside}, but not on PATH")


def test_hydra_minds_neither_root_nor_slots(tmp_path: Path) -> None:
    (tmp_path / "mpiexec.hydra").touch()
    findings = check_starters(
        {}, 99, wanted="mpirun", which=lambda name: str(tmp_path / name), installed=lambda _: True, user_id=0, cores=1
    )
    assert [finding.check for finding in findings] == ["mpirun", "mpi4py", "mpirun clean-up"]
    assert "-disable-auto-cleanup" in (findings[-1].fix or "")
    assert not has_problem(findings)


def test_this_machine_has_a_core() -> None:
    assert physical_cores() >= 1
