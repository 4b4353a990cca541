"""Progress on standard error: a bar with the time left on a terminal, a line per point elsewhere."""

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from commbench.sweepfile.derived import bus_bandwidth, half_width, median_seconds
from commbench.sweepfile.records import LeftOut, Measurement
from commbench.units import format_rate, format_seconds


class Display:
    """What rank 0 shows while it measures; see `commbench.measuring.reporter.Reporter`."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True, highlight=False)
        self._bar: Progress | None = None
        self._task = TaskID(0)
        self._total = self._done = 0

    def tell(self, text: str) -> None:
        """Print lines."""
        self._console.print(text, markup=False, soft_wrap=True)

    def begin(self, total: int) -> None:
        """Start the bar of a sweep."""
        self.close()
        self._total, self._done = total, 0
        if self._console.is_terminal and total:
            self._bar = Progress(
                TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(),
                TimeRemainingColumn(), console=self._console, transient=True,
            )  # fmt: skip
            self._task = self._bar.add_task("", total=total)
            self._bar.start()

    def point(self, what: str) -> None:
        """Name the point beside the bar."""
        if self._bar:
            self._bar.update(self._task, description=what)

    def finished(self, what: str, record: Measurement | LeftOut, ranks: int) -> None:
        """Move the bar, or print a line; what was left out is always said."""
        self._done += 1
        if self._bar:
            self._bar.advance(self._task)
        if isinstance(record, LeftOut):
            self._line(f"{what}: left out: {record.reason}")
        elif not self._bar:
            self._line(f"{what}: {result(record, ranks)}")

    def close(self) -> None:
        """Take the bar away."""
        if self._bar:
            self._bar.stop()
            self._bar = None

    def _line(self, text: str) -> None:
        place = f"{self._done}/{self._total}" if self._total else f"{self._done}"  # nobody knows how many will come
        self._console.print(f"[{place}] {text}", markup=False, soft_wrap=True)


def result(record: Measurement, ranks: int) -> str:
    """A measurement in a few words: time, reached half-width, bus bandwidth and whether it was right."""
    width, rate = half_width(record), bus_bandwidth(record, ranks)
    words = [format_seconds(median_seconds(record)) + (f" ±{100 * width:.1f} %" if width is not None else "")]
    words += [f"busbw {format_rate(rate)}"] if rate else []
    words += [
        "not checked" if record.correct is None else "right" if record.correct else f"WRONG: {record.wrong} elements"
    ]
    return ", ".join(words)
