"""Broken logs of other tools: whatever bytes stand in them, a reading comes back, and all that it holds is sound."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from commbench.importing.foreign import Stated
from commbench.importing.reading import read_content
from commbench.importing.sweeps import records, summary
from tests.importing.logs import FOLDER

LOGS = [path.read_bytes() for folder in (FOLDER, FOLDER / "invented") for path in sorted(folder.glob("*.*"))]
TOKENS = [
    *(b"0", b"-1", b"nan", b"inf", b"N/A", b"1e999", b"99999999999999999999", b"1,5", b"0.00", b"1" * 5000),
    *(b"", b"\x00", b"\xff\xfe", b"#", b"|", b"\\n", b'"', b"{", b"GB", b"x4", "\u0663".encode(), b"\r"),
    *(b"\x1b[31m", b"[1,0]<stdout>:", b"# OSU MPI Allgather Latency Test v7.4", b"# Benchmarking Allgather"),
]


def mutated(seed: int) -> bytes:
    """One log, or two, with lines lost, repeated, exchanged or cut, and words replaced."""
    chance = random.Random(seed)
    text = chance.choice(LOGS)
    if chance.random() < 0.2:
        text += chance.choice(LOGS)
    for _ in range(chance.randint(1, 6)):
        lines = text.split(b"\n")
        place = chance.randrange(len(lines))
        what = chance.randrange(7)
        if what == 0:
            del lines[place]
        elif what == 1:
            lines.insert(chance.randrange(len(lines)), lines[place])
        elif what == 2:
            other = chance.randrange(len(lines))
            lines[place], lines[other] = lines[other], lines[place]
        elif what == 3:
            lines[place] = lines[place][: chance.randrange(len(lines[place]) + 1)]
        elif what == 4:
            del lines[place:]
        else:
            words = lines[place].split(b" ")
            words[chance.randrange(len(words))] = chance.choice(TOKENS)
            lines[place] = b" ".join(words)
        text = b"\n".join(lines)
    return text


@settings(max_examples=600, deadline=None, derandomize=True)
@given(
    st.integers(0, 1 << 40),
    st.sampled_from([None, 1, 2, 8]),
    st.sampled_from([None, "all_reduce", "all_gather", "barrier"]),
)
def test_a_broken_log_gives_a_sound_reading(seed: int, world_size: int | None, collective: str | None) -> None:
    """No traceback; every row can be written into a sweep, and every reject has a reason and a line of the log."""
    content = mutated(seed)
    stated = Stated(world_size, collective)
    reading = read_content("log", content, stated).reading
    last = content.count(b"\n") + content.count(b"\r") + 1
    for run in reading.runs:
        summary(run)
        list(records(run, sweep="0" * 36, file="log", stated=stated, imported_at="2026-01-01T00:00:00Z"))
        assert all(row.seconds > 0 for row in run.rows if run.tool not in ("nccl-tests", "rccl-tests"))
        assert run.world_size is None or run.world_size > 0
    for reject in reading.rejects:
        assert reject.reason
        assert reject.line is None or 1 <= reject.line <= last
