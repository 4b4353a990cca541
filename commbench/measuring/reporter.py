"""Who is told while a run goes on: rank 0's progress display, or nobody."""

from typing import Protocol

from commbench.sweepfile.records import LeftOut, Measurement


class Reporter(Protocol):
    """Told what happens, in order."""

    def tell(self, text: str) -> None:
        """Lines that a user should see before measuring."""

    def begin(self, total: int) -> None:
        """A sweep of `total` points begins."""

    def point(self, what: str) -> None:
        """A point is about to be measured."""

    def finished(self, what: str, record: Measurement | LeftOut, ranks: int) -> None:
        """A point of a collective of `ranks` ranks has its record."""

    def close(self) -> None:
        """Nothing more will come."""


class Silent:
    """Tells nobody: the reporter of every rank but 0."""

    def tell(self, text: str) -> None:
        """Nothing."""

    def begin(self, total: int) -> None:
        """Nothing."""

    def point(self, what: str) -> None:
        """Nothing."""

    def finished(self, what: str, record: Measurement | LeftOut, ranks: int) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""
