"""The page: which sections it has, gravest first, and what is said where one cannot be made."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from commbench import __version__
from commbench.errors import CommbenchError
from commbench.judging.compared import Comparison
from commbench.judging.comparison import compare
from commbench.judging.sides import Side, side_of
from commbench.modelling.fitting import fit_sets
from commbench.showing.heading import clean
from commbench.showing.judgement import judge
from commbench.sweepfile.sets import SweepSet
from commbench.training.predictions import StepPrediction
from plots.captions import machine, path
from plots.choosing import Choice, names_of, void_reason
from plots.interconnects import side_lines
from plots.report import facts
from plots.report.drawings import Drawing, bandwidth_drawings, ratio_drawings, training_drawing
from plots.style import DARK, LIGHT, Theme

_HERE = Path(__file__).parent
_T = TypeVar("_T")
MOST_NAMED = 6  # settings that a title bears
Steps = Callable[[Sequence[SweepSet]], Sequence[StepPrediction]]


@dataclass(frozen=True)
class Warned:
    """Warnings that matter for the same reason: what was seen, by setting."""

    kind: str
    seen: tuple[tuple[str, str], ...]
    why: str
    helps: str


class Sections:
    """The content of a page. What cannot be made leaves a sentence in `missing`, never an empty place."""

    def __init__(
        self, sets: Sequence[SweepSet], choice: Choice, steps: Steps, accepted: Mapping[str, Any] | None
    ) -> None:
        self.missing: list[str] = []
        self.names = names_of(sets)
        self.sets = sets
        sound = [one for one in sets if void_reason(one) is None]
        for name, one in zip(self.names, sets, strict=True):
            if reason := void_reason(one):
                self.missing.append(clean(f"{name} is void and stands in no figure: {reason}"))
        self.accepted = accepted
        self.warnings = _warnings(self.names, sets)
        self.facts = facts.facts(self.names, sets)
        self.bandwidth = self._try("bandwidth", lambda: bandwidth_drawings(sound, choice)) or ()
        self.comparison, self.ratios = self._compared(sound, choice)
        self.models = fit_sets(sound)
        self.fits = facts.fits(self.models) if self.models else None
        self.steps: Sequence[StepPrediction] = self._try("training", lambda: steps(sound)) or ()
        paths = [(one.name, path(one.sweeps)) for one in sound]
        self.step_drawing = self._try("training", lambda: training_drawing(self.steps, paths)) if self.steps else None
        self.tables = [
            facts.measurements(f"measurements-{number}", name, one)
            for number, (name, one) in enumerate(zip(self.names, sets, strict=True))
        ]

    @property
    def title(self) -> str:
        """What the page is about."""
        names = list(dict.fromkeys(clean(one.name) for one in self.sets))
        return "Collectives: " + (", ".join(names) if len(names) <= MOST_NAMED else f"{len(names)} settings")

    @property
    def lead(self) -> str:
        """The machine in a line."""
        return clean(machine([sweep for one in self.sets for sweep in one.sweeps]))

    def _compared(self, sound: Sequence[SweepSet], choice: Choice) -> tuple[Comparison | None, tuple[Drawing, ...]]:
        sides = _sides(sound)
        if len(sides) < 2:
            return None, ()
        found = self._try("comparison", lambda: compare(sides, fitted=False))
        if found is None:
            return None, ()
        return found, self._try("ratios", lambda: ratio_drawings(side_lines(sides, choice), found)) or ()

    def _try(self, what: str, make: Callable[[], _T]) -> _T | None:
        try:
            return make()
        except CommbenchError as error:
            self.missing.append(clean(f"{what}: {error.wrong} ({error.found})"))
            return None


def render(
    sets: Sequence[SweepSet],
    choice: Choice,
    steps: Steps,
    accepted: Mapping[str, Any] | None = None,
    title: str | None = None,
) -> str:
    """The whole page as text.

    Args:
        steps: the training steps on these sets; it may raise a CommbenchError, which the page then states.
        accepted: the document of `commbench accept --json`.
    """
    sections = Sections(sets, choice, steps, accepted)
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    template = environment.from_string((_HERE / "template.html.j2").read_text(encoding="utf-8"))
    return template.render(
        title=clean(title) if title else sections.title, page=sections, version=__version__,
        style=Markup(_colours() + (_HERE / "page.css").read_text(encoding="utf-8")),
        script=Markup((_HERE / "page.js").read_text(encoding="utf-8")),
        training_table=facts.training(sections.steps) if sections.steps else None,
        comparison_table=facts.comparison(sections.comparison) if sections.comparison else None,
        checks=facts.acceptance(accepted) if accepted else None, unproved=_unproved(sections),
    )  # fmt: skip


def _unproved(sections: Sections) -> list[str]:
    return [clean(name) for name, one in zip(sections.names, sections.sets, strict=True)
            if not all(sweep.proved for sweep in one.sweeps)]  # fmt: skip


def _warnings(names: Sequence[str], sets: Sequence[SweepSet]) -> list[Warned]:
    """The warnings of all sweeps, grouped by what they mean, in their own order: gravest first."""
    grouped: dict[tuple[str, str, str], dict[tuple[str, str], None]] = {}
    for name, one in zip(names, sets, strict=True):
        for each in (warning for sweep in one.sweeps for warning in judge(sweep)):
            grouped.setdefault((each.kind, each.why, each.helps), {})[clean(name), clean(each.seen)] = None
    return [Warned(kind, tuple(seen), clean(why), clean(helps)) for (kind, why, helps), seen in grouped.items()]


def _sides(sets: Sequence[SweepSet]) -> list[Side]:
    named: dict[str, list[SweepSet]] = {}
    for one in sets:
        named.setdefault(one.name, []).append(one)
    sides = []
    for name, members in named.items():
        try:
            sides.append(side_of(name, [sweep for one in members for sweep in one.sweeps]))
        except CommbenchError:  # one label over several machines or tools: each is a side of its own
            sides += [side_of(f"{name} ({one.key.tool})", one.sweeps) for one in members]
    return sides


def _colours() -> str:
    light, dark = _variables(LIGHT), _variables(DARK)
    return f":root {{ {light} }}\n@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"


def _variables(theme: Theme) -> str:
    named = {name: getattr(theme, name) for name in ("ink", "quiet", "grid", "paper", "alarm")}
    named |= {f"series-{number}": colour for number, colour in enumerate(theme.series)}
    return " ".join(f"--{name}: {colour};" for name, colour in named.items())
