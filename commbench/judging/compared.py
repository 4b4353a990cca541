"""What a comparison finds, as frozen records: the verb prints them, figures and the report draw them.

Side a is the base; every other side is a b, compared with it. A ratio is (time of b / time of a): 2 means that b takes
twice as long. Seconds, bytes, bytes per second.
"""

from typing import Literal

import msgspec

Interval = tuple[float, float]
Verdict = Literal["slower", "faster", "no measurable difference", "could not tell", "void"]
Outcome = Literal["different", "no measurable difference", "could not tell", "void"]


class SideRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One side of a comparison.

    Attributes:
        name: its label, or the file's name.
        proved: the paths that the library's own log proves, None when nothing does.
        launches: launches (fresh processes or cycles) that contribute.
        void: why nothing measured here may be compared, else None.
    """

    name: str
    files: tuple[str, ...]
    tools: tuple[str, ...]
    backend: str | None
    world_sizes: tuple[int | None, ...]
    proved: tuple[str, ...] | None
    launches: int
    void: str | None = None


class CurveName(msgspec.Struct, frozen=True, kw_only=True):
    """Which curve of which pair of sides; None where a foreign file does not say."""

    a: str
    b: str
    collective: str
    op: str | None
    dtype: str | None
    placement: str | None
    mode: str | None
    beside: str | None
    world_size: int | None

    @property
    def text(self) -> str:
        """`all_reduce sum float32 in isolated`, what a person calls the curve."""
        words = (self.collective, self.op, self.dtype, self.placement, self.mode)
        return " ".join(word for word in words if word) + (f" beside {self.beside}" if self.beside else "")


class PointComparison(CurveName, frozen=True, kw_only=True):
    """One size that both sides have.

    Attributes:
        seconds: the median time of a and of b (s).
        ratio: of these two; None where a's is 0.
        interval: of the ratio at 95 %, for this size alone; None where the data have no error (one value a size).
        significant: the difference stands after the correction for all sizes and curves; None where that cannot be
            told. Then p_value, corrected alike, is None too.
        samples, launches: of a and of b.
        correct: of a and of b; None is not checked.
    """

    message_bytes: int
    seconds: tuple[float, float]
    ratio: float | None
    interval: Interval | None
    significant: bool | None
    p_value: float | None
    samples: tuple[int, int]
    launches: tuple[int, int]
    correct: tuple[bool | None, bool | None]
    verdict: Verdict


class Crossover(msgspec.Struct, frozen=True, kw_only=True):
    """Where one side stops being the faster one.

    Attributes:
        between: the last size where one side is significantly faster, and the first where the other one is.
        message_bytes: where the ratio crosses 1 between them, straight in log-log.
        faster_below, faster_above: names of the sides.
    """

    between: tuple[int, int]
    message_bytes: float
    faster_below: str
    faster_above: str


class Fit(msgspec.Struct, frozen=True, kw_only=True):
    """Latency and bandwidth of one side's curve; all None and `refused` where no model describes it."""

    latency_seconds: float | None
    latency_interval: Interval | None
    bytes_per_second: float | None
    bytes_per_second_interval: Interval | None
    refused: str | None


class CurveComparison(CurveName, frozen=True, kw_only=True):
    """One curve over all sizes that both sides have.

    Attributes:
        ratio, interval, significant, p_value: of the geometric mean of the ratios over sizes, as of a point.
        sizes: how many sizes both sides have; slower, faster: of how many b significantly is.
        least_visible: the ratio above 1 that a difference must exceed to be seen at half of the sizes, after the
            correction; None where the data have no error.
        crossovers: in ascending sizes.
        fits: of a and of b, None where nobody asked for them.
    """

    ratio: float | None
    interval: Interval | None
    significant: bool | None
    p_value: float | None
    sizes: int
    slower: int
    faster: int
    least_visible: float | None
    crossovers: tuple[Crossover, ...]
    fits: tuple[Fit, Fit] | None
    verdict: Verdict


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two or more sides, compared.

    Attributes:
        single_value: half the 95 % interval that values without samples were given, as a share of them; None: none.
        notes: what a reader must know beside the verdict (unproved paths, unchecked results, one launch a side …).
        verdict: the answer in one sentence.
    """

    sides: tuple[SideRecord, ...]
    comparisons: tuple[PointComparison, ...]
    curves: tuple[CurveComparison, ...]
    notes: tuple[str, ...]
    outcome: Outcome
    verdict: str
    ratio_of: str = "time of b / time of a"
    confidence: float = 0.95
    false_alarms: float
    single_value: float | None = None
