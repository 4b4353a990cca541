"""Which curves of some sets stand in a figure: one line each, and never two modes, types or operators in one."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from commbench.collectives import collective_named
from commbench.errors import UsageError
from commbench.sweepfile.curves import Curve, curves_of
from commbench.sweepfile.reader import Sweep, read_sweeps
from commbench.sweepfile.sets import SweepSet, sets_of
from plots.running import DrawingError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MODES = ("pipelined", "graph", "isolated", None)
"""Which mode is shown where nobody chose: a training step's calls follow each other."""
PLACEMENTS = ("out", "in", None)
"""Which placement is shown where nobody chose and several cover as many curves; nccl-tests' first columns are `out`."""


@dataclass(frozen=True)
class Choice:
    """What the user chose; None where all, or the usual, may stand."""

    collectives: tuple[str, ...] | None = None
    mode: str | None = None
    placement: str | None = None
    dtype: str | None = None
    operator: str | None = None

    @property
    def words(self) -> str:
        """What was asked for, for a message."""
        parts = (*(self.collectives or ()), self.mode, self.placement, self.dtype, self.operator)
        return ", ".join(part for part in parts if part) or "any collective"


ALL = Choice()


@dataclass(frozen=True)
class Line:
    """One curve of one set.

    Attributes:
        name: of the set, unique among the sets.
        legend: of the line: the set's name, or the mode where the modes of one set stand beside each other.
    """

    name: str
    curve: Curve
    sweep_set: SweepSet
    legend: str

    @property
    def sweeps(self) -> tuple[Sweep, ...]:
        """The sweeps that it comes from."""
        return self.sweep_set.sweeps

    @property
    def proved(self) -> bool:
        """Each sweep's path is proved."""
        return all(sweep.proved for sweep in self.sweeps)


def choice_of(options: object) -> Choice:
    """The choice that `running.add_choice`'s options state. Raises UsageError for an unknown collective."""
    get = vars(options).get
    words = get("collective")
    names = None if words is None else tuple(
        dict.fromkeys(collective_named(word.strip()).name for word in words.split(",") if word.strip())
    )  # fmt: skip
    return Choice(names or None, get("mode"), get("placement"), get("dtype"), get("operator"))


def drawn_with(figure: "Callable[..., Figure]") -> "Callable[[object], Figure]":
    """What `running.run` calls for a figure of sets: files, choice, theme and title from its options."""

    def draw(options: object) -> "Figure":
        from plots.style import THEMES

        given = vars(options)
        return figure(read_sets(given["files"]), choice_of(options), theme=THEMES[given["theme"]], title=given["title"])

    return draw


def read_sets(files: Iterable[str | Path]) -> tuple[SweepSet, ...]:
    """The sets of these files, none of them void.

    Raises:
        SweepFileError: a file cannot be read.
        DrawingError: a sweep is void or holds wrong results: it did not measure what its name says.
    """
    sets = sets_of(sweep for path in dict.fromkeys(map(str, files)) for sweep in read_sweeps(path))
    for one in sets:
        refuse_void(one)
    return sets


def refuse_void(one: SweepSet) -> None:
    """Raises DrawingError where nothing measured here may be shown."""
    if reason := void_reason(one):
        raise DrawingError(
            f"{one.name} is void", expected="a sweep that measured what its name says, with right results",
            found=reason, fix="measure it again; commbench show FILE says more",
        )  # fmt: skip


def void_reason(one: SweepSet) -> str | None:
    """Why nothing measured here may be shown, None where it may."""
    marked = dict.fromkeys(void.reason for sweep in one.sweeps for void in sweep.voids)
    wrong = sum(m.correct is False or bool(m.wrong) for sweep in one.sweeps for m in sweep.measurements)
    if marked:
        return "; ".join(marked)
    return f"wrong results in {wrong} measurement{'s' if wrong > 1 else ''}" if wrong else None


def lines_of(sets: Sequence[SweepSet], choice: Choice, *, modes: bool = False) -> dict[str, tuple[Line, ...]]:
    """The lines of each collective, in the order of the sets.

    Args:
        modes: one set's modes may stand beside each other, each as a line of its own.

    Raises:
        DrawingError: no curve matches.
        UsageError: several types or operators match, so the figure could be about either.
    """
    found = [
        Line(name, curve, one, name)
        for name, one in zip(names_of(sets), sets, strict=True)
        for curve in curves_of(one)
        if _matches(curve, choice) and (one.key.world_size or 0) != 1
    ]
    if not found:
        measured = sorted({str(curve.key) for one in sets for curve in curves_of(one)})
        raise DrawingError("there is nothing to draw", expected=f"curves of 2 ranks or more: {choice.words}",
                            found="; ".join(measured[:6]) or "no measurement",
                            fix="commbench show FILE says what is in it")  # fmt: skip
    if not (modes and len(sets) == 1):
        found = _one_mode(found, len(sets))
    wanted = choice.collectives or tuple(dict.fromkeys(line.curve.key.collective for line in found))
    several = modes and len(sets) == 1
    columns = {name: _of_collective(found, name, _placements(found), several=several) for name in wanted}
    return {name: lines for name, lines in columns.items() if lines}


def names_of(sets: Sequence[SweepSet]) -> tuple[str, ...]:
    """A name for each set that no other has: its label, then ranks, tool and device where labels are shared."""
    names = [one.name for one in sets]
    for part in (
        [f"{one.key.world_size or '?'} ranks" for one in sets],
        [one.key.tool for one in sets],
        [one.key.device or "" for one in sets],
        [f"{len(one.key.ranks_per_host or ())} hosts" for one in sets],
        [f"set {number}" for number in range(1, len(sets) + 1)],
    ):
        counts = Counter(names)
        if max(counts.values(), default=1) == 1:
            break
        groups = {name: {p for n, p in zip(names, part, strict=True) if n == name} for name in counts}
        names = [f"{name}, {p}" if counts[name] > 1 and len(groups[name]) > 1 and p else name
                 for name, p in zip(names, part, strict=True)]  # fmt: skip
    return tuple(names)


def _matches(curve: Curve, choice: Choice) -> bool:
    key = curve.key
    return (
        key.beside is None
        and key.collective != "barrier"
        and (choice.collectives is None or key.collective in choice.collectives)
        and (choice.mode is None or key.mode == choice.mode)
        and (choice.placement is None or key.placement == choice.placement)
        and (choice.dtype is None or key.dtype == choice.dtype)
        and (choice.operator is None or key.op is None or key.op == choice.operator)
    )


def _one_mode(found: Sequence[Line], sets: int) -> list[Line]:
    """The lines of the first mode that most sets have."""
    having = {mode: {line.name for line in found if line.curve.key.mode == mode} for mode in MODES}
    best = max(MODES, key=lambda mode: (len(having[mode]), -MODES.index(mode)))
    missing = sorted({line.name for line in found} - having[best])
    if missing and sets > 1:
        measured = [f"{mode or 'not stated'}: {', '.join(sorted(names))}" for mode, names in having.items() if names]
        raise UsageError(
            "the files have no mode in common", expected="one mode that all of them were measured in",
            found="; ".join(measured),
            fix="leave out the files of other modes: a time of one mode beside that of another misleads",
        )  # fmt: skip
    return [line for line in found if line.curve.key.mode == best]


def _placements(found: Sequence[Line]) -> list[str | None]:
    """The placements, first the one that covers most curves of most sets: one for the whole figure if possible."""
    covered = Counter(place for _, _, place in {(x.name, x.curve.key.collective, x.curve.key.placement) for x in found})
    return sorted(PLACEMENTS, key=lambda place: -covered[place])


def _of_collective(
    found: Sequence[Line], collective: str, placements: Sequence[str | None], *, several: bool
) -> tuple[Line, ...]:
    own = [line for line in found if line.curve.key.collective == collective]
    if not own:
        return ()
    having = {place: {line.name for line in own if line.curve.key.placement == place} for place in placements}
    place = max(placements, key=lambda placement: len(having[placement]))
    own = [line for line in own if line.curve.key.placement == place]
    names = Counter((line.name, line.curve.key.mode if several else None) for line in own)
    if max(names.values()) > 1:
        keys = sorted({f"{line.curve.key.dtype or '?'} {line.curve.key.op or ''}".strip() for line in own})
        raise UsageError(
            f"{collective} was measured with several types or operators", expected="one of them in a figure",
            found=", ".join(keys), fix="choose with --dtype and --operator",
        )  # fmt: skip
    if several and len({line.curve.key.mode for line in own}) > 1:
        return tuple(replace(line, legend=str(line.curve.key.mode or "mode not stated")) for line in own)
    return tuple(own)
