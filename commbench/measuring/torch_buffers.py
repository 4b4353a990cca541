"""Buffers that rotate past the last-level cache, filled with payload before they are timed.

A slab is one allocation that hands out consecutive slices and starts again at its end. With `rotate` a slab is at
least twice the last-level cache, so a slice is used again only after the cache has seen other data; with `same`
every slice is the same one.
"""

from functools import cached_property

import torch

from commbench.measuring.payload import PERIOD, Payload, Table
from commbench.measuring.plan import buffer_bytes
from commbench.measuring.seam import Case
from commbench.measuring.session import Buffers

ALIGNMENT = 512  # bytes: what CUDA's allocator gives, so that a slice is as well aligned as a tensor of its own
POISON = 0xA5  # byte of memory that no call has written yet
CHUNK = 1 << 24  # elements looked at together when results are checked: bounds the extra memory


class Slab:
    """One allocation on a device, handed out in slices."""

    def __init__(self, size: int, device: torch.device) -> None:
        self.memory = torch.empty(size, dtype=torch.uint8, device=device)
        self.memory.fill_(POISON)  # touches every page: the first touch must not be timed
        self.filled_with: tuple[Payload, int] | None = None
        self.position = 0
        self.laps = 0
        self._first = 0

    def fill(self, payload: Payload, rank: int, dtype: torch.dtype) -> None:
        """Fill all of it with `rank`'s payload."""
        usable = self.memory.numel() // ALIGNMENT * ALIGNMENT
        fill(self.memory[:usable].view(dtype), payload.table(rank))
        self.filled_with = (payload, rank)
        self.laps = 0

    def begin(self) -> None:
        """Count laps from here."""
        self.laps, self._first = 0, self.position

    def take(self, elements: int, dtype: torch.dtype, *, rotate: bool) -> torch.Tensor:
        """The next slice, as `elements` of `dtype`."""
        size = elements * dtype.itemsize
        if not rotate:
            self.position, self.laps = 0, self.laps + 1
            return self.memory[:size].view(dtype)
        if self.position + size > self.memory.numel():
            self.position, self.laps = 0, self.laps + 1
        start = self.position
        self.position += _aligned(size)
        return self.memory[start : start + size].view(dtype)

    def restore(self, dtype: torch.dtype) -> None:
        """Write the payload again over what slices since `begin` may have changed."""
        if self.filled_with is None:
            return
        payload, rank = self.filled_with
        if self.laps or self.position < self._first:
            self.fill(payload, rank, dtype)
            return
        first = self._first // dtype.itemsize
        part = self.memory[self._first : self.position].view(dtype)
        fill(part, payload.table(rank), start=first)


class Slabs:
    """The send and the receive slab of a backend, each allocated at its first use."""

    def __init__(self, device: torch.device, buffers: Buffers) -> None:
        self.rotate = buffers.rotate
        self._device, self._buffers = device, buffers

    @classmethod
    def tiny(cls, device: torch.device, ranks: int) -> "Slabs":
        """Room for a few elements a rank, to find out whether a call is possible at all."""
        size = 4 * ALIGNMENT * max(8, ranks)
        return cls(device, Buffers(size, size, rotate=True))

    def slices(self, case: Case, ranks: int) -> int:
        """How many slices for a case the send slab hands out before it starts again."""
        return max(1, self._buffers.send_bytes // _aligned(max(1, buffer_bytes(case, ranks)[0]))) if self.rotate else 1

    @cached_property
    def send(self) -> Slab:
        """Input buffers, and the only ones of calls in place."""
        return Slab(_aligned(self._buffers.send_bytes), self._device)

    @cached_property
    def receive(self) -> Slab:
        """Output buffers of calls out of place."""
        return Slab(_aligned(self._buffers.receive_bytes), self._device)


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def fill(buffer: torch.Tensor, table: Table, *, start: int = 0) -> None:
    """Fill a 1-D tensor with a periodic table, whose element `start` comes first."""
    period = _period(buffer, table, start)
    whole = buffer.numel() // PERIOD
    if whole:
        buffer[: whole * PERIOD].view(whole, PERIOD).copy_(period)
    buffer[whole * PERIOD :].copy_(period[: buffer.numel() - whole * PERIOD])


def count_wrong(buffer: torch.Tensor, table: Table, tolerance: float) -> int:
    """Elements of a 1-D tensor that differ from a periodic table by more than `tolerance`, relative. NaN is wrong."""
    period = _period(buffer, table, 0)
    wrong = 0
    rows = max(1, CHUNK // PERIOD) * PERIOD
    for first in range(0, buffer.numel(), rows):
        part = buffer[first : first + rows]
        whole = part.numel() // PERIOD
        if whole:
            wrong += _differing(part[: whole * PERIOD].view(whole, PERIOD), period, tolerance)
        rest = part[whole * PERIOD :]
        wrong += _differing(rest, period[: rest.numel()], tolerance)
    return wrong


def _differing(found: torch.Tensor, expected: torch.Tensor, tolerance: float) -> int:
    if tolerance == 0.0:
        return int((found != expected).sum())
    wide = expected.double()
    return int((~((found.double() - wide).abs() <= tolerance * wide.abs())).sum())


def _period(buffer: torch.Tensor, table: Table, start: int) -> torch.Tensor:
    return torch.from_numpy(table).roll(-start).to(device=buffer.device, dtype=buffer.dtype)
