"""Whatever happens to a sweep file, its reader gets sweeps or a SweepFileError: never a traceback, never a hang."""

import random
from collections import Counter
from pathlib import Path

import pytest

from commbench.errors import SweepFileError
from commbench.showing import show
from commbench.showing.formats import FORMATS
from commbench.sweepfile.reader import Sweep, parse_sweeps

from .building import every_kind
from .mutating import mutated

MUTATIONS = 10_000
SHOWN = 1_500
ACCEPTED, UNPRINTABLE = "accepted", "an error with an empty part or characters that a terminal obeys"


def outcome(content: bytes) -> str:
    """What the reader made of it: accepted, or the first words of its error, which is whole and safe to print."""
    try:
        assert all(isinstance(sweep, Sweep) for sweep in parse_sweeps(content, "f.jsonl"))
    except SweepFileError as error:
        parts = (error.wrong, error.expected, error.found, error.fix)
        return error.wrong.partition(" at line")[0] if all(p and p.isprintable() for p in parts) else UNPRINTABLE
    return ACCEPTED


@pytest.mark.timeout(120)
def test_ten_thousand_damaged_files_end_in_sweeps_or_a_sweep_file_error() -> None:
    """Any other exception fails with the number of the mutation, which repeats it."""
    whole, outcomes = every_kind(), Counter[str]()
    for number in range(MUTATIONS):
        content = mutated(whole, random.Random(number))
        try:
            outcomes[outcome(content)] += 1
        except Exception as error:
            pytest.fail(f"mutation {number}: {type(error).__name__}: {error}\n{content!r}")
    assert UNPRINTABLE not in outcomes
    # The damage is worth something only if some of it is survived, most is found, and in different ways.
    assert 0.05 < outcomes[ACCEPTED] / MUTATIONS < 0.5, outcomes
    assert len(outcomes) >= 4, outcomes


@pytest.mark.timeout(120)
def test_damaged_files_can_be_shown_or_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`commbench show` in every format: a result (0, or 1 for wrong data), or the reader's error; no warning either."""
    whole, shown = every_kind(), 0
    for number in range(SHOWN):
        path = tmp_path / f"{number}.jsonl"
        path.write_bytes(mutated(whole, random.Random(-1 - number)))
        try:
            assert show.main([str(path), "--format", FORMATS[number % len(FORMATS)]]) in (0, 1)
            shown += 1
        except SweepFileError:
            pass
        except Exception as error:
            pytest.fail(f"mutation {-1 - number}: {type(error).__name__}: {error}\n{path.read_bytes()!r}")
        capsys.readouterr()
    assert shown > SHOWN / 20
