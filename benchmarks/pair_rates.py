"""How often does the decision about pairs find a bad node, and how often does it blame a good one? A simulation.

    python -m benchmarks.pair_rates [--runs 200] [--nodes 8,64,1024]

Times of pairs are drawn from a law: the reference, what the slower end adds, and a scatter that differs from test to
test; the same schedule, retests and decision as in a real run. `glitches` adds to 5 % of the tests a delay of up to
half their time, as other work on a host does. No clock is read, so other work on this machine changes nothing.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.machine import machine_and_date
from commbench.judging.culprits import find_culprits
from commbench.judging.findings import Verdict
from commbench.judging.pair_times import PairTimes
from commbench.pairing.options import TOLERANCE
from commbench.pairing.run import CYCLES
from commbench.pairing.schedule import Places, Step, first_look, second_look

REFERENCE = 1.3e-3  # seconds of 64 MiB at 50 GB/s
SMALL = 20e-6


@dataclass(frozen=True)
class Law:
    """How tests scatter: standard deviation of the log, and the share of tests that something disturbs."""

    name: str
    sigma: float
    glitches: float = 0.0


LAWS = (Law("0.5 %", 0.005), Law("1 %", 0.01), Law("2 %", 0.02), Law("1 % and glitches", 0.01, 0.05))
SLOWNESS = (1.0, 1.02, 1.03, 1 / 0.95, 1.1, 2.0)
# A run on 1,024 nodes takes seconds, so they have fewer rows of fewer runs.
LARGE, FEWEST_RUNS = 256, 20
LAWS_OF_LARGE, SLOWNESS_OF_LARGE = (LAWS[1], LAWS[3]), (1.0, 1 / 0.95, 1.1)


def main() -> int:
    """Print a row for each law, number of nodes and fault."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--nodes", default="8,64,1024")
    options = parser.parse_args()
    print(f"{machine_and_date()}; tolerance {100 * TOLERANCE:g} %\n")
    print("| nodes | scatter | bad node's time | runs | named | open | called healthy | a good one named | rounds |")
    print("|---|---|---|---|---|---|---|---|---|")
    for nodes in map(int, options.nodes.split(",")):
        large = nodes > LARGE
        runs = max(FEWEST_RUNS, options.runs // 10) if large else options.runs
        for law in LAWS_OF_LARGE if large else LAWS:
            for slowness in SLOWNESS_OF_LARGE if large else SLOWNESS:
                print(_row(nodes, law, slowness, runs), flush=True)
    return 0


def _row(nodes: int, law: Law, slowness: float, runs: int) -> str:
    counts: Counter[str] = Counter()
    rounds = 0
    for seed in range(runs):
        generator = np.random.default_rng([nodes, seed])
        bad = int(generator.integers(nodes))
        verdict, steps = simulate(nodes, {bad: slowness}, law, generator)
        rounds += steps
        blamed = {rank for each in verdict.culprits for rank in each.ranks}
        undecided = {rank for path in verdict.undecided for rank in verdict.undecided[path]}
        undecided |= {rank for each in verdict.open for rank in each.ranks}
        counts["blamed"] += bool(blamed - ({bad} if slowness > 1.0 else set()))
        counts["named" if bad in blamed else "open" if bad in undecided else "healthy"] += 1
    shares = [f"{100 * counts[key] / runs:.1f} %" for key in ("named", "open", "healthy", "blamed")]
    fault = "no bad node" if slowness == 1.0 else f"{slowness:.3f}"
    return f"| {nodes} | {law.name} | {fault} | {runs} | {' | '.join(shares)} | {rounds / runs:.0f} |"


def simulate(nodes: int, slow: dict[int, float], law: Law, generator: np.random.Generator) -> tuple[Verdict, int]:
    """One run on `nodes` nodes of a rank each: the verdict and how many rounds it took."""
    places = Places([f"node{node}" for node in range(nodes)])
    steps = first_look(places, ("between",), all_pairs=False)
    tests = list(_tests(steps, slow, law, generator))
    verdict = find_culprits(tests, places.hosts, TOLERANCE)
    taken = len(steps)
    for cycle in range(CYCLES):
        again = second_look(places, verdict, ("between",), cycle)
        if not again:
            break
        tests += _tests(again, slow, law, generator)
        taken += len(again)
        verdict = find_culprits(tests, places.hosts, TOLERANCE)
    return verdict, taken


def _tests(
    steps: Sequence[Step], slow: dict[int, float], law: Law, generator: np.random.Generator
) -> Iterator[PairTimes]:
    for step in steps:
        for a, b in step.pairs:
            seconds = REFERENCE * max(slow.get(a, 1.0), slow.get(b, 1.0)) * np.exp(generator.normal(0.0, law.sigma))
            if law.glitches and generator.random() < law.glitches:
                seconds *= 1.0 + generator.random() / 2.0
            small = SMALL * np.exp(generator.normal(0.0, 0.1))
            whole = float(seconds) + float(small)
            yield PairTimes(
                step.path, (a, b), ((whole,), (whole,)), ((float(small),), (float(small),)), None, step.retest
            )


if __name__ == "__main__":
    raise SystemExit(main())
