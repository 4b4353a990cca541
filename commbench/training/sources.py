"""Which measured curve answers for a call: the models of one interconnect, and the nearest one to what was asked.

A curve of another dtype, operator or placement may stand in, and then says so: what a call costs is mostly its bytes.
A collective that was not measured, or a number of ranks, has no stand-in.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple

from commbench.collectives import Placement
from commbench.dtypes import ELEMENT_BYTES
from commbench.errors import RefusedModelError
from commbench.modelling.fitting import fit_curve
from commbench.modelling.inputs import read_files
from commbench.modelling.model import Model, ModelKey
from commbench.sweepfile.curves import Curve, curves_of
from commbench.sweepfile.sets import SweepSet, sets_of
from commbench.training.call import Call

MODES = ("pipelined", "graph", "isolated", None)
"""Which mode is taken first: a step's calls follow each other, and no host waits between them."""


class Kind(NamedTuple):
    """What a curve must be about to answer for a call."""

    collective: str
    op: str | None
    dtype: str
    placement: Placement
    ranks: int
    on_hosts: bool  # spread over hosts rather than within one

    @classmethod
    def of(cls, call: Call, strategy: str) -> "Kind":
        """The kind of a call of a strategy."""
        return cls(
            call.collective, call.op, call.dtype, placement(call.collective, strategy), call.group.size,
            call.group.stride > 1,
        )  # fmt: skip


class Choice(NamedTuple):
    """The model that answers, and what it stands in for (in words; empty where it is the very one)."""

    model: Model
    stands_in: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Candidate:
    """A curve that may answer. It is fitted when it is asked: a step needs few of a sweep's curves.

    Attributes:
        sizes: how many message sizes were measured.
    """

    key: ModelKey
    backend: str | None
    device: str | None
    sizes: int
    fit: Callable[[], Model]

    @cached_property
    def model(self) -> Model:
        """Its model, which may be a refusal."""
        return self.fit()


def placement(collective: str, strategy: str) -> Placement:
    """Where frameworks put the result: in place, but for fully_shard's reduce_scatter into a tensor of its own."""
    return "out" if collective == "reduce_scatter" and strategy == "fsdp" else "in"


@dataclass(frozen=True)
class Source:
    """The curves of one interconnect, at any number of ranks. `name` is its label, for tables."""

    name: str
    candidates: tuple[Candidate, ...]

    @property
    def world_sizes(self) -> tuple[int, ...]:
        """Numbers of ranks that were measured, ascending."""
        return tuple(sorted({each.key.world_size for each in self.candidates if each.key.world_size}))

    @property
    def modes(self) -> tuple[str | None, ...]:
        """Modes that were measured, the preferred first."""
        measured = {each.key.mode for each in self.candidates}
        return tuple(mode for mode in MODES if mode in measured)

    def of(self, collective: str, modes: Iterable[str | None], *, beside: str | None = None) -> list[Candidate]:
        """The curves of a collective in any of these modes."""
        allowed = set(modes)
        return [
            each for each in self.candidates
            if each.key.collective == collective and each.key.beside == beside and each.key.mode in allowed
        ]  # fmt: skip

    def nearest(self, kind: Kind, modes: Sequence[str | None], *, beside: str | None = None) -> Choice | None:
        """The nearest curve at the kind's number of ranks, or None where that many were not measured.

        Raises:
            RefusedModelError: no such curve gives a model.
        """
        found = [each for each in self.of(kind.collective, modes, beside=beside) if each.key.world_size == kind.ranks]
        return self.choose(found, kind, modes) if found else None

    def choose(self, found: Iterable[Candidate], kind: Kind, modes: Sequence[str | None]) -> Choice:
        """The nearest of some curves of the kind's collective that gives a model.

        Mode counts most, then dtype, operator and placement.

        Raises:
            RefusedModelError: none gives a model.
        """
        order = sorted(found, key=lambda each: _distance(each, kind, modes))
        for each in order:
            if each.model.refused is None:
                return Choice(each.model, tuple(_differences(each.key, kind, modes[0])))
        raise RefusedModelError(
            f"{kind.collective} cannot be priced: its measured curve gives no model",
            expected="a curve that latency and bandwidth describe",
            found=f"{self.name}, {order[0].key}: {order[0].model.refused}",
            fix="measure it again, with more sizes and samples",
        )

    def require(self, collective: str, modes: Sequence[str | None]) -> None:
        """Raises RefusedModelError (exit 3) where the collective was not measured, or not in these modes."""
        if self.of(collective, modes):
            return
        elsewhere = sorted({str(each.key.mode) for each in self.of(collective, self.modes)})
        measured = ", ".join(sorted({each.key.collective for each in self.candidates})) or "nothing that can be used"
        raise RefusedModelError(
            f"{collective} was not measured, and this step needs it",
            expected=f"a curve of {collective}" + (f" in mode {', '.join(map(str, modes))}" if elsewhere else ""),
            found=f"{self.name} has it in mode {', '.join(elsewhere)}" if elsewhere else f"{self.name} has {measured}",
            fix=f"leave --mode away, or measure it: torchrun ... -m commbench.sweep {collective} --mode {modes[0]}"
            if elsewhere else f"measure it too: torchrun ... -m commbench.sweep {collective}",
        )  # fmt: skip


def read_sources(paths: Iterable[str | Path]) -> tuple[Source, ...]:
    """The interconnects that sweep files and saved models are about, in the order of their first file.

    Raises:
        SweepFileError: a file cannot be read.
    """
    models, sweeps = read_files(paths)
    saved = [Candidate(each.key, each.backend, each.device, len(each.sizes), partial(_same, each)) for each in models]
    return sources_of([*saved, *(unfitted(curve, each) for each in sets_of(sweeps) for curve in curves_of(each))])


def sources_of(candidates: Iterable[Candidate]) -> tuple[Source, ...]:
    """Sort curves by interconnect: one label, backend and device."""
    grouped: dict[tuple[str | None, ...], list[Candidate]] = {}
    for each in candidates:
        grouped.setdefault((each.key.label, each.backend, each.device), []).append(each)
    labels = [key[0] for key in grouped]
    return tuple(
        Source(" ".join(part for part in (key if labels.count(key[0]) > 1 else key[:1]) if part) or "sweep",
               tuple(members))
        for key, members in grouped.items()
    )  # fmt: skip


def _same(model: Model) -> Model:
    return model


def unfitted(curve: Curve, sweep_set: SweepSet) -> Candidate:
    """A curve that is fitted when it is asked."""
    key = ModelKey(sweep_set.name, curve.world_size, sweep_set.key.ranks_per_host, *curve.key)
    return Candidate(key, sweep_set.key.backend, sweep_set.key.device, len(curve.points),
                     partial(fit_curve, curve, sweep_set))  # fmt: skip


def _differences(key: ModelKey, kind: Kind, mode: str | None) -> Iterable[str]:
    """Where a curve differs from what was asked for, in words."""
    if key.dtype != kind.dtype:
        yield f"{key.dtype or 'an unknown dtype'} for {kind.dtype}"
    if kind.op is not None and key.op != kind.op:
        yield f"{key.op or 'an unknown operator'} for {kind.op}"
    if key.mode != mode:
        yield f"{key.mode or 'an unknown mode'} for {mode or 'an unknown mode'}"


def _distance(each: Candidate, kind: Kind, modes: Sequence[str | None]) -> tuple[int, ...]:
    key = each.key
    same_width = ELEMENT_BYTES.get(key.dtype or "") == ELEMENT_BYTES[kind.dtype]
    on_hosts = len(key.ranks_per_host or (0,)) > 1
    return (
        modes.index(key.mode),
        0 if key.dtype == kind.dtype else 1 if same_width else 2,
        key.op != kind.op,
        key.placement != kind.placement,
        on_hosts != kind.on_hosts,
        -each.sizes,
    )
