"""From nodes to ranks: which ranks meet in each round, at the first look and when suspects are tested again."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from commbench.judging.findings import Verdict
from commbench.judging.pair_times import PathKind
from commbench.pairing.rounds import Pair, Round, retests, screening

RETEST_ROUNDS = 4  # more than the three tests that naming takes


@dataclass(frozen=True)
class Step:
    """One round of ranks that meet at once."""

    path: PathKind
    pairs: tuple[Pair, ...]
    retest: bool = False


class Places:
    """Where ranks are: nodes in the order of their first ranks, and the ranks of each."""

    def __init__(self, hosts: Sequence[str]) -> None:
        of: dict[str, list[int]] = defaultdict(list)
        for rank, host in enumerate(hosts):
            of[host].append(rank)
        self.hosts = tuple(hosts)
        self.nodes = tuple(of)
        self.ranks = tuple(tuple(ranks) for ranks in of.values())
        self.node_of = {rank: node for node, ranks in enumerate(self.ranks) for rank in ranks}

    def between(self, pairs: Round) -> tuple[Pair, ...]:
        """Ranks of paired nodes, each with the one in its place on the other node: as rails join them."""
        return tuple(pair for a, b in pairs for pair in zip(self.ranks[a], self.ranks[b], strict=False))

    def local(self, node: int, pairs: Round) -> tuple[Pair, ...]:
        """Ranks of paired places of one node."""
        return tuple((self.ranks[node][a], self.ranks[node][b]) for a, b in pairs)


def first_look(places: Places, paths: Sequence[str], *, all_pairs: bool) -> tuple[Step, ...]:
    """The rounds inside all nodes at once, then those between them."""
    steps = []
    if "inside" in paths:
        rounds = [screening(len(ranks), all_pairs=all_pairs) for ranks in places.ranks]
        for number in range(max(map(len, rounds))):
            pairs = [
                pair for node, own in enumerate(rounds) if number < len(own) for pair in places.local(node, own[number])
            ]
            steps.append(Step("inside", tuple(pairs)))
    if "between" in paths:
        steps += [Step("between", places.between(each)) for each in screening(len(places.nodes), all_pairs=all_pairs)]
    return tuple(steps)


def second_look(places: Places, verdict: Verdict, paths: Sequence[str], cycle: int) -> tuple[Step, ...]:
    """Rounds that test again what is not decided; none when everything is."""
    steps: list[Step] = []
    slow = {
        rank
        for each in verdict.culprits
        if each.fault == "slow" and each.kind in ("node", "rank")
        for rank in each.ranks
    }
    for path in ("inside", "between"):
        suspects, links = verdict.suspects.get(path, ()), verdict.links.get(path, ())
        if path in paths and (suspects or links or verdict.undecided.get(path)):
            again = _inside if path == "inside" else _between
            steps += again(places, set(suspects), links, slow, cycle * RETEST_ROUNDS)
    return tuple(step for step in steps if step.pairs)


def _between(places: Places, suspects: set[int], links: Sequence[Pair], slow: set[int], begin: int) -> list[Step]:
    nodes = {places.node_of[rank] for rank in suspects}
    decided = {places.node_of[rank] for rank in slow} - nodes
    good = [node for node in range(len(places.nodes)) if node not in nodes | decided]
    ends = sorted({(places.node_of[a], places.node_of[b]) for a, b in links})
    rounds = retests(sorted(nodes), ends, good, rounds=RETEST_ROUNDS, begin=begin)
    return [Step("between", places.between(each), retest=True) for each in rounds]


def _inside(places: Places, suspects: set[int], links: Sequence[Pair], slow: set[int], begin: int) -> list[Step]:
    """All nodes run: those without suspects are what the others are compared with."""
    of_node = []
    for ranks in places.ranks:
        place = {rank: number for number, rank in enumerate(ranks)}
        bad = [place[rank] for rank in ranks if rank in suspects]
        good = [place[rank] for rank in ranks if rank not in suspects | slow]
        own = [(place[a], place[b]) for a, b in links if a in place]
        of_node.append(retests(bad, own, good, rounds=RETEST_ROUNDS, begin=begin))
    of_round = zip(*of_node, strict=True)
    return [
        Step("inside", tuple(pair for node, own in enumerate(each) for pair in places.local(node, own)), retest=True)
        for each in of_round
    ]
