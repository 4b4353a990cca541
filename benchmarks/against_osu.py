"""Our MPI figures beside OSU's on the same MPI library: `python -m benchmarks.against_osu --osu DIR [--omb-py FILE]`.

Two bound ranks, one buffer (`--buffers same`, as OSU does), float32, alternating launches: for each collective OSU,
commbench and OMB-Py take turns, because a shared machine has slow and fast spells and only neighbours in time can be
compared. Every other pair runs the other way round. With `--keep FILE` pairs are appended there, and the table is of
all that it holds: several short runs, where a machine is not quiet for long. Warm-up calls and calls are as many on
both sides. The table shows medians over pairs, each pair's ratio, and what
leaves the limits below; exit code 1 when anything does.

One statistic is the same on both sides: in each iteration the average over ranks, and the median of that (OSU's
`-z 50`). The other columns are what each program prints: OSU an average over iterations and ranks, commbench the median
of the slowest rank.
"""

import argparse
import statistics
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from benchmarks.machine import machine_and_date
from benchmarks.osu_programs import NAMES, RANKS, Ours, Theirs, commbench, omb_py, osu
from commbench.units import KIB, format_size

LARGE, LARGE_WITHIN = 64 * KIB, 0.05
SMALL, SMALL_DISTANCE = 1 * KIB, 1.3e-6

HEAD = """\
| collective | size | OSU, average (us) | slowest rank / OSU's average | same statistic: ratio | in each pair | \
less Python's call | ours - OSU (us) | OMB-Py - OSU (us) | Python's call (us) | limit |
|---|---|---|---|---|---|---|---|---|---|---|"""


@dataclass(frozen=True)
class Pair:
    """What neighbouring launches gave for one collective and size."""

    ours: Ours
    theirs: Theirs
    omb_py: float | None

    @property
    def printed(self) -> float:
        """What commbench prints over what OSU prints."""
        return self.ours.slowest / self.theirs.average

    @property
    def ratio(self) -> float:
        """The same statistic of both."""
        return self.ours.mean / self.theirs.median

    @property
    def net(self) -> float:
        """That ratio without what the sweep says Python adds to a call."""
        return (self.ours.mean - self.ours.python) / self.theirs.median

    @property
    def distance(self) -> float:
        """The same statistic, ours minus OSU's (s)."""
        return self.ours.mean - self.theirs.median

    @property
    def omb_distance(self) -> float:
        """OMB-Py's average minus OSU's (s); NaN where it does not run."""
        return float("nan") if self.omb_py is None else self.omb_py - self.theirs.average


class Point:
    """All pairs of one collective and size."""

    def __init__(self, size: int, pairs: list[Pair]) -> None:
        self.size, self.pairs = size, pairs

    def median(self, of: Callable[[Pair], float]) -> float:
        """Over pairs."""
        return statistics.median(map(of, self.pairs))

    @property
    def limit(self) -> str:
        """The limit and whether it holds; empty where none is set."""
        if self.size >= LARGE:
            ratio = self.median(lambda pair: pair.ratio)
            return _held(abs(ratio - 1.0) <= LARGE_WITHIN, f"within {LARGE_WITHIN:.0%}", f"{ratio - 1.0:+.1%}")
        if self.size <= SMALL:
            found, other = self.median(lambda pair: pair.distance), self.median(lambda pair: pair.omb_distance)
            allowed = min(SMALL_DISTANCE, SMALL_DISTANCE if other != other else other)
            return _held(found <= allowed, f"at most {allowed * 1e6:.2f} us", f"{found * 1e6:.2f} us")
        return ""

    def row(self, collective: str) -> str:
        """Of the table."""
        omb = self.median(lambda pair: pair.omb_distance) * 1e6
        cells = (
            collective,
            format_size(self.size),
            f"{self.median(lambda pair: pair.theirs.average) * 1e6:.2f}",
            f"{self.median(lambda pair: pair.printed):.3f}",
            f"{self.median(lambda pair: pair.ratio):.3f}",
            " ".join(f"{pair.ratio:.2f}" for pair in self.pairs),
            f"{self.median(lambda pair: pair.net):.3f}",
            f"{self.median(lambda pair: pair.distance) * 1e6:.2f}",
            "did not run" if omb != omb else f"{omb:.2f}",
            f"{self.median(lambda pair: pair.ours.python) * 1e6:.2f}",
            self.limit,
        )
        return f"| {' | '.join(cells)} |"


def _held(holds: bool, limit: str, found: str) -> str:
    return limit if holds else f"**{limit}: missed** ({found})"


def launched(
    collective: str, osu_folder: Path, omb_program: Path | None, *, ours_first: bool
) -> Iterator[tuple[int, Pair]]:
    """Neighbouring launches of the three programs; a pair for each size, sizes in order."""
    ours = commbench(collective) if ours_first else {}
    theirs = osu(osu_folder, collective)
    ours = ours or commbench(collective)
    python = omb_py(omb_program, collective) if omb_program else {}
    for size in sorted(ours.keys() & theirs.keys()):
        yield size, Pair(ours[size], theirs[size], python.get(size))


def main() -> int:
    """Run the pairs and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--osu", type=Path, required=True, help="folder with osu_allreduce …")
    parser.add_argument("--omb-py", type=Path, help="OMB-Py's run.py")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--keep", type=Path, help="file of pairs, which is added to")
    options = parser.parse_args()
    points: dict[tuple[str, int], list[Pair]] = defaultdict(list)
    for line in options.keep.read_bytes().splitlines() if options.keep and options.keep.exists() else []:
        collective, size, pair = msgspec.json.decode(line, type=tuple[str, int, Pair])
        points[collective, size].append(pair)
    for number in range(options.pairs):
        print(f"pair {number + 1} of {options.pairs}", file=sys.stderr, flush=True)
        for collective in NAMES:
            found = launched(collective, options.osu, options.omb_py, ours_first=number % 2 == 1)
            for size, pair in found:
                points[collective, size].append(pair)
                if options.keep:
                    with options.keep.open("ab") as file:
                        file.write(msgspec.json.encode((collective, size, pair)) + b"\n")
    print(f"{machine_and_date()}; {max(map(len, points.values()))} pairs of launches, {RANKS} ranks\n\n{HEAD}")
    missed = 0
    for (collective, size), pairs in sorted(points.items()):
        point = Point(size, pairs)
        missed += "missed" in point.limit
        print(point.row(collective))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
