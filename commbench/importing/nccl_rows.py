"""The rows of one table of the nccl-tests family, column by column: a log of 10 MB prints 200 000 times."""

from array import array
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from commbench.collectives import operator_named
from commbench.dtypes import ELEMENT_BYTES, dtype_named
from commbench.errors import UsageError
from commbench.importing.foreign import Row
from commbench.sweepfile.records import Placement

Floats = NDArray[np.float64]
MEAN_OVER_RANKS = "mean over ranks"
_UNCHECKED, _FAILED_UNCOUNTED = -1, -2
_PLACEMENTS: tuple[Placement | None, ...] = (None, "out", "in")
_SECONDS, _ALGBW, _BUSBW, _TIME_HALF, _ALGBW_HALF, _BUSBW_HALF = range(6)


class Kind(NamedTuple):
    """What rows have in common: dtype, operator and root as printed, None where there is none."""

    dtype: str | None
    op: str | None
    root: int | None

    @property
    def our_dtype(self) -> str | None:
        """Our name of the dtype; None for one that we do not know."""
        try:
            return dtype_named(self.dtype) if self.dtype else None
        except UsageError:
            return None

    @property
    def our_op(self) -> str | None:
        """Our name of the operator, or the tool's own for one that is the tool's own (mulsum)."""
        if self.op in (None, "none", "", "all"):
            return None
        try:
            return operator_named(str(self.op))
        except UsageError:
            return self.op

    @property
    def element_bytes(self) -> int | None:
        """Bytes of one element."""
        return ELEMENT_BYTES.get(self.our_dtype or "")


class Figures(NamedTuple):
    """One placement of one row: the time (s), the printed bandwidths (GB/s), and half of their last digits."""

    seconds: float
    algbw: float
    busbw: float
    seconds_half: float
    algbw_half: float
    busbw_half: float
    wrong: int | None
    correct: bool | None
    reported: dict[str, Any] | None


class RowTable(Sequence[Row]):
    """Rows, made when they are asked for.

    Attributes:
        statistic: what a time of this table is.
        with_op: whether operators belong to the rows (a sendrecv prints one and has none).
    """

    def __init__(self) -> None:
        self.statistic = MEAN_OVER_RANKS
        self.with_op = self.with_root = True
        self.kinds: list[Kind] = []
        self.notes: dict[int, tuple[str, ...]] = {}
        self._kind_numbers: dict[Kind, int] = {}
        self._extra: dict[int, dict[str, Any]] = {}
        self._whole = tuple(array("q") for _ in range(6))  # line, size, count, wrong, cycle, kind
        self._placements = bytearray()
        self._figures = tuple(array("d") for _ in range(6))

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
        if figures.wrong is not None:
            wrong = figures.wrong
        else:
            wrong = _FAILED_UNCOUNTED if figures.correct is False else _UNCHECKED
        if figures.correct is True and wrong == _UNCHECKED:
            wrong = 0
        for column, value in zip(self._whole, (line, size, count, wrong, cycle, kind), strict=True):
            column.append(value)
        for values, figure in zip(self._figures, figures[:6], strict=True):
            values.append(figure)
        self._placements.append(0 if placement is None else 1 if placement == "out" else 2)
        if figures.reported:
            self._extra[len(self._placements) - 1] = figures.reported

    def __len__(self) -> int:
        return len(self._placements)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        line, size, count, wrong, cycle, number = (column[index] for column in self._whole)
        kind = self.kinds[number]
        return Row(
            line=line,
            message_bytes=size,
            seconds=self._figures[_SECONDS][index],
            placement=_PLACEMENTS[self._placements[index]],
            dtype=kind.our_dtype,
            op=kind.our_op if self.with_op else None,
            root=kind.root if self.with_root and kind.root is not None and kind.root >= 0 else None,
            correct=None if wrong == _UNCHECKED else wrong == 0,
            wrong=wrong if wrong >= 0 else None,
            statistic=self.statistic,
            reported={
                **({"count": count} if count >= 0 else {}),
                **{
                    name: value
                    for name, value in (
                        ("algbw", self._figures[_ALGBW][index]),
                        ("busbw", self._figures[_BUSBW][index]),
                    )
                    if value == value  # nan is what was not printed
                },
                **self._extra.get(index, {}),
            },
            notes=self.notes.get(index, ()),
            cycle=cycle,
        )

    def __iter__(self) -> Iterator[Row]:
        return (self[index] for index in range(len(self)))

    def chosen(self, indices: Sequence[int], cycles: Sequence[int] | None = None) -> "RowTable":
        """A table of some of the rows, with other cycle numbers where they are given."""
        table = RowTable()
        table.statistic, table.with_op, table.with_root = self.statistic, self.with_op, self.with_root
        table.kinds, table._kind_numbers = list(self.kinds), dict(self._kind_numbers)
        table._whole = tuple(array("q", (column[i] for i in indices)) for column in self._whole)
        if cycles is not None:
            table._whole = (*table._whole[:4], array("q", cycles), table._whole[5])
        table._placements = bytearray(self._placements[i] for i in indices)
        table._figures = tuple(array("d", (values[i] for i in indices)) for values in self._figures)
        table._extra = {new: self._extra[old] for new, old in enumerate(indices) if old in self._extra}
        table.notes = {new: self.notes[old] for new, old in enumerate(indices) if old in self.notes}
        return table

    def note(self, index: int, words: str) -> None:
        """Say something about one row."""
        self.notes[index] = (*self.notes.get(index, ()), words)

    @property
    def lines(self) -> Sequence[int]:
        """Where each row stands."""
        return self._whole[0]

    @property
    def sizes(self) -> Sequence[int]:
        """The size of each row (bytes)."""
        return self._whole[1]

    @property
    def counts(self) -> Sequence[int]:
        """The elements of each row as printed, -1 where none is."""
        return self._whole[2]

    @property
    def kind_numbers(self) -> Sequence[int]:
        """The kind of each row."""
        return self._whole[5]

    @property
    def placements(self) -> bytes:
        """0 unknown, 1 out of place, 2 in place."""
        return bytes(self._placements)

    def checked(self, placement: Placement | None) -> bool:
        """Whether any row of a placement was checked."""
        code = 0 if placement is None else 1 if placement == "out" else 2
        return any(w != _UNCHECKED for w, p in zip(self._whole[3], self._placements, strict=True) if p == code)

    @property
    def wrong_rows(self) -> int:
        """Rows with wrong values."""
        return sum(1 for wrong in self._whole[3] if wrong not in (0, _UNCHECKED))

    def scale_seconds(self, factor: float) -> None:
        """Multiply every time, where the unit turned out to be another."""
        for place in (_SECONDS, _TIME_HALF):
            self._figures[place][:] = array("d", (value * factor for value in self._figures[place]))

    def judge_errors(self, *, failed: bool, limit: float, limit_16: float) -> None:
        """Turn printed magnitudes of error into verdicts, as the tool's footer says.

        Args:
            failed: the footer counts failures: rows whose error is above a limit that no rounding reaches are wrong,
                and about the others nothing is known. Otherwise every row with an error printed is right.
            limit, limit_16: for dtypes of more than 16 bits, and of 16 or less.
        """
        checks = self._whole[3]
        for index, extra in self._extra.items():
            error = extra.get("error")
            if not isinstance(error, float) or checks[index] != _UNCHECKED:
                continue
            width = self.kinds[self._whole[5][index]].element_bytes
            if not failed:
                checks[index] = 0
            elif error > (limit_16 if width is not None and width <= 2 else limit):
                checks[index] = _FAILED_UNCOUNTED

    def column(self, name: str) -> Floats:
        """`seconds`, `algbw`, `busbw` and `..._half` of every row as one array; `size` and `count` too."""
        if name in ("size", "count"):
            return np.array(self._whole[1 if name == "size" else 2], dtype=np.float64)
        order = ("seconds", "algbw", "busbw", "seconds_half", "algbw_half", "busbw_half")
        return np.array(self._figures[order.index(name)], dtype=np.float64)
