"""Fixtures of the roll call's tests."""

import subprocess
from collections.abc import Iterator

import pytest

from commbench.measuring import roll_call


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patience in tenths of a second."""
    monkeypatch.setattr(roll_call, "HEARTBEAT", 0.05)
    monkeypatch.setattr(roll_call, "SILENCE", 0.3)
    monkeypatch.setattr(roll_call, "STOPPED", 0.05)


@pytest.fixture
def neighbour() -> Iterator[subprocess.Popen[bytes]]:
    """A process on this host."""
    process = subprocess.Popen(["sleep", "60"])
    yield process
    process.kill()
    process.wait()
