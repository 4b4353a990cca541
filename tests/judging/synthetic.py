"""Sweeps of a known law with known noise, for tests that know what a comparison must say."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from commbench.judging.sides import Side, side_of
from commbench.sweepfile.reader import Sweep
from commbench.sweepfile.records import End, Header, Measurement, Source

SIZES = tuple(8 << (2 * i) for i in range(10))  # 8 B to 2 MiB


def law(size: int) -> float:
    """10 us and 1 GB/s."""
    return 1e-5 + size / 1e9


def sweep(
    name: str,
    *,
    seed: int = 0,
    seconds: Callable[[int], float] = law,
    noise: float = 0.02,
    launch_noise: float = 0.0,
    samples: int = 12,
    sizes: Sequence[int] = SIZES,
    collectives: Sequence[str] = ("all_reduce",),
    environment: dict[str, Any] | None = None,
    settings: dict[str, Any] | None = None,
    proved: Sequence[str] | None = ("sm",),
    correct: bool | None = True,
    statistic: str | None = None,
    mode: Any = "isolated",
    **header: Any,
) -> Sweep:
    """One launch whose samples are `seconds(size)` with log-normal noise."""
    rng = np.random.default_rng([seed, *name.encode()])
    luck = float(rng.normal(0.0, launch_noise)) if launch_noise else 0.0
    points = tuple(
        Measurement(
            sweep=f"{name}-{seed}", collective=collective, message_bytes=size, dtype="float32", op="sum",
            placement="in", mode=mode, clock="host", calls_per_sample=1, correct=correct, statistic=statistic,
            seconds=tuple((seconds(size) * np.exp(luck + rng.normal(0.0, noise, samples))).tolist()),
        )
        for collective in collectives
        for size in sizes
    )  # fmt: skip
    fields: dict[str, Any] = {
        "world_size": 2,
        "backend": "mpi",
        "label": name,
        "ranks_per_host": (2,),
        "source": Source(tool="commbench"),
    }
    head = Header(
        sweep=f"{name}-{seed}", started_at="2026-11-29T10:00:00Z",
        settings={"buffers": "rotate", **(settings or {})},
        environment={"hosts": ["a"], "device": "CPU", **(environment or {})},
        transport={"setting": name, "proved": list(proved) if proved else None},
        **(fields | header),
    )  # fmt: skip
    finish = End(sweep=head.sweep, finished_at="2026-11-29T10:01:00Z", status="complete")
    return Sweep(head, points, end=finish)


def pair(a: Sequence[Sweep], b: Sequence[Sweep]) -> tuple[Side, ...]:
    """Two sides, named after their labels."""
    return tuple(side_of(str(sweeps[0].header.label), sweeps) for sweeps in (a, b))
