"""Where nccl-tests' programs are looked for."""

from pathlib import Path

import pytest

from commbench.doctor import check_nccl_tests
from commbench.errors import UsageError
from commbench.importing.nccl_tests.binaries import HOME, find, found_folders
from tests.importing.runner.fakes import install


def nothing(name: str) -> str | None:
    """A PATH without any program."""
    return None


def where(
    collective: str = "all_reduce", folder: Path | None = None, *, launched: bool = False, home: Path | None = None
) -> str:
    """The path that is found on a machine with nothing but what the arguments name."""
    environ = {HOME: str(home)} if home else {}
    return find(collective, folder, environ, launched=launched, which=nothing, usual=()).path


def test_a_folder_that_the_user_names_is_looked_into(tmp_path: Path) -> None:
    install(tmp_path, "all_reduce_perf")
    assert where(folder=tmp_path) == str(tmp_path / "all_reduce_perf")


def test_the_folder_may_be_this_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name without a folder would be looked for on PATH."""
    install(tmp_path, "all_reduce_perf")
    monkeypatch.chdir(tmp_path)
    assert where(folder=Path()) == str(tmp_path / "all_reduce_perf")


def test_the_checkout_may_be_named_instead_of_its_build_folder(tmp_path: Path) -> None:
    install(tmp_path / "build", "alltoall_perf")
    assert where("all_to_all", tmp_path) == str(tmp_path / "build" / "alltoall_perf")


def test_the_home_variable_is_next(tmp_path: Path) -> None:
    install(tmp_path / "build", "sendrecv_perf")
    assert where("send_recv", home=tmp_path) == str(tmp_path / "build" / "sendrecv_perf")


def test_a_named_folder_without_the_program_is_not_replaced_by_another_place(tmp_path: Path) -> None:
    """Another build would be measured without the user knowing."""
    install(tmp_path / "home", "all_reduce_perf")
    with pytest.raises(UsageError):
        where(folder=tmp_path / "empty", home=tmp_path / "home")


def test_path_comes_before_the_usual_places(tmp_path: Path) -> None:
    install(tmp_path / "usual", "reduce_perf")
    found = find(
        "reduce", None, {}, launched=False, usual=(str(tmp_path / "usual"),),
        which={"reduce_perf": str(install(tmp_path / "path", "reduce_perf") / "reduce_perf")}.get,
    )  # fmt: skip
    assert found.path == str(tmp_path / "path" / "reduce_perf")


def test_a_usual_place_is_found(tmp_path: Path) -> None:
    install(tmp_path, "reduce_perf")
    assert find("reduce", None, {}, launched=False, which=nothing, usual=(str(tmp_path),)).here


@pytest.mark.parametrize(("launched", "name"), [(False, "all_reduce_perf"), (True, "all_reduce_perf_mpi")])
def test_of_two_builds_the_one_with_mpi_goes_with_a_launcher(tmp_path: Path, launched: bool, name: str) -> None:
    install(tmp_path, "all_reduce_perf", "all_reduce_perf_mpi")
    assert where(folder=tmp_path, launched=launched) == str(tmp_path / name)


def test_a_missing_program_names_every_place(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        where(folder=tmp_path)
    assert str(tmp_path / "build" / "all_reduce_perf") in error.value.found


def test_a_folder_of_a_container_is_believed_when_a_launcher_enters_it() -> None:
    assert not find("all_reduce", Path("/inside/container"), {}, launched=True).here


def test_a_file_that_cannot_be_executed_is_named(tmp_path: Path) -> None:
    install(tmp_path, "all_reduce_perf")
    (tmp_path / "all_reduce_perf").chmod(0o644)
    with pytest.raises(UsageError, match="cannot be executed"):
        where(folder=tmp_path)


def test_barrier_has_no_program() -> None:
    with pytest.raises(UsageError, match="no program for barrier"):
        where("barrier")


def test_found_programs_are_listed_by_folder(tmp_path: Path) -> None:
    install(tmp_path, "all_reduce_perf", "reduce_perf")
    assert found_folders({HOME: str(tmp_path)}, nothing) == {str(tmp_path): ("all_reduce", "reduce")}


def test_the_doctor_names_what_is_found(tmp_path: Path) -> None:
    install(tmp_path, "all_reduce_perf")
    assert check_nccl_tests({HOME: str(tmp_path)}).found == f"{tmp_path}: all_reduce"
