"""Which slices of a graph may be checked after a replay: a GPU is not needed to know whether memory is shared."""

import pytest
import torch

from commbench.measuring.torch_operation import _overlap

MEMORY = torch.zeros(128, dtype=torch.uint8)


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [((0, 64), (64, 128), False), ((64, 128), (0, 64), False), ((0, 64), (40, 104), True), ((0, 64), (0, 64), True)],
)
def test_slices_share_memory_where_their_bytes_meet(
    one: tuple[int, int], other: tuple[int, int], *, shared: bool
) -> None:
    """A lap that ends within a slice makes the next one overlap it without starting where it starts."""
    pair = [(MEMORY[slice(*part)], MEMORY[slice(*part)]) for part in (one, other)]
    assert _overlap(pair[0], pair[1]) is shared


def test_a_shard_counts_with_the_whole_it_lies_in() -> None:
    """An in-place all_gather sends a part of what it receives."""
    assert _overlap((MEMORY[32:64], MEMORY[:64]), (MEMORY[:8], MEMORY[:8]))
