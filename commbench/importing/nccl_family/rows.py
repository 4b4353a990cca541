"""The rows of one table of the nccl-tests family, column by column: a log of 10 MB prints 200 000 times."""

from array import array
from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from commbench.importing.foreign import Row
from commbench.importing.nccl_family.kinds import Figures, Kind
from commbench.sweepfile.records import Placement

Floats = NDArray[np.float64]
MEAN_OVER_RANKS = "mean over ranks"
_GIGA = 1e9
UNCHECKED, _FAILED_UNCOUNTED = -1, -2
_PLACEMENTS: tuple[Placement | None, ...] = (None, "out", "in")
_AT_ONCE = 1000  # rows that are taken out of the arrays together
_LINE, _SIZE, _COUNT, _CHECK, _CYCLE, _KIND = range(6)
_SECONDS, _ALGBW, _BUSBW, _TIME_HALF, _ALGBW_HALF, _BUSBW_HALF = range(6)


class RowTable(Sequence[Row]):
    """Rows, made when they are asked for.

    Attributes:
        statistic: what a time of this table is.
        with_op: whether operators belong to the rows (a sendrecv prints one and has none).
    """

    def __init__(self) -> None:
        self.statistic = MEAN_OVER_RANKS
        self.with_op = True
        self.kinds: list[Kind] = []
        self.notes: dict[int, tuple[str, ...]] = {}
        self._kind_numbers: dict[Kind, int] = {}
        self._extra: dict[int, dict[str, Any]] = {}
        self._whole = array("q")  # of each row line, size, count, wrong, cycle, kind
        self._placements = bytearray()
        self._figures = array("d")  # of each row the six that Figures begins with
        self.times_are_wall = True
        self._algbw_range: tuple[Floats, Floats] | None = None  # until the rows change

    def kind_number(self, kind: Kind) -> int:
        """The number of a kind of row, a new one where it is new."""
        number = self._kind_numbers.get(kind)
        if number is None:
            number = self._kind_numbers[kind] = len(self.kinds)
            self.kinds.append(kind)
        return number

    def add(
        self, line: int, size: int, count: int, kind: int, cycle: int, placement: Placement | None, figures: Figures
    ) -> None:
        """Append one placement of a printed row."""
        self._whole.extend((line, size, count, _check(figures), cycle, kind))
        self._figures.extend(figures[:6])
        self._placements.append(_PLACEMENTS.index(placement))
        self._algbw_range = None
        if figures.reported:
            self._extra[len(self._placements) - 1] = figures.reported

    def add_pairs(self, whole: NDArray[np.int64], figures: Floats, placements: tuple[Placement | None, ...]) -> None:
        """Append both placements of n plain rows.

        Args:
            whole: (n, 2, 6), of each row and placement line, size, count, wrong values or UNCHECKED, cycle and kind.
            figures: (n, 2, 6), of each row and placement the six that `Figures` begins with.
        """
        self._whole.frombytes(whole.tobytes())
        self._figures.frombytes(figures.tobytes())
        self._algbw_range = None
        self._placements += bytes(map(_PLACEMENTS.index, placements)) * len(whole)

    def __len__(self) -> int:
        return len(self._placements)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        if isinstance(index, slice):
            places = range(*index.indices(len(self)))
            table = self if places.step == 1 else self.chosen(places)
            return list(table._made(places.start, places.stop) if table is self else table)
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index %= len(self)
        return next(self._made(index, index + 1))

    def __iter__(self) -> Iterator[Row]:
        return self._made(0, len(self))

    def _made(self, start: int, stop: int) -> Iterator[Row]:
        """The rows from one place to another."""
        common = [
            (
                kind.our_dtype,
                kind.our_op if self.with_op else None,
                kind.root if kind.root is not None and kind.root >= 0 else None,
            )
            for kind in self.kinds
        ]
        statistic, notes, extra = self.statistic, self.notes, self._extra
        for place, (whole, figures, placement) in enumerate(self._columns(start, stop), start):
            line, size, count, wrong, cycle, number = whole
            seconds, algbw, busbw, _, _, _ = figures
            dtype, op, root = common[number]
            reported: dict[str, Any] = {"count": count} if count >= 0 else {}
            if algbw == algbw:  # nan is what was not printed
                reported["algbw"] = algbw
            if busbw == busbw:
                reported["busbw"] = busbw
            if place in extra:
                reported.update(extra[place])
            yield Row(
                line=line,
                message_bytes=size,
                seconds=seconds,
                placement=_PLACEMENTS[placement],
                dtype=dtype,
                op=op,
                root=root,
                correct=None if wrong == UNCHECKED else wrong == 0,
                wrong=wrong if wrong >= 0 else None,
                statistic=statistic,
                reported=reported,
                notes=notes.get(place, ()),
                cycle=cycle,
            )

    def _columns(self, start: int, stop: int) -> Iterator[tuple[tuple[int, ...], tuple[float, ...], int]]:
        """What is kept of each row: its whole numbers, its figures and its placement."""
        for first in range(start, stop, _AT_ONCE):
            end = min(first + _AT_ONCE, stop)
            whole, figures = iter(self._whole[6 * first : 6 * end]), iter(self._figures[6 * first : 6 * end])
            yield from zip(
                zip(*[whole] * 6, strict=True),
                zip(*[figures] * 6, strict=True),
                self._placements[first:end],
                strict=True,
            )

    def chosen(self, indices: Sequence[int], cycles: Sequence[int] | None = None) -> "RowTable":
        """A table of some of the rows, with other cycle numbers where they are given."""
        table = RowTable()
        table.statistic, table.with_op = self.statistic, self.with_op
        table.kinds, table._kind_numbers = list(self.kinds), dict(self._kind_numbers)
        for place in indices:
            table._whole.extend(self._whole[6 * place : 6 * place + 6])
            table._figures.extend(self._figures[6 * place : 6 * place + 6])
        for place, cycle in enumerate(cycles or ()):
            table._whole[6 * place + _CYCLE] = cycle
        table._placements = bytearray(self._placements[i] for i in indices)
        table._extra = {new: self._extra[old] for new, old in enumerate(indices) if old in self._extra}
        table.notes = {new: self.notes[old] for new, old in enumerate(indices) if old in self.notes}
        return table

    def note(self, index: int, words: str) -> None:
        """Say something about one row."""
        self.notes[index] = (*self.notes.get(index, ()), words)

    @property
    def lines(self) -> Sequence[int]:
        """Where each row stands; made anew at each asking, as all columns are."""
        return self._whole[_LINE::6]

    @property
    def sizes(self) -> Sequence[int]:
        """The size of each row (bytes)."""
        return self._whole[_SIZE::6]

    @property
    def counts(self) -> Sequence[int]:
        """The elements of each row as printed, -1 where none is."""
        return self._whole[_COUNT::6]

    @property
    def kind_numbers(self) -> Sequence[int]:
        """The kind of each row."""
        return self._whole[_KIND::6]

    @property
    def placements(self) -> bytes:
        """0 unknown, 1 out of place, 2 in place."""
        return bytes(self._placements)

    def keys(self) -> Iterator[tuple[int, int, int]]:
        """Size, kind and cycle of each placement: two of the same are one printed row."""
        return zip(self._whole[_SIZE::6], self._whole[_KIND::6], self._whole[_CYCLE::6], strict=True)

    @property
    def used_kinds(self) -> list[Kind]:
        """The kinds of its rows, in the order in which they were first seen."""
        used = set(self._whole[_KIND::6])
        return [kind for number, kind in enumerate(self.kinds) if number in used]

    def checked(self, placement: Placement | None) -> bool:
        """Whether any row of a placement was checked."""
        code = 0 if placement is None else 1 if placement == "out" else 2
        return any(w != UNCHECKED for w, p in zip(self._whole[_CHECK::6], self._placements, strict=True) if p == code)

    @property
    def wrong_rows(self) -> int:
        """Rows with wrong values."""
        return sum(1 for wrong in self._whole[_CHECK::6] if wrong not in (0, UNCHECKED))

    @property
    def has_magnitudes(self) -> bool:
        """Whether rows print the size of an error, so that somebody looked, whatever the verdict is."""
        return any(isinstance(extra.get("error"), float) for extra in self._extra.values())

    def scale_seconds(self, factor: float) -> None:
        """Multiply every time, where the unit turned out to be another."""
        self._scale((_SECONDS, _TIME_HALF), factor)

    def scale_bandwidths(self, factor: float) -> None:
        """Multiply both bandwidths, where their unit turned out to be another."""
        self._scale((_ALGBW, _BUSBW, _ALGBW_HALF, _BUSBW_HALF), factor)

    def _scale(self, columns: tuple[int, ...], factor: float) -> None:
        self._algbw_range = None
        for column in columns:
            self._figures[column::6] = array("d", (value * factor for value in self._figures[column::6]))

    def judge_errors(self, *, failed: bool, limit: float, limit_16: float) -> None:
        """Turn printed magnitudes of error into verdicts, as the tool's footer says.

        Args:
            failed: the footer counts failures: rows whose error is above a limit that no rounding reaches are wrong,
                and about the others nothing is known. Otherwise every row with an error printed is right.
            limit, limit_16: for dtypes of more than 16 bits, and of 16 or less.
        """
        for index, extra in self._extra.items():
            error = extra.get("error")
            if not isinstance(error, float) or self._whole[6 * index + _CHECK] != UNCHECKED:
                continue
            width = self.kinds[self._whole[6 * index + _KIND]].element_bytes
            if not failed:
                self._whole[6 * index + _CHECK] = 0
            elif error > (limit_16 if width is not None and width <= 2 else limit):
                self._whole[6 * index + _CHECK] = _FAILED_UNCOUNTED

    @property
    def algbw_range(self) -> tuple[Floats, Floats]:
        """The smallest and largest size / time (GB/s) of each row that its printed time allows.

        Where the printed time is not that of the bandwidths, it is what their own rounding allows.
        """
        if not self.times_are_wall:
            printed, half = self.column("algbw"), self.column("algbw_half")
            return printed - half, printed + half
        if self._algbw_range is None:
            seconds, half, size = self.column("seconds"), self.column("seconds_half"), self.column("size")
            with np.errstate(all="ignore"):
                self._algbw_range = size / (seconds + half) / _GIGA, size / np.maximum(seconds - half, 0) / _GIGA
        return self._algbw_range

    def column(self, name: str) -> Floats:
        """`seconds`, `algbw`, `busbw` and `..._half` of every row as one array; `size` and `count` too."""
        if name in ("size", "count"):
            whole = np.asarray(self._whole)
            return whole[(_SIZE if name == "size" else _COUNT) :: 6].astype(np.float64)
        order = ("seconds", "algbw", "busbw", "seconds_half", "algbw_half", "busbw_half")
        return np.asarray(self._figures)[order.index(name) :: 6].copy()


def _check(figures: Figures) -> int:
    """The wrong values of a row as one number: how many, unchecked, or wrong without a count."""
    if figures.wrong is not None:
        return figures.wrong if figures.wrong or figures.correct is not False else _FAILED_UNCOUNTED
    return UNCHECKED if figures.correct is None else 0 if figures.correct else _FAILED_UNCOUNTED
