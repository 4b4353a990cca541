"""Pairs of nodes whose times follow a law: who is slow or late is known, the schedule is the real one."""

from collections.abc import Mapping, Sequence

import numpy as np

from commbench.judging.culprits import find_culprits
from commbench.judging.findings import Verdict
from commbench.judging.pair_times import PairTimes
from commbench.pairing.schedule import Places, Step, first_look, second_look

TOLERANCE = 0.03
CALL, SMALL = 35e-3, 0.3e-3  # seconds


def verdict_on(
    hosts: Sequence[str],
    *,
    slow: Mapping[int, float] | None = None,
    inside: Mapping[int, float] | None = None,
    links: Mapping[tuple[int, int], float] | None = None,
    late: Mapping[int, float] | None = None,
    wrong: Sequence[int] = (),
    sigma: float = 0.005,
    glitches: float = 0.0,
    seed: int = 0,
    cycles: int = 3,
    all_pairs: bool = False,
) -> Verdict:
    """A whole run.

    Args:
        slow, inside: factors of ranks' times, between nodes and inside them.
        links: factors of pairs of ranks, on any path.
        late: seconds that ranks come late.
        glitches: share of the tests that take up to half as long again.
        wrong: ranks that get wrong elements, and their partners with them.
    """
    random = np.random.default_rng(seed)
    places = Places(hosts)

    def tests(steps: Sequence[Step]) -> list[PairTimes]:
        return [one(step, a, b) for step in steps for a, b in step.pairs]

    def one(step: Step, a: int, b: int) -> PairTimes:
        factors = (slow if step.path == "between" else inside) or {}
        link = (links or {}).get((min(a, b), max(a, b)), 1.0)
        call = CALL * max(factors.get(a, 1.0), factors.get(b, 1.0), link) * float(np.exp(random.normal(0.0, sigma)))
        small = SMALL * float(np.exp(random.normal(0.0, 0.05)))
        call *= 1.0 + (random.random() < glitches) * random.random() / 2.0
        waits = [(late or {}).get(b, 0.0), (late or {}).get(a, 0.0)]  # who is late makes the other one wait
        bad = (5, 5) if {a, b} & set(wrong) else (0, 0)
        return PairTimes(step.path, (a, b), ((call + small + waits[0],), (call + small + waits[1],)),
                         ((small + waits[0],), (small + waits[1],)), bad, step.retest)  # fmt: skip

    found = tests(first_look(places, ("inside", "between"), all_pairs=all_pairs))
    verdict = find_culprits(found, hosts, TOLERANCE)
    for cycle in range(cycles):
        again = second_look(places, verdict, ("inside", "between"), cycle)
        if not again:
            break
        found += tests(again)
        verdict = find_culprits(found, hosts, TOLERANCE)
    return verdict
