"""Curves of a known law, and copies of real ones with something changed."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from commbench.modelling.fitting import fit_sweeps
from commbench.modelling.inputs import read_models
from commbench.modelling.model import Model
from commbench.sweepfile.reader import Sweep
from commbench.sweepfile.records import Header, Measurement, Source

Floats = npt.NDArray[np.float64]

DATA = Path(__file__).parents[1] / "data" / "modelling"
LATENCY, RATE = 20e-6, 200e9
SIZES: list[int] = [8 << step for step in range(28)]  # 8 B to 1 GiB


def line(size: float) -> float:
    """The time of a size by one latency and bandwidth (s)."""
    return LATENCY + size / RATE


def about(value: float, rel: float | None = None, abs: float | None = None) -> Any:
    """`pytest.approx`, of a type that stands in tuples too."""
    return pytest.approx(value, rel=rel, abs=abs)


def noisy(seed: int, law: Callable[[float], float] = line, noise: float = 0.02) -> Callable[[float], float]:
    """The law with independent noise on each size."""
    chance = np.random.default_rng(seed)
    return lambda size: law(size) * float(np.exp(noise * chance.standard_normal()))


def sweep(law: Callable[[float], float], sizes: Iterable[int] = SIZES, *, cycle: int = 0, **header: Any) -> Sweep:
    """A sweep of single values on 8 ranks, unless the header's fields say otherwise."""
    known: dict[str, Any] = {"world_size": 8, "label": "law", "started_at": "", "source": Source(tool="law")}
    rows = tuple(point(size, (law(size),), cycle=cycle) for size in sizes)
    return Sweep(Header(sweep="s", **(known | header)), rows)


def point(size: int, seconds: Sequence[float] | Floats, **fields: Any) -> Measurement:
    """A checked all_reduce in place."""
    known: dict[str, Any] = {
        "collective": "all_reduce", "dtype": "float32", "op": "sum", "placement": "in", "mode": "isolated",
        "correct": True,
    }  # fmt: skip
    return Measurement(sweep="s", message_bytes=size, seconds=tuple(map(float, seconds)), **(known | fields))


def model(law: Callable[[float], float] = line, sizes: Iterable[int] = SIZES, **header: Any) -> Model:
    """The model of one curve."""
    return fit_sweeps([sweep(law, sizes, **header)])[0]


def real(name: str) -> tuple[Model, ...]:
    """The models of a file in tests/data/modelling."""
    return read_models([DATA / f"{name}.jsonl"])
