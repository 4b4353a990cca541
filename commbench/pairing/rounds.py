"""Who meets whom: rounds of disjoint pairs, as in a tournament where everybody plays in every round.

Rounds are numbered lists of pairs of anything that can be paired (nodes, or ranks of a node).
"""

from collections.abc import Sequence
from math import ceil, log2

Pair = tuple[int, int]
Round = tuple[Pair, ...]

FEWEST_ROUNDS = 6  # tests that each member has at least: a median of fewer is moved by two disturbed ones
FEWEST_TESTS = 12  # in all: of fewer nobody knows how much healthy ones differ
_GOLDEN = 0.6180339887  # steps of this share of a circle leave no part of it empty for long


def tournament(members: int) -> tuple[Round, ...]:
    """All pairs in the fewest rounds: members - 1 of them, or as many as members when one must sit out (odd)."""
    return tuple(_round(members, step) for step in range(_rounds(members)))


def _rounds(members: int) -> int:
    return members + members % 2 - 1


def _round(members: int, step: int) -> Round:
    """One round of a tournament by the circle method: member 0 stays, the others walk around the table."""
    seats = members + members % 2
    around = [0, *((place + step) % (seats - 1) + 1 for place in range(seats - 1))]
    pairs = zip(around[: seats // 2], reversed(around[seats // 2 :]), strict=True)
    return tuple(sorted((min(pair), max(pair)) for pair in pairs if max(pair) < members))


def rounds_needed(members: int) -> int:
    """Rounds of the quick test: twice log2(members), and at least 6 rounds and 12 tests."""
    if members < 2:
        return 0
    return max(FEWEST_ROUNDS, 2 * ceil(log2(members)), ceil(FEWEST_TESTS / (members // 2)))


def screening(members: int, *, all_pairs: bool = False) -> tuple[Round, ...]:
    """The rounds of the first look: O(log n) of a tournament's, spread over it, or all of them.

    Few members meet again: everybody has at least 6 tests.
    """
    if members < 2:
        return ()
    whole = _rounds(members)
    wanted = max(whole, rounds_needed(members)) if all_pairs else rounds_needed(members)
    if wanted >= whole:
        return tuple(_round(members, number % whole) for number in range(wanted))
    order = sorted(range(whole), key=lambda number: (number * _GOLDEN) % 1.0)
    return tuple(_round(members, step) for step in sorted(order[:wanted]))


def retests(
    suspects: Sequence[int], links: Sequence[Pair], good: Sequence[int], *, rounds: int, begin: int = 0
) -> tuple[Round, ...]:
    """Rounds in which suspects meet members that are known to be good, each time another one.

    Good members that no suspect needs meet each other: they are what a suspect is compared with, under the same load.
    Suspicious links are tested again as they are; their ends belong to no other pair in that round.

    Args:
        begin: shifts who meets whom, so that later rounds bring new partners.
    """
    found = []
    for number in range(begin, begin + rounds):
        taken: set[int] = set()
        pairs: list[Pair] = []
        for first, second in _turned(links, number):
            if not {first, second} & taken:
                pairs.append((first, second))
                taken |= {first, second}
        free = [member for member in _turned(good, number) if member not in taken]
        if number % 2 and len(free) - len(suspects) < 2 <= len(free):  # else nothing healthy is tested any more
            pairs.append((min(free[:2]), max(free[:2])))
            free = free[2:]
        for suspect in _turned(suspects, number):
            if suspect not in taken and free:
                partner = free.pop(0)
                pairs.append((min(suspect, partner), max(suspect, partner)))
                taken |= {suspect, partner}
        rest = [] if good else [suspect for suspect in suspects if suspect not in taken]  # nobody else is there
        pairs += [(min(pair), max(pair)) for pair in zip(rest[::2], rest[1::2], strict=False)]
        pairs += [(min(pair), max(pair)) for pair in zip(free[::2], free[1::2], strict=False)]
        found.append(tuple(sorted(pairs)))
    return tuple(found)


def _turned(items: Sequence, steps: int) -> list:  # type: ignore[type-arg]  # of any one type
    steps = steps % len(items) if items else 0
    return [*items[steps:], *items[:steps]]
