"""How DeepSpeed's ZeRO stages 1 and 2 cut gradients: into buckets as they arrive, and by the rank that owns them.

Copied from DeepSpeed 0.19.6, runtime/zero/stage_1_and_2.py (reduce_independent_p_g_buckets_and_remove_grads,
average_tensor, allreduce_and_scatter, allreduce_no_retain). Sizes are elements.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from commbench.training.shapes import Parameter


@dataclass(frozen=True)
class Bucket:
    """Gradients that are reduced together, in order of arrival.

    Attributes:
        parameters: whose gradients they are.
        flushed_by: the parameter whose gradient no longer fitted; None where the end of the pass flushed it.
    """

    parameters: tuple[Parameter, ...]
    flushed_by: Parameter | None

    @property
    def elements(self) -> int:
        """Gradient elements in the bucket."""
        return sum(parameter.elements for parameter in self.parameters)


def buckets(gradients: Iterable[Parameter], reduce_bucket_size: int) -> Iterator[Bucket]:
    """Fill buckets in order of arrival; a gradient that would exceed the size first flushes what is there.

    A gradient larger than the size is alone in its bucket.
    """
    held: list[Parameter] = []
    elements = 0
    for parameter in gradients:
        if held and elements + parameter.elements > reduce_bucket_size:
            yield Bucket(tuple(held), parameter)
            held, elements = [], 0
        held.append(parameter)
        elements += parameter.elements
    if held:
        yield Bucket(tuple(held), None)


@dataclass(frozen=True)
class Partitions:
    """Who owns which part of the flat parameters.

    Attributes:
        starts: where each parameter begins in the flat buffer, by name.
        size: elements of one rank's partition.
        count: ranks.
    """

    starts: dict[str, int]
    size: int
    count: int

    def slices(self, parameters: Sequence[Parameter]) -> list[tuple[int, int]]:
        """(owner, elements) of the pieces of these gradients, in order; neighbours of one owner are one piece."""
        pieces: list[tuple[int, int]] = []
        for parameter in parameters:
            start = self.starts[parameter.name]
            end = start + parameter.elements
            for owner in range(start // self.size, (end - 1) // self.size + 1):
                length = min(end, (owner + 1) * self.size) - max(start, owner * self.size)
                if pieces and pieces[-1][0] == owner:
                    pieces[-1] = (owner, pieces[-1][1] + length)
                else:
                    pieces.append((owner, length))
        return pieces


ALIGNMENT = 2  # nccl_start_alignment_factor: elements that each rank's partition is a multiple of


def partitions(parameters: Sequence[Parameter], ranks: int, round_robin: bool) -> Partitions:
    """Cut the flat buffer of all parameters into one equal partition a rank, padded to `ALIGNMENT` elements each.

    Args:
        parameters: in order of registration.
        ranks: how many partitions.
        round_robin: order parameters by registration place modulo ranks first (round_robin_gradients).
    """
    order = [p for rank in range(ranks) for p in parameters[rank::ranks]] if round_robin else parameters
    starts: dict[str, int] = {}
    end = 0
    for parameter in order:
        starts[parameter.name] = end
        end += parameter.elements
    return Partitions(starts, -(-end // (ALIGNMENT * ranks)) * ALIGNMENT, ranks)


def messages(pieces: Iterable[int], limit: int) -> Iterator[int]:
    """Join pieces into messages; a message goes out once it has more than `limit` elements, the rest at the end."""
    held = 0
    for piece in pieces:
        held += piece
        if held > limit:
            yield held
            held = 0
    if held:
        yield held
