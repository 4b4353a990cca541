"""Which ranks run a collective together: all of them, or disjoint groups at once (as NCCL_TESTS_SPLIT)."""

import re

from commbench.errors import UsageError

_SPLIT = re.compile(r"\s*(?:(DIV|MOD)\s*)?(\d+)\s*", re.IGNORECASE)


def groups_of(text: str | None, world_size: int) -> tuple[tuple[int, ...], ...]:
    """Cut ranks 0 … world_size - 1 into groups.

    Args:
        text: `8` for 8 groups of neighbouring ranks, `DIV 8` for groups of 8 neighbouring ranks, `MOD 8` for 8 groups
            of every 8th rank; None for one group of all.

    Raises:
        UsageError: unreadable, or the groups would not be of equal size.
    """
    ranks = tuple(range(world_size))
    if text is None:
        return (ranks,)
    match = _SPLIT.fullmatch(text)
    number = int(match[2]) if match else 0
    if not match or number < 1 or world_size % number:
        raise UsageError(
            "the ranks cannot be cut into these groups",
            expected=f"N, `DIV n` or `MOD n` with a number that divides {world_size} ranks",
            found=repr(text),
            fix="--groups 2 cuts the ranks into two groups of neighbours",
        )
    kind = (match[1] or "").upper()
    if kind == "MOD":
        return tuple(ranks[first::number] for first in range(number))
    size = number if kind == "DIV" else world_size // number
    return tuple(ranks[first : first + size] for first in range(0, world_size, size))
