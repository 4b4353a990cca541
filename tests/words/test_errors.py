"""The exception tree: four parts, exit codes, and the way from one rank to the others."""

import pickle

import pytest

from commbench.errors import CommbenchError, LaunchError, MeasuringError, SweepFileError, UsageError


@pytest.mark.parametrize("kind", [CommbenchError, UsageError, LaunchError, SweepFileError, MeasuringError])
def test_an_error_travels_between_ranks(kind: type[CommbenchError]) -> None:
    """Rank 0 opens the file; what it finds is raised by every rank, so it must survive pickle."""
    error = kind("wrong", expected="this", found="that", fix="do")
    error.alone = True
    back = pickle.loads(pickle.dumps(error))
    assert (kind, str(error), True) == (type(back), str(back), back.alone)


def test_an_error_is_told_in_four_lines() -> None:
    """What was wrong, expected and found, and what to do."""
    lines = str(UsageError("wrong", expected="this", found="that", fix="do")).splitlines()
    assert lines == ["wrong", "  expected: this", "  found:    that", "  to do:    do"]
