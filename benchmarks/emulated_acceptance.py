"""Does `accept` keep its word on an emulated cluster? Limits from 5 launches judge healthy and slow ones.

    python -m benchmarks.emulated_acceptance FOLDER [--nodes 4] [--judge]

Needs root (network namespaces); every launch is a fresh torchrun over links of 1 Gbit/s. FOLDER keeps the sweeps: the
same line again runs what is missing, `--judge` only judges what is there.
"""

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.emulated_launches import Series, files_of, measure
from benchmarks.machine import machine_and_date
from commbench.arguments import Parser
from commbench.judging.acceptance import accept
from commbench.judging.baseline import make_baseline
from commbench.judging.judged import Outcome
from commbench.judging.limits import Limits, parse_limits
from commbench.sweepfile.reader import read_sweeps

FALSE_ALARMS, DETECT = 0.02, 0.05
SWEEP = ("all_reduce", "all_gather", "-b", "4M", "-e", "16M", "-f", "4", "--mode", "isolated", "--placement", "in",
         "--label", "lan", "-n", "20")  # fmt: skip
SERIES = {
    4: (
        Series("baseline", 5),
        Series("healthy", 20),
        Series("500mbit", 20, "500mbit"),
        Series("950mbit", 20, "950mbit"),
    ),
    8: (Series("baseline", 5), Series("healthy", 5)),
}
_OUTCOMES: tuple[Outcome, ...] = ("pass", "fail", "inconclusive", "not_verified")


def main(argv: Sequence[str] | None = None) -> int:
    """Measure what is missing, judge, print the counts. Returns 1 where a promise was broken."""
    parser = Parser("python -m benchmarks.emulated_acceptance", "Judge launches on an emulated cluster.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nodes", type=int, choices=sorted(SERIES), default=4)
    parser.add_argument("--judge", action="store_true", help="measure nothing")
    options = parser.parse_args(argv)
    series = SERIES[options.nodes]
    if not options.judge:
        for file in measure(options.folder, options.nodes, series, SWEEP):
            sys.stderr.write(f"{file}\n")
    limits = limits_from(options.folder, series[0])
    print(f"{machine_and_date()}; {options.nodes} nodes\n")
    print("| series | launches | pass | fail | inconclusive | not verified |\n|---|---|---|---|---|---|")
    counts = {one.name: judged(options.folder, one, limits) for one in series[1:]}
    for name, found in counts.items():
        print(f"| {name} | {sum(found.values())} | {' | '.join(str(found[outcome]) for outcome in _OUTCOMES)} |")
    healthy, slow = counts["healthy"], counts.get("500mbit", Counter())
    kept = not healthy["fail"] and healthy["pass"] >= 0.9 * sum(healthy.values()) and slow["fail"] == sum(slow.values())
    return 0 if kept and not counts.get("950mbit", Counter())["pass"] else 1


def limits_from(folder: Path, series: Series) -> Limits:
    """The limits that the launches of a series give."""
    sweeps = [sweep for file in files_of(folder, series) for sweep in read_sweeps(file)]
    made = make_baseline(sweeps, false_alarms=FALSE_ALARMS, detect=DETECT, every_size=False, name="emulated")
    print(made.summary)
    return parse_limits(made.text.encode())


def judged(folder: Path, series: Series, limits: Limits) -> Counter[Outcome]:
    """How many launches of a series got each verdict."""
    return Counter(accept(limits, read_sweeps(file)).verdict for file in files_of(folder, series))


if __name__ == "__main__":
    raise SystemExit(main())
