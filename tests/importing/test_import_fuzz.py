"""Whatever bytes a log holds, an import ends with runs, rejects or both: never a traceback, never a hang."""

import random
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.importing.importing_once import outcome
from tests.importing.logs import FOLDER
from tests.importing.mutating import mutated

MUTATIONS = 900
CONTENTS = [path.read_bytes() for path in sorted(FOLDER.rglob("*.*")) if path.suffix in (".log", ".json", ".csv")]
_WORDS = st.sampled_from(
    [
        "#", "size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong", "error", "out-of-place", "8",
        "1024", "float", "sum", "none", "-1", "20.01", "0.05", "N/A", "nan", "1e+05", "2e-07", "timestamp", "i_min",
        "# nThread 1 nGpus 8 minBytes 8 maxBytes 64 step: 2(factor)", "# Out of bounds values : 0 OK",
        "# Avg bus bandwidth    : 1.5", "#  Rank  0 Group  0 Pid 1 on h device 0 [0x00] X", "[0] ", "0: ", "{", "}",
        "[",
        '"results"', '"nccl_version"', ":", ",", '"size"', "hostA:1:2 [0] NCCL INFO x", "\x1b[0m", "\r", "# OSU MPI",
        "Allreduce Latency Test", "COMMS-RES", "numCycle,", "0,AllReduce,8,", "ubx_bench all_reduce", "Benchmarking ",
    ]
)  # fmt: skip
_LINES = st.lists(st.lists(_WORDS, max_size=14).map(" ".join), max_size=14).map("\n".join)


@settings(max_examples=350, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.one_of(st.binary(max_size=300), st.text(max_size=300).map(str.encode), _LINES.map(str.encode)))
def test_any_bytes_end_in_a_verdict(content: bytes) -> None:
    """Random bytes, random text, and the words of all formats in any order."""
    outcome(content)


@pytest.mark.timeout(120)
def test_damaged_logs_end_in_a_verdict() -> None:
    """Any exception fails with the number of the mutation, which repeats it (benchmarks.import_fuzz runs more)."""
    outcomes = Counter[str]()
    for number in range(MUTATIONS):
        try:
            outcomes[outcome(mutated(CONTENTS, random.Random(number)))[:1]] += 1
        except Exception as error:
            pytest.fail(f"mutation {number}: {type(error).__name__}: {error}")
    # The damage is worth something only if some of it is survived whole, some with doubts, and some not at all.
    assert min(outcomes[code] / MUTATIONS for code in "013") > 0.05, outcomes
