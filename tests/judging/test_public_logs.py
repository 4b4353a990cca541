"""Public logs with wrong values, one rank, cut tables or foreign footers are never accepted, however low the limit."""

import msgspec
import pytest

from commbench.importing.foreign import NOTHING_STATED
from commbench.importing.imported import Imported
from commbench.importing.reading import read_content
from commbench.judging.acceptance import accept
from commbench.judging.limits import Limits, parse_limits
from commbench.sweepfile.reader import Sweep, parse_sweeps
from tests.importing.logs import FOLDER

WRONG = ("031", "038")
ONE_RANK = ("017", "033")
CUT = ("043", "046", "048", "055", "073", "098")
FOREIGN_FOOTER = ("010", "040", "044", "050")
UNCHECKED = ("002", "042", "061", "064", "065", "067", "069", "071", "083", "086")
MIXED = ("041",)
NEVER = (*WRONG, *ONE_RANK, *CUT, *FOREIGN_FOOTER, *UNCHECKED, *MIXED)


def sweeps_of(number: str) -> tuple[Sweep, ...]:
    (path,) = FOLDER.glob(f"{number}-*")
    imported = Imported.of([read_content(path.name, path.read_bytes(), NOTHING_STATED)], NOTHING_STATED, None)
    encode = msgspec.json.Encoder().encode
    lines = b"".join(encode(record) + b"\n" for one in imported.runs for record in one.records())
    return parse_sweeps(lines) if lines else ()


def lenient(sweeps: tuple[Sweep, ...]) -> Limits:
    """Limits that fit the log's own machine, and that anything reaches."""
    header, first = sweeps[0].header, sweeps[0].measurements[0]
    ranks = max(2, header.world_size or 2)
    per_host = list(header.ranks_per_host) if header.ranks_per_host and sum(header.ranks_per_host) == ranks else [ranks]
    sizes = [m.message_bytes for one in sweeps for m in one.measurements]
    return parse_limits(
        f"""
        format = 1
        name = "anything"
        [cluster]
        world_size = {ranks}
        ranks_per_host = {per_host}
        device = "*"
        path = "any"
        mode = "{first.mode or "pipelined"}"
        [[limit]]
        collective = "{first.collective or "all_reduce"}"
        quantity = "time"
        size = "{max(sizes)}"
        at_most = "1000000 s"
        reason = "anything is faster"
        """.encode()
    )


@pytest.mark.parametrize("number", NEVER)
def test_a_bad_log_is_never_accepted(number: str) -> None:
    sweeps = sweeps_of(number)
    assert accept(lenient(sweeps), sweeps).verdict != "pass"


@pytest.mark.parametrize("number", WRONG)
def test_wrong_values_fail(number: str) -> None:
    sweeps = sweeps_of(number)
    assert accept(lenient(sweeps), sweeps).verdict == "fail"


@pytest.mark.parametrize("number", ["058", "059", "095"])
def test_a_whole_log_that_states_its_machine_passes(number: str) -> None:
    """The same limits accept what nothing is wrong with: otherwise the tests above would say nothing."""
    sweeps = sweeps_of(number)
    assert accept(lenient(sweeps), sweeps).verdict == "pass"


def test_what_a_log_does_not_state_is_named() -> None:
    """16 ranks, and nowhere how many on a host."""
    sweeps = sweeps_of("005")
    result = accept(lenient(sweeps), sweeps)
    assert (result.verdict, "does not state" in result.checks[0].reason) == ("not_verified", True)
