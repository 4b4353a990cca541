"""One table of the nccl-tests family while it is read."""

from dataclasses import dataclass, field

from commbench.importing.foreign import Reject, Skipped
from commbench.importing.nccl_family.banner import Banner
from commbench.importing.nccl_family.layout import Layout
from commbench.importing.nccl_family.rows import RowTable


@dataclass
class Table:
    """One table while it is read: what stood above, its rows, what was left out or refused, what stood below."""

    banner: Banner = field(default_factory=Banner)
    layout: Layout | None = None
    rows: RowTable = field(default_factory=RowTable)
    left_out: list[Skipped] = field(default_factory=list)
    zero_busbw: int = 0
    rejects: list[Reject] = field(default_factory=list)
    orphans: list[Reject] = field(default_factory=list)
    headed: bool = False
    first: int = 0
    last: int = 0
    cut: int | None = None
    stream: str = ""
    seen: dict[tuple[int, int], int] = field(default_factory=dict)

    @property
    def began(self) -> bool:
        """Whether any row of it was seen, read or not."""
        return bool(self.rows) or bool(self.left_out) or bool(self.rejects)
