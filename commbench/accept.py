"""Measure what a limits file asks for: which sweeps, and the launch lines that run them."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count, product, takewhile
from pathlib import Path

from commbench.errors import LaunchError, UsageError
from commbench.judging.limits import Limit, Limits
from commbench.launching.lines import Launcher, LaunchLine, launch_line
from commbench.sweepfile.reader import Sweep, read_sweeps

_FITTED_SIZES = (8, 1 << 30)  # of a fit that names no sizes: latency at one end, bandwidth at the other


_Shared = tuple[tuple[int, int], float, str | None, str | None, str | None, str | None]
"""Sizes, factor, mode, dtype, operator and placement of a sweep."""


@dataclass(frozen=True)
class Wanted:
    """One sweep: collectives that share sizes and all else."""

    collectives: tuple[str, ...]
    sizes: tuple[int, int]
    factor: float
    mode: str | None
    dtype: str | None
    op: str | None
    placement: str | None

    def covers(self, other: "Wanted") -> bool:
        """Whether this sweep measures every point of the other one, and more."""
        same = (self.mode, self.dtype, self.op, self.placement) == (other.mode, other.dtype, other.op, other.placement)
        mine, others = (set(product(one.collectives, one.points)) for one in (self, other))
        return same and mine > others

    @property
    def points(self) -> tuple[float, ...]:
        """Message sizes in bytes, from the first by the factor up to the last."""
        first, last = self.sizes
        return tuple(takewhile(lambda size: size <= last, (first * self.factor**step for step in count())))

    @property
    def arguments(self) -> tuple[str, ...]:
        """The words of the sweep that measures it."""
        first, last = self.sizes
        words = [*self.collectives, "-b", str(first), "-e", str(last), "-f", f"{self.factor:g}"]
        for option, value in (
            ("--mode", self.mode),
            ("-d", self.dtype),
            ("-o", self.op),
            ("--placement", self.placement),
        ):
            words += [option, value] if value is not None else []
        return tuple(words)


def wanted(limits: Limits) -> tuple[Wanted, ...]:
    """The sweeps that answer every limit, as few as have no point that no limit asks for.

    Raises:
        UsageError: a limit needs sweeps that one launch of all ranks does not make.
    """
    grouped: dict[_Shared, list[Limit]] = {}
    for limit in limits.limits:
        if limit.quantity == "node_spread":
            raise UsageError(
                "node_spread is not measured by one launch of all ranks", expected="sweeps of each node by itself",
                found=f"a limit of node_spread in {limits.name}",
                fix="measure each node (or with --groups), and give the sweep files instead of --launch",
            )  # fmt: skip
        for span in _spans(limit):
            key = (span, limit.factor, limit.mode, limit.dtype, limit.op, limit.placement)
            grouped.setdefault(key, []).append(limit)
    found = [
        Wanted(tuple(dict.fromkeys(limit.collective for limit in members)), *key) for key, members in grouped.items()
    ]
    # A point that two sweeps measured would be judged as two launches, and those know far less than one.
    return tuple(one for one in found if not any(other.covers(one) for other in found if other is not one))


def _spans(limit: Limit) -> tuple[tuple[int, int], ...]:
    """The sizes of a limit as ranges that -b, -e and -f make: its last size alone, where the factor misses it."""
    first, last = limit.sizes or _FITTED_SIZES
    if limit.factor != int(limit.factor):
        raise UsageError(
            "a sweep multiplies sizes by whole numbers", expected="a whole factor in a limit that --launch measures",
            found=f"factor = {limit.factor:g} of {limit.collective}",
            fix="factor = 2, or measure by yourself and give the sweep files instead of --launch",
        )  # fmt: skip
    if limit.fitted:
        return ((first, last),)
    reached = first
    while reached * int(limit.factor) <= last:
        reached *= int(limit.factor)
    return ((first, last),) if reached == last else ((first, reached), (last, last))


def launch_lines(
    limits: Limits, launcher: Launcher, program: str, folder: Path, launches: int, python: str
) -> Iterator[tuple[Path, LaunchLine]]:
    """Each sweep file with the line that makes it, in this process's environment: PATH, NCCL_* and all.

    Launches of one sweep stand apart in time.
    """
    sweeps = wanted(limits)
    for launch in range(1, launches + 1):
        for number, one in enumerate(sweeps, 1):
            file = folder / f"{number:02}-{launch:02}.jsonl"
            line = launch_line(launcher, program, [*one.arguments, "-J", str(file)], python=python)
            yield file, LaunchLine(line.words, {**os.environ, **line.environment})


def measured(file: Path, line: LaunchLine, start: Callable[[LaunchLine], int]) -> tuple[Sweep, ...]:
    """Run a line and read what it wrote. Exit codes 1 and 3 are answers: the file says what was wrong or left out.

    Raises:
        LaunchError: it wrote no sweep.
    """
    code = start(line)
    if not file.exists():
        raise LaunchError("a launch failed", expected=f"a sweep in {file}", found=f"exit code {code}, and no such file",
                          fix="its own words stand above; commbench doctor looks at launchers")  # fmt: skip
    return read_sweeps(file)
