"""Replays on a fake library whose calls take what a law says: what is issued, in which order, and what predicts it."""

from pathlib import Path
from typing import Any

import pytest

from commbench.errors import RefusedModelError, UsageError
from commbench.measuring.launched import Launched
from commbench.measuring.watch import Watch
from commbench.replaying.issuing import ranks_of
from commbench.replaying.options import TORCHRUN, command_line, parse
from commbench.replaying.run import replay
from commbench.showing.replay import draw_replay, replay_document
from commbench.training.call import Group
from commbench.training.replayed import Replay
from tests.measuring.fake_session import FakeSession, identity_of
from tests.measuring.fakes import FakeWorld, Law, on_ranks

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "h200x2-nvlink.jsonl")
ZERO2 = ("--model", "tiny", "--strategy", "zero2", "-n", "2")


def replayed(ranks: int, *words: str, law: Law | None = None) -> tuple[Replay, list[FakeSession]]:
    """A replay on threads; rank 0's result and every rank's session."""
    options = parse(words)

    def run(world: FakeWorld) -> tuple[Replay, FakeSession]:
        session = FakeSession(world, law)
        launched = Launched(session, identity_of(world), Watch(world.rank, world.size), {})
        return replay(options, launched, world), session

    results = on_ranks(ranks, run)
    return results[0][0], [session for _, session in results]


@pytest.fixture(scope="module")
def zero2() -> Replay:
    return replayed(2, *ZERO2)[0]


def test_every_call_of_the_schedule_is_issued_in_order(zero2: Replay) -> None:
    """DeepSpeed's ZeRO-2 of today: an all_reduce of all gradients, two scalars, an all_gather."""
    found = [(call.collective, call.elements) for call in zero2.schedule.calls]
    assert found == [("all_reduce", 125248), ("all_reduce", 1), ("all_reduce", 1), ("all_gather", 125248)]


def test_as_many_runs_as_asked_for_count(zero2: Replay) -> None:
    assert zero2.times.shape == (2, 2, 4)


def test_a_law_predicts_itself(zero2: Replay) -> None:
    """Calls alone and calls in a step take the same on the fake: no error."""
    assert zero2.total.error == pytest.approx(0.0)


def test_every_result_is_checked(zero2: Replay) -> None:
    assert zero2.wrong == 0


def test_wrong_elements_are_counted() -> None:
    """One on rank 1 for each of the four kinds of call."""
    assert replayed(2, *ZERO2, law=Law(wrong={1: 1}))[0].wrong == 4


def test_checks_may_be_left_out() -> None:
    assert replayed(2, *ZERO2, "-c", "0", law=Law(wrong={1: 1}))[0].wrong is None


def test_a_sweep_predicts_in_the_mode_of_the_replay() -> None:
    found, _ = replayed(2, *ZERO2, "--sweep", EXAMPLE)
    assert found.priced is not None
    assert (found.priced.mode, found.predicted_from) == ("pipelined", EXAMPLE)


def test_a_sweep_of_another_mode_is_refused() -> None:
    with pytest.raises(RefusedModelError, match="was not measured"):
        replayed(2, *ZERO2, "--sweep", EXAMPLE, "--mode", "isolated")


def test_a_sweep_of_other_ranks_is_refused() -> None:
    with pytest.raises(RefusedModelError, match="among 4 ranks"):
        replayed(4, *ZERO2, "--sweep", EXAMPLE)


def test_a_step_without_collectives_is_no_replay() -> None:
    """fully_shard on one rank has nobody to gather from."""
    with pytest.raises(UsageError, match="no collectives"):
        replayed(1, "--model", "tiny", "--strategy", "fsdp")


def test_no_long_option_begins_one_of_torchrun_s() -> None:
    """torchrun would take it for its own, and stop before the replay starts."""
    from torch.distributed.run import get_args_parser

    theirs = {name for action in get_args_parser()._actions for name in action.option_strings if name[:2] == "--"}
    ours = {name for action in command_line("p", TORCHRUN)._actions for name in action.option_strings}
    assert [(one, other) for one in ours for other in theirs if one[:2] == "--" and other.startswith(one)] == [
        ("--help", "--help")
    ]


def test_only_one_step_is_replayed() -> None:
    with pytest.raises(UsageError, match="a replay is of one step"):
        parse(("--model", "tiny", "--strategy", "dp,zero2"))


def test_a_mesh_runs_in_its_own_groups() -> None:
    """HSDP on 4 ranks: shards of neighbours, replicas two apart, at the same time."""
    words = ("--model", "tiny", "--strategy", "fsdp", "--variant", "hsdp", "--set", "mesh=2", "-n", "1")
    _, sessions = replayed(4, *words)
    assert {backend.groups for backend in sessions[0].backends} >= {((0, 1), (2, 3)), ((0, 2), (1, 3))}


@pytest.mark.parametrize(
    ("group", "ranks"),
    [
        (Group("world", 4), ((0, 1, 2, 3),)),
        (Group("shard", 2), ((0, 1), (2, 3))),
        (Group("replicate", 2, 2), ((0, 2), (1, 3))),
    ],
)
def test_groups_hold_every_rank_once(group: Group, ranks: tuple[tuple[int, ...], ...]) -> None:
    assert ranks_of(group, 4) == ranks


def test_the_document_has_predicted_and_measured(zero2: Replay) -> None:
    found: dict[str, Any] = replay_document(zero2)["replay"]
    assert {"predicted_seconds", "measured_seconds", "error", "collectives", "schedule", "calls"} <= set(found)


def test_the_table_has_a_row_a_collective_and_a_total(zero2: Replay) -> None:
    shown = draw_replay(zero2)
    assert [line.split()[0] for line in shown.splitlines() if line.strip()][-4:] == [
        "backward", "step", "step", "total",
    ]  # fmt: skip
