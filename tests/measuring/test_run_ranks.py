"""A whole sweep on several fake ranks at once, each a thread with a session of its own."""

from pathlib import Path

import pytest

from commbench.errors import CommbenchError, LaunchError, SweepFileError, UsageError
from commbench.measuring.seam import Case

from .fake_session import FakeSession
from .fakes import Law
from .running import records, run_ranks

SIZES = ["all_reduce", "-b", "8", "-e", "64"]  # 8, 16, 32, 64


def cases(session: FakeSession) -> list[Case]:
    """What a rank measured, in order."""
    return [operation.case for backend in session.backends for operation in backend.operations]


def test_all_ranks_measure_the_same_in_the_same_order() -> None:
    """Shuffled, in two cycles, with points that are left out."""
    law = Law(refuses=("broadcast",), noise=0.3)
    words = ["all_reduce", "broadcast", "all_gather", "-b", "8", "-e", "1K", "--shuffle", "3", "-N", "2"]
    _, sessions = run_ranks(3, *words, law=law)
    assert all(cases(session) == cases(sessions[0]) for session in sessions)
    assert len(cases(sessions[0])) == 2 * (8 + 2 * 8)


def test_only_rank_0_writes(tmp_path: Path) -> None:
    """One header, one end, each point once."""
    run_ranks(3, *SIZES, "-J", str(tmp_path / "a.jsonl"))
    kinds = [record["record"] for record in records(tmp_path / "a.jsonl")]
    assert kinds == ["sweep", "machine_state", *["measurement"] * 4, "machine_state", "end"]


def test_wrong_elements_of_any_rank_are_in_the_row() -> None:
    """3 on rank 2, checked twice."""
    recorder, _ = run_ranks(3, *SIZES, law=Law(wrong={2: 3}))
    assert {(False, 6)} == {(m.correct, m.wrong) for m in recorder.sweeps()[0].measurements}


def test_a_late_and_a_slow_rank_are_named() -> None:
    """As fastest and as slowest."""
    late, _ = run_ranks(4, *SIZES, law=Law(late=1, noise=1e-3))
    slow, _ = run_ranks(4, *SIZES, law=Law(slow=2, noise=1e-3))
    assert {1} == {m.fastest_rank for m in late.sweeps()[0].measurements}
    assert {2} == {m.slowest_rank for m in slow.sweeps()[0].measurements}


def test_a_file_that_exists_is_refused_by_every_rank(tmp_path: Path) -> None:
    """Rank 0 alone sees it; all raise the same error and none waits for another."""
    (tmp_path / "a.jsonl").touch()
    with pytest.raises(SweepFileError, match="never overwritten") as caught:
        run_ranks(3, *SIZES, "-J", str(tmp_path / "a.jsonl"))
    assert not caught.value.alone


def test_a_resume_with_other_ranks_is_refused(tmp_path: Path) -> None:
    """3 ranks are no continuation of 2, and the error says both."""
    file = str(tmp_path / "a.jsonl")
    run_ranks(2, *SIZES, "-J", file)
    with pytest.raises(SweepFileError, match="world_size: 2 in the file, 3 now"):
        run_ranks(3, *SIZES, "--resume", file)


def test_a_resume_may_add_world_sizes(tmp_path: Path) -> None:
    """--world-sizes says that other sizes are wanted in the same file; those that are there are not measured again."""
    file = str(tmp_path / "a.jsonl")
    run_ranks(2, *SIZES, "--world-sizes", "2", "-J", file)
    run_ranks(3, *SIZES, "--world-sizes", "2,3", "--resume", file)
    assert [record["world_size"] for record in records(tmp_path / "a.jsonl", "sweep")] == [2, 3]


def test_a_bare_resume_takes_the_plan_from_the_file(tmp_path: Path) -> None:
    """What was asked for then is what is missing now; nothing else is measured."""
    file = tmp_path / "a.jsonl"
    run_ranks(2, *SIZES, "-J", str(file))
    lines = file.read_text().splitlines(keepends=True)
    points = [line for line in lines if '"measurement"' in line]
    file.write_text("".join(line for line in lines if line != points[-1] and '"end"' not in line))
    run_ranks(2, "--resume", str(file))
    assert len(records(file, "measurement")) == len(points)


def test_each_world_size_is_a_sweep(tmp_path: Path) -> None:
    """Among the first 2 of 4 ranks, then among 3; the others wait and write nothing."""
    run_ranks(4, *SIZES, "--world-sizes", "2,3", "-J", str(tmp_path / "a.jsonl"))
    headers = records(tmp_path / "a.jsonl", "sweep")
    assert [(h["world_size"], h["ranks_per_host"]) for h in headers] == [(2, [2]), (3, [3])]
    assert [sum(m["sweep"] == h["sweep"] for m in records(tmp_path / "a.jsonl", "measurement"))
                      for h in headers] == [4, 4]  # fmt: skip


def test_a_resume_continues_each_world_size(tmp_path: Path) -> None:
    """Only 4 ranks are missing."""
    file = str(tmp_path / "a.jsonl")
    run_ranks(4, *SIZES, "--world-sizes", "2,3", "-J", file)
    _, sessions = run_ranks(4, *SIZES, "--world-sizes", "2,3,4", "--resume", file)
    assert [len(backend.operations) for backend in sessions[0].backends] == [0, 0, 4]


def test_groups_are_measured_at_once_and_told_apart() -> None:
    """4 ranks in 2 groups, rank 3 slow: the second group's times are the longer ones, and it is named."""
    recorder, _ = run_ranks(4, *SIZES, "--groups", "2", law=Law(slow=3, delay=10e-6))
    (sweep,) = recorder.sweeps()
    first = sweep.measurements[0]
    assert (sweep.header.world_size, sweep.header.groups) == (2, ((0, 1), (2, 3)))
    assert first.group_seconds is not None
    assert first.seconds == first.group_seconds[1]
    assert max(first.group_seconds[0]) < min(first.group_seconds[1])
    assert any(note.startswith("slowest group: 1 (ranks 2 to 3)") for note in first.notes)


def test_without_groups_no_group_has_times() -> None:
    """None, not a list of one."""
    recorder, _ = run_ranks(2, *SIZES)
    (sweep,) = recorder.sweeps()
    assert (sweep.header.groups, sweep.measurements[0].group_seconds) == (None, None)


@pytest.mark.parametrize(("error", "words"), [(UsageError, ["--world-sizes", "5"]), (UsageError, ["-r", "7"])])
def test_what_these_ranks_cannot_give_is_refused_by_all(error: type[CommbenchError], words: list[str]) -> None:
    """Before a backend is opened."""
    with pytest.raises(error):
        run_ranks(3, "broadcast", *words)


def test_two_ranks_on_one_device_are_refused_by_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every rank sees the same members."""
    made = FakeSession.__init__

    def on_one_device(session: FakeSession, *arguments: object, **options: object) -> None:
        made(session, *arguments, **options)  # type: ignore[arg-type]
        session.device = type(session.device)("GPU-1", "fake GPU", 1 << 30, 1 << 20)

    monkeypatch.setattr(FakeSession, "__init__", on_one_device)
    with pytest.raises(LaunchError, match="two ranks share one device"):
        run_ranks(2, *SIZES)


def test_memory_is_shared_out_among_the_ranks_of_a_host() -> None:
    """1 GiB free for 4 ranks on one host is 256 MiB for each: 512 MiB are left out, 128 MiB are measured."""
    recorder, _ = run_ranks(4, "all_reduce", "-b", "128M", "-e", "512M", "-f", "4")
    (sweep,) = recorder.sweeps()
    assert [m.message_bytes for m in sweep.measurements] == [128 << 20]
    assert [left.reason for left in sweep.left_out] == [
        "buffers up to this size need 512 MiB a rank, and may take 90 % of the 256 MiB a rank that are free"
    ]


def test_parts_open_backends_of_their_size_only() -> None:
    """Rank 3 never opens a backend of the first two."""
    _, sessions = run_ranks(4, *SIZES, "--world-sizes", "2,4")
    assert [len(session.backends) for session in sessions] == [2, 2, 1, 1]
