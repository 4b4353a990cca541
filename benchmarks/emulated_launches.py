"""Launches on an emulated cluster, a sweep file each, kept in a folder so that an interrupted series goes on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.emulated_cluster.cluster import EmulatedCluster

TIMEOUT = 300.0  # seconds a launch may take before it counts as failed
RATE = "1gbit"


@dataclass(frozen=True)
class Series:
    """Launches under one condition.

    Attributes:
        name: the condition, and the beginning of its files' names.
        slow_rate: the rate of the last node's link, as tc writes it; None where all links are alike.
    """

    name: str
    launches: int
    slow_rate: str | None = None


def measure(folder: Path, nodes: int, series: Sequence[Series], arguments: Sequence[str]) -> Iterator[Path]:
    """Run what is missing of every series, in turn (so that the machine's mood is the same for all); yield each file.

    Raises:
        RuntimeError: a launch failed; what was finished is kept.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for turn in range(max(one.launches for one in series)):
        for one in series:
            file = folder / f"{one.name}-{turn + 1:02}.jsonl"
            if turn < one.launches and not file.exists():
                _launch(file, nodes, one, arguments)
                yield file


def files_of(folder: Path, series: Series) -> list[Path]:
    """The finished launches of a series, in their order."""
    return sorted(folder.glob(f"{series.name}-*.jsonl"))


def _launch(file: Path, nodes: int, series: Series, arguments: Sequence[str]) -> None:
    unfinished = file.with_suffix(".unfinished")
    unfinished.unlink(missing_ok=True)
    with EmulatedCluster(nodes=nodes, rate=RATE) as cluster:
        if series.slow_rate is not None:
            cluster.set_rate(nodes - 1, series.slow_rate)
        results = cluster.torchrun("commbench.sweep", [*arguments, "-J", str(unfinished)], timeout=TIMEOUT)
    if any(result.returncode for result in results):
        raise RuntimeError(f"{file.name}: {results[0].stderr[-2000:]}")
    unfinished.rename(file)
