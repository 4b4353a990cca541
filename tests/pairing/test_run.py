"""A whole run on threads, on a fake library whose paths take what a law says; and the verb that shows it."""

import json
import re
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commbench.__main__ import main
from commbench.errors import UsageError
from commbench.measuring import sweeping
from commbench.measuring.launched import Launched
from commbench.measuring.seam import Backend, Case, World
from commbench.measuring.session import Buffers
from commbench.measuring.watch import Watch
from commbench.pairing.judged import outcome
from commbench.pairing.options import parse
from commbench.pairing.reading import Pairs
from commbench.pairing.run import measure_pairs
from tests.measuring.fake_session import FakeSession, identity_of
from tests.measuring.fakes import FakeBackend, FakeOperation, FakeWorld, on_ranks

SECONDS_PER_BYTE, LATENCY = 8e-9, 100e-6


class PathOperation(FakeOperation):
    """A call on a pair: as slow as the slower of both ends."""

    def time(self, calls: int) -> float:
        backend = self._backend
        assert isinstance(backend, PathBackend)
        group = next(group for group in backend.groups if backend.world.rank in group)
        factor = max(backend.slow.get(rank, 1.0) for rank in group)
        scatter = 1 + 0.004 * float(np.random.default_rng([*group, backend.serial]).random())
        return LATENCY + self.case.message_bytes * SECONDS_PER_BYTE * factor * scatter


class PathBackend(FakeBackend):
    """See `PathOperation`."""

    serial = 0
    slow: dict[int, float]

    def prepare(self, case: Case) -> FakeOperation:
        return PathOperation(self, case)


class PairsSession(FakeSession):
    """A fake session that regroups."""

    slow: dict[int, float]

    def regroup(self, world: World, groups: tuple[tuple[int, ...], ...]) -> World:
        assert sum(world.rank in group for group in groups) == 1
        return world

    def open(self, world: World, groups: tuple[tuple[int, ...], ...], buffers: Buffers) -> Backend:
        backend = PathBackend(world, self.law, groups)
        backend.slow, backend.serial = self.slow, len(self.backends)
        self.backends.append(backend)
        return backend


def run(ranks: int, *words: str, slow: dict[int, float] | None = None) -> tuple[Pairs, Any]:
    """Rank 0's result of a run on nodes of one rank each."""
    options = parse(words)

    def one(world: FakeWorld) -> Any:
        threading.current_thread().name = f"node{world.rank}"
        session = PairsSession(world)
        session.slow = slow or {}
        launched = Launched(session, identity_of(world), Watch(world.rank, world.size), {})
        return measure_pairs(options, launched, world, lambda _: None)

    results = on_ranks(ranks, one)
    assert results[1:] == [None] * (ranks - 1)
    found: tuple[Pairs, Any] = results[0]
    return found


@pytest.fixture(autouse=True)
def _a_host_for_each_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    class Socket:
        @staticmethod
        def gethostname() -> str:
            return threading.current_thread().name

    monkeypatch.setattr(sweeping, "socket", Socket)


def test_healthy_nodes_are_healthy_after_the_first_look() -> None:
    pairs, verdict = run(4)
    assert (outcome(pairs, verdict), any(test.retest for test in pairs.tests)) == ("healthy", False)


def test_a_slow_node_is_named_after_retests() -> None:
    _, verdict = run(5, slow={3: 2.0})
    (culprit,) = verdict.culprits
    assert (culprit.kind, culprit.hosts, culprit.fault) == ("node", ("node3",), "slow")
    assert culprit.slowness == pytest.approx(2.0, rel=0.02)


def test_the_reference_is_the_paths_rate_without_latency() -> None:
    _, verdict = run(4, "-b", "1M")
    assert verdict.reference["between"] == pytest.approx((1 << 20) * SECONDS_PER_BYTE, rel=0.01)


def test_all_pairs_tests_every_pair() -> None:
    pairs, _ = run(7, "--all-pairs")
    assert len({test.ranks for test in pairs.tests}) == 21


def test_every_record_has_the_samples_asked_for() -> None:
    pairs, _ = run(3, "-n", "7")
    assert {len(samples) for test in pairs.tests for samples in test.seconds} == {7}


def test_one_rank_has_no_pairs() -> None:
    with pytest.raises(UsageError, match="no pairs"):
        run(1)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    run(5, "-J", str(path), slow={3: 2.0})
    return path


def test_the_verb_shows_the_culprit(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pairs", str(file)]) == 1
    assert "culprit: node3 is slow to other nodes" in capsys.readouterr().out


def test_the_verb_says_it_to_programs(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Name, kind, fault, and a symmetric matrix of ranks."""
    main(["pairs", str(file), "--json"])
    document = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    (culprit,) = document["culprits"]
    assert (document["verdict"], culprit["kind"], culprit["fault"], culprit["name"]) == (
        "culprit", "node", "slow", "node3",
    )  # fmt: skip
    matrix = np.array(document["matrix"]["seconds"], dtype=float)
    assert np.array_equal(matrix, matrix.T, equal_nan=True)
    assert matrix[3, 0] == pytest.approx(2 * matrix[1, 0], rel=0.02)


def test_a_larger_tolerance_forgives(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pairs", str(file), "--tolerance", "1.0"]) == 3


def test_a_file_without_an_end_is_no_proof_of_health(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pairs.jsonl"
    run(4, "-J", str(path))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))
    assert main(["pairs", str(path)]) == 3


def test_a_node_that_died_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From what the watch wrote as the last record."""
    path = tmp_path / "pairs.jsonl"
    run(4, "-J", str(path))
    lines = path.read_bytes().splitlines(keepends=True)
    end = {"record": "end", "finished_at": "2026-11-29T00:00:00Z", "status": "aborted",
           "reason": "rank 2 on node2 (pid 7), in phase timed: no heartbeat for 3 s"}  # fmt: skip
    path.write_bytes(b"".join(lines[:-1]) + json.dumps(end).encode() + b"\n")
    assert main(["pairs", str(path)]) == 1
    assert "rank 2 on node2 is gone" in capsys.readouterr().out


def test_without_a_file_the_verb_says_how_to_start(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pairs"]) == 2
    assert "-m commbench.pairs" in capsys.readouterr().err


SENSELESS = [
    "-n 2",
    "-b 0",
    "-b x",
    "--tolerance nan",
    "--tolerance -1",
    "--tolerance 5",
    "-T x",
    "--only x",
    "-w -1",
    "x",
]


@pytest.mark.parametrize("words", SENSELESS)
def test_options_that_make_no_sense_are_refused(words: str) -> None:
    with pytest.raises(UsageError):
        parse(words.split())


@pytest.mark.parametrize(("text", "share"), [("3%", 0.03), ("0.05", 0.05), (" 10 %", 0.1), ("100%", 1.0)])
def test_a_tolerance_is_a_share(text: str, share: float) -> None:
    assert parse(("--tolerance", text)).tolerance == pytest.approx(share)


def test_pairs_that_are_slow_alike_miss_an_expected_rate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The rate stands in the file, and another one can be asked for later."""
    path = tmp_path / "pairs.jsonl"
    rate = 1.0 / SECONDS_PER_BYTE / 1e9
    run(4, "-J", str(path), "--expect", f"{rate * 2:.6f}GB/s")
    assert main(["pairs", str(path)]) == 1
    assert "culprit: every pair between nodes is slow" in capsys.readouterr().out
    assert main(["pairs", str(path), "--expect", f"{rate:.6f} GB/s"]) == 0


@pytest.mark.parametrize("rate", ["", "10", "0GB/s", "10 GiB/s", "nan GB/s", "-1GB/s"])
def test_an_expected_rate_needs_its_unit(rate: str) -> None:
    with pytest.raises(UsageError, match="rate"):
        parse([f"--expect={rate}"])


def test_a_rank_that_was_in_no_test_is_not_healthy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pairs.jsonl"
    run(4, "-J", str(path))
    lines = [line for line in path.read_text().splitlines() if not re.search(r'"ranks":\[(3,|[0-9],3\])', line)]
    path.write_text("\n".join(lines) + "\n")
    assert main(["pairs", str(path)]) == 3
    assert "node3 was in no test" in capsys.readouterr().out
