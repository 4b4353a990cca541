"""The sides of a comparison: each argument, file or folder, is one; a single one with several settings is split."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from commbench.errors import UsageError
from commbench.judging.compared import SideRecord
from commbench.judging.given_files import sweep_files
from commbench.sweepfile.curves import curves_of
from commbench.sweepfile.reader import Sweep, read_sweeps
from commbench.sweepfile.sets import SweepSet, sets_of

_MANY = 3  # reasons or names that a sentence still bears


@dataclass(frozen=True)
class Side:
    """Sweeps that answer together, one set for each number of ranks.

    Attributes:
        name: unique among the sides of a comparison.
        void: why nothing measured here may be compared, else None.
    """

    name: str
    files: tuple[str, ...]
    sets: tuple[SweepSet, ...]
    void: str | None = None

    @property
    def sweeps(self) -> tuple[Sweep, ...]:
        """All sweeps of all sets."""
        return tuple(sweep for one in self.sets for sweep in one.sweeps)

    @property
    def record(self) -> SideRecord:
        """As the result states it."""
        sweeps = self.sweeps
        proved = {path for sweep in sweeps for path in sweep.proved or ()}
        every = all(sweep.proved for sweep in sweeps)
        return SideRecord(
            name=self.name,
            files=self.files,
            tools=tuple(sorted({sweep.header.source.tool for sweep in sweeps})),
            backend=self.sets[0].key.backend,
            world_sizes=tuple(one.key.world_size for one in self.sets),
            proved=tuple(sorted(proved)) if proved and every else None,
            launches=max(_launches(one) for one in self.sets),
            void=self.void,
        )


def read_sides(paths: Sequence[str]) -> tuple[Side, ...]:
    """The sides of these files and folders (the `*.jsonl` in them, and in their folders).

    Raises:
        SweepFileError: a file cannot be read.
        UsageError: fewer than two sides, or one that mixes settings.
    """
    read = [(path, [(str(file), read_sweeps(file)) for file in sweep_files(path)]) for path in paths]
    if len(read) == 1:
        return _split(*read[0])
    sides = [_side(path, files) for path, files in read]
    counts = Counter(side.name for side in sides)
    named = [
        side if counts[side.name] == 1 else _renamed(side, path) for side, (path, _) in zip(sides, read, strict=True)
    ]
    if len({side.name for side in named}) < len(named):
        named = [_renamed(side, path, whole=True) for side, (path, _) in zip(sides, read, strict=True)]
    if len(set(paths)) < len(paths):
        raise UsageError("a side is compared with itself", expected="sides that differ", found=" ".join(paths),
                         fix="give each file or folder once")  # fmt: skip
    return tuple(named)


def side_of(name: str, sweeps: Sequence[Sweep], files: Sequence[str] = ()) -> Side:
    """A side from sweeps in memory.

    Raises:
        UsageError: they mix settings.
    """
    return _made(name, tuple(files), sweeps)


def _split(path: str, files: Sequence[tuple[str, tuple[Sweep, ...]]]) -> tuple[Side, ...]:
    by_name: dict[str, list[SweepSet]] = {}
    for one in sets_of(sweep for _, sweeps in files for sweep in sweeps):
        by_name.setdefault(one.name, []).append(one)
    if len(by_name) < 2:
        raise UsageError(
            "there is nothing to compare with",
            expected="two files or folders, or one with several settings",
            found=f"one setting ({next(iter(by_name))}) in {path}",
            fix="commbench compare A B",
        )
    owners = {id(sweep): file for file, sweeps in files for sweep in sweeps}
    return tuple(
        _made(name, _unique(owners[id(sweep)] for one in sets for sweep in one.sweeps),
              [sweep for one in sets for sweep in one.sweeps])
        for name, sets in by_name.items()
    )  # fmt: skip


def _unique(words: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))


def _side(path: str, files: Sequence[tuple[str, tuple[Sweep, ...]]]) -> Side:
    sweeps = [sweep for _, sweeps in files for sweep in sweeps]
    labels = {one.key.label for one in sets_of(sweeps)}
    name = (labels.pop() if len(labels) == 1 else None) or Path(path).stem or path
    return _made(name, tuple(file for file, _ in files), sweeps, where=path)


def _renamed(side: Side, path: str, *, whole: bool = False) -> Side:
    return Side(path if whole else Path(path).stem or path, side.files, side.sets, side.void)


def _made(name: str, files: tuple[str, ...], sweeps: Sequence[Sweep], where: str | None = None) -> Side:
    sets = sets_of(sweeps)
    again = [number for number, times in Counter((s.key.world_size, s.key.groups) for s in sets).items() if times > 1]
    if again:
        first, second = [s for s in sets if (s.key.world_size, s.key.groups) == again[0]][:2]
        found = [
            f"{field} {old!r} and {new!r}"
            for field, old, new in zip(first.key._fields, first.key, second.key, strict=True)
            if old != new
        ]
        raise UsageError(
            "one side holds sweeps that do not belong together",
            expected="one setting, machine and tool a side (labels, backend, device and buffers agree)",
            found=f"{where or name}: {', '.join(found)}",
            fix="give each of them as an argument of its own",
        )
    return Side(name, files, sets, _void(sweeps))


def _void(sweeps: Sequence[Sweep]) -> str | None:
    marked = [void.reason for sweep in sweeps for void in sweep.voids]
    wrong = [m for sweep in sweeps for m in sweep.measurements if m.correct is False or m.wrong]
    if marked:
        return "; ".join(dict.fromkeys(marked))
    if wrong:
        names = sorted({str(m.collective) for m in wrong})
        more = " ..." if len(names) > _MANY else ""
        return f"wrong results in {len(wrong)} measurement{'s'[: len(wrong) > 1]} ({', '.join(names[:_MANY])}{more})"
    return None


def _launches(one: SweepSet) -> int:
    return max((len(point.launches) for curve in curves_of(one) for point in curve.points), default=0)
