"""Whole sweeps on the fake library: one rank through `commbench.sweep.run`, or many ranks as threads through `Run`."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import pytest

from commbench import sweep
from commbench.measuring import launched
from commbench.measuring.options import Options, parse
from commbench.measuring.recorder import Recorder
from commbench.measuring.reporter import Silent
from commbench.measuring.sweeping import Run
from commbench.measuring.watch import Watch

from .fake_session import FakeSession, identity_of
from .fakes import FakeWorld, Law, on_ranks

LAUNCHED = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1", "TORCHELASTIC_RUN_ID": "x"}
QUICK = ["-n", "6", "-w", "1"]


class GivenUpError(Exception):
    """Stands for the end of the process: a rank gave up with (reason, exit code)."""


@dataclass
class Launch:
    """A single rank on a fake library. `sessions` holds what each run opened."""

    law: Law = field(default_factory=Law)
    free_bytes: int = 1 << 30
    sessions: list[FakeSession] = field(default_factory=list)

    def run(self, *words: str) -> int:
        """`-m commbench.sweep WORDS`; returns the exit code."""
        return sweep.run(self._open, [*words, *QUICK], "commbench.sweep")

    def _open(self, options: Options) -> FakeSession:
        self.sessions.append(FakeSession(law=self.law, free_bytes=self.free_bytes))
        return self.sessions[-1]

    @property
    def measured(self) -> list[tuple[str, int]]:
        """Collective and bytes of what the last run measured, in order."""
        return [(o.case.collective, o.case.message_bytes) for b in self.sessions[-1].backends for o in b.operations]


def launch(monkeypatch: pytest.MonkeyPatch) -> Launch:
    """A launch in this process: without the watch's threads, signals and os._exit."""

    def give_up(watch: Watch, reason: str, code: int = 2) -> NoReturn:
        raise GivenUpError(reason, code)

    for name, value in LAUNCHED.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(Watch, "start", lambda watch: None)
    monkeypatch.setattr(Watch, "give_up", give_up)
    monkeypatch.setattr(launched, "catch_signals", lambda: None)
    return Launch()


def run_ranks(ranks: int, *words: str, law: Law | None = None) -> tuple[Recorder, list[FakeSession]]:
    """A sweep on threads; returns rank 0's recorder and every rank's session."""
    options = parse(words if words[0] == "--resume" and len(words) == 2 else [*words, *QUICK])

    def run(world: FakeWorld) -> tuple[Recorder, FakeSession]:
        session = FakeSession(world, law)
        watch = Watch(world.rank, world.size)
        return Run(session, world, identity_of(world), options, watch, Silent(), {"cpu": "fake"}).measure(), session

    results = on_ranks(ranks, run)
    return results[0][0], [session for _, session in results]


def records(path: Path, kind: str | None = None) -> list[dict[str, Any]]:
    """The records of a file, as anybody's JSON reader sees them."""
    lines = [json.loads(line, parse_constant=pytest.fail) for line in path.read_text().splitlines()]
    return [line for line in lines if kind in (None, line["record"])]
