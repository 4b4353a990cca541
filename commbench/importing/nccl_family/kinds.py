"""What rows of the nccl-tests family have in common, and the figures that each placement of a row prints."""

from typing import Any, NamedTuple

from commbench.collectives import operator_named
from commbench.dtypes import ELEMENT_BYTES, dtype_named
from commbench.errors import UsageError


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
