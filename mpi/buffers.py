"""Buffers of MPI's calls that rotate past the last-level cache, filled with payload before they are timed.

They are numpy's arrays in the host's memory, or CuPy's on a GPU, which have the same methods. A slab is one allocation
that hands out consecutive slices and starts again at its end. With `rotate` a slab is at least twice the last-level
cache, so a slice is used again only after the cache has seen other data; with `same` every slice is the same one. The
slabs of torch's backend do the same with tensors.
"""

import mmap
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from commbench.measuring.payload import PERIOD, Payload, Table
from commbench.measuring.plan import buffer_bytes
from commbench.measuring.seam import Case
from commbench.measuring.session import Buffers

Array = npt.NDArray[Any]
Place = Callable[[Array], Array]  # a copy of a small array of the host's, in the memory where buffers are

ALIGNMENT = 512  # bytes between starts of slices; the first starts a page
POISON = 0xA5  # byte of memory that no call has written yet
CHUNK = 1 << 22  # elements looked at together when results are checked: bounds the extra memory


def pages(size: int) -> Array:
    """Bytes that start a page, as benchmarks in C allocate them: malloc would start 16 bytes into one."""
    return np.frombuffer(mmap.mmap(-1, size), dtype=np.uint8)


class Slab:
    """One allocation, handed out in slices. `memory` is its bytes."""

    def __init__(self, memory: Array, place: Place = np.asarray) -> None:
        self.memory, self._place = memory, place
        self.memory.fill(POISON)  # touches every page: the first touch must not be timed
        self.filled_with: tuple[Payload, int] | None = None
        self.position = 0
        self.laps = 0
        self._first = 0

    def fill(self, payload: Payload, rank: int, dtype: np.dtype[Any]) -> None:
        """Fill all of it with `rank`'s payload."""
        usable = self.memory.size // ALIGNMENT * ALIGNMENT
        fill(self.memory[:usable].view(dtype), payload.table(rank), place=self._place)
        self.filled_with = (payload, rank)
        self.laps = 0

    def begin(self) -> None:
        """Count laps from here."""
        self.laps, self._first = 0, self.position

    def take(self, elements: int, dtype: np.dtype[Any], *, rotate: bool) -> Array:
        """The next slice, as `elements` of `dtype`."""
        size = elements * dtype.itemsize
        if not rotate:
            self.position, self.laps = 0, self.laps + 1
            return self.memory[:size].view(dtype)
        if self.position + size > self.memory.size:
            self.position, self.laps = 0, self.laps + 1
        start = self.position
        self.position += _aligned(size)
        return self.memory[start : start + size].view(dtype)

    def restore(self, dtype: np.dtype[Any]) -> None:
        """Write the payload again over what slices since `begin` may have changed."""
        if self.filled_with is None:
            return
        payload, rank = self.filled_with
        if self.laps or self.position < self._first:
            self.fill(payload, rank, dtype)
            return
        first = self._first // dtype.itemsize
        part = self.memory[self._first : self.position].view(dtype)
        fill(part, payload.table(rank), start=first, place=self._place)


class Slabs:
    """The send and the receive slab of a backend, each allocated at its first use."""

    def __init__(self, buffers: Buffers, allocate: Callable[[int], Array] = pages, place: Place = np.asarray) -> None:
        self.rotate = buffers.rotate
        self._buffers, self._allocate, self._place = buffers, allocate, place

    def slices(self, case: Case, ranks: int) -> int:
        """How many slices for a case the send slab hands out before it starts again."""
        return max(1, self._buffers.send_bytes // _aligned(max(1, buffer_bytes(case, ranks)[0]))) if self.rotate else 1

    @cached_property
    def send(self) -> Slab:
        """Input buffers, and the only ones of calls in place."""
        return self._slab(self._buffers.send_bytes)

    @cached_property
    def receive(self) -> Slab:
        """Output buffers of calls out of place."""
        return self._slab(self._buffers.receive_bytes)

    def _slab(self, size: int) -> Slab:
        return Slab(self._allocate(max(_aligned(size), ALIGNMENT)), self._place)


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def fill(buffer: Array, table: Table, *, start: int = 0, place: Place = np.asarray) -> None:
    """Fill a 1-D array with a periodic table, whose element `start` comes first."""
    period = place(np.roll(table, -start).astype(buffer.dtype))
    whole = buffer.size // PERIOD
    buffer[: whole * PERIOD].reshape(whole, PERIOD)[:] = period
    buffer[whole * PERIOD :] = period[: buffer.size - whole * PERIOD]


def count_wrong(buffer: Array, table: Table, tolerance: float, *, place: Place = np.asarray) -> int:
    """Elements of a 1-D array that differ from a periodic table by more than `tolerance`, relative. NaN is wrong."""
    period = place(table.astype(buffer.dtype))
    wrong = 0
    rows = max(1, CHUNK // PERIOD) * PERIOD
    for first in range(0, buffer.size, rows):
        part = buffer[first : first + rows]
        whole = part.size // PERIOD
        wrong += _differing(part[: whole * PERIOD].reshape(whole, PERIOD), period, tolerance)
        rest = part[whole * PERIOD :]
        wrong += _differing(rest, period[: rest.size], tolerance)
    return wrong


def _differing(found: Array, expected: Array, tolerance: float) -> int:
    if tolerance == 0.0:
        return int(np.count_nonzero(found != expected))
    wide = expected.astype(np.float64)
    return int(np.count_nonzero(~(np.abs(found.astype(np.float64) - wide) <= tolerance * np.abs(wide))))
